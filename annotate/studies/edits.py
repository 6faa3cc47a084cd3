"""Changes of a study that stands, and copies of it. Draws that are stored stay as they are."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.text import slugify

from annotate.models import Place, Task
from annotate.notices.notices import Kind, notify, without_work
from annotate.studies.lifecycle import NameTaken, WrongState, refuse_a_taken_name
from annotate.task_types.answer_evaluation import CONFIDENCE
from collection.models import Criterion, Guideline, Study, User
from collection.models.studies import TaskType
from collection.texts.sentences import WITHOUT_TITLE

ROWS_AT_ONCE = 5_000
# What may be changed: the title always, the rest until the study is closed.
EDITABLE = ("title", "language", "terms", "translatable", "overlap", "quota", "batch_size", "timeout_minutes")
# What a copy does not take over: who and when it is, and what came of the study so far.
OWN = {
    "id", "name", "title", "state", "created_by", "created_at", "released_batch", "batches_released_at", "samples",
    "attributes",
}  # fmt: skip


class OverlapLowered(ValueError):
    """Places that were made are not taken away again."""


@transaction.atomic
def edit_study(*, study: Study, at: datetime, **changes: Any) -> int:
    """Change some of EDITABLE. Returns how many places were made for that.

    Once the study has opened, the overlap can only be raised: every task gets the places that it lacks. Another batch
    size regroups what is not handed out yet; without one, all of it is. Raises WrongState and OverlapLowered.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    changed = {name: changes[name] for name in EDITABLE if name in changes and changes[name] != getattr(study, name)}
    if study.state == Study.State.CLOSED and set(changed) - {"title"}:
        raise WrongState("This study is closed; only its title can be changed.")
    if study.state != Study.State.DRAFT and changed.get("overlap", study.overlap) < study.overlap:
        raise OverlapLowered(f"This study has opened: it needs at least {study.overlap} assessors per item, as now.")
    for name, value in changed.items():
        setattr(study, name, value)
    study.save(update_fields=list(changed))

    if "batch_size" in changed:
        _regroup(study)
    made = _make_places(study) if "overlap" in changed else 0
    if study.state == Study.State.OPEN and (made or "quota" in changed):
        notify(without_work(study), study=study, kind=Kind.NEW_WORK, at=at)
    return made


def _make_places(study: Study) -> int:
    """Give each task the places that it lacks; what everyone sees, and second rounds, have numbers of their own."""
    tasks = study.tasks.filter(everyone=False).exclude(task_type=TaskType.ANSWER_REVISION)
    lacking = tasks.annotate(last=Max("places__number")).values_list("pk", "last").order_by("pk")
    places = [
        Place(task_id=task, number=number)
        for task, last in lacking
        for number in range((last or 0) + 1, study.overlap + 1)
    ]
    return len(Place.objects.bulk_create(places, batch_size=ROWS_AT_ONCE))


def _regroup(study: Study) -> None:
    """Put the tasks that are not released into batches of the study's size; without one, release them."""
    waiting = list(study.tasks.filter(batch__gt=study.released_batch).order_by("position"))
    for number, task in enumerate(waiting):
        task.batch = study.released_batch
        if study.batch_size:
            task.batch += 1 + number // study.batch_size
    Task.objects.bulk_update(waiting, ["batch"], batch_size=500)


@transaction.atomic
def copy_study(*, study: Study, title: str, name: str = "", by: User) -> Study:
    """Make a draft with the study's design, criteria and newest guidelines; without its people, items and labels.

    Without a name it gets one made of its title. Raises NameTaken.
    """
    name = name or name_for(title)
    if not name:
        raise NameTaken("This title has no letter that can be used in an address: enter a name.")
    refuse_a_taken_name(name)
    taken_over = {field.attname: getattr(study, field.attname) for field in Study._meta.concrete_fields}
    copied = {field: value for field, value in taken_over.items() if field.removesuffix("_id") not in OWN}
    chosen = {name: value for name, value in study.attributes.items() if name in (WITHOUT_TITLE, CONFIDENCE)}
    copy = Study.objects.create(name=name, title=title, created_by=by, attributes=chosen, **copied)
    Criterion.objects.bulk_create(
        Criterion(
            study=copy,
            task_type=one.task_type,
            name=one.name,
            question=one.question,
            scale_id=one.scale_id,
            threshold=one.threshold,
            position=one.position,
        )
        for one in study.criteria.order_by("position")
    )
    guideline = study.guidelines.order_by("-version").first()
    if guideline:
        Guideline.objects.create(study=copy, version=1, markdown=guideline.markdown, created_by=by)
    return copy


def name_for(title: str) -> str:
    """Return a name for a study of this title that no other has; nothing where the title has no letter for one."""
    stem = slugify(title)[:90]
    taken = set(Study.objects.filter(name__startswith=stem).values_list("name", flat=True)) if stem else set()
    numbered = (f"{stem}-{number}" for number in range(2, len(taken) + 3))
    return next((name for name in (stem, *numbered) if name not in taken), "")
