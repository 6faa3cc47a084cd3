"""A judge that grades the sentences of all reports of a collection, so that systems stand beside one another."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction

from collection.importing.studies import closed_study
from collection.models import Collection, Item, Passage, RankedPassage, Run, Study, User
from collection.task_types import TASK_TYPES
from collection.texts.sentence_passages import sentences_as_passages
from judging.data.selection import Selection, items_asked
from judging.grading.jobs import missing, start_job
from judging.jobs.serving import AT_ONCE, NotServed, criterion_like
from judging.models import GradingJob, Judge


def check_grades_passages(judge: Judge) -> None:
    """Raise NotServed where the judge does not grade passages, or asks no model."""
    if TASK_TYPES[judge.task_type].text != "passage" or judge.engine == Judge.Engine.ENSEMBLE:
        raise NotServed(f"“{judge}” is for “{judge.get_task_type_display()}”, and does not grade passages by itself.")


@transaction.atomic
def grade_sentences(
    collection: Collection, judge: Judge, *, by: User | None, at: datetime
) -> tuple[Study, GradingJob | None]:
    """Let the judge grade the sentences of all reports as passages, in the closed study `NAME-sentences`.

    There is no job where it has graded all of them. Raises NotServed, NoSentences and what `start_job` raises.
    """
    check_grades_passages(judge)
    made = sentences_as_passages(collection)
    name = f"{collection.name[:85]}-sentences"
    try:
        study = closed_study(name, collection, owner=collection.owner, source="sentences of reports")
    except ValidationError as refusal:
        raise NotServed(" ".join(refusal.messages)) from refusal
    criterion = criterion_like(judge, study)
    _add_items(study, judge, made.runs)
    if not missing(items_asked(criterion), criterion=criterion, judge=judge, attempt=1).exists():
        return study, None
    return study, start_job(criterion=criterion, judge=judge, selection=Selection(), by=by, at=at)


def _add_items(study: Study, judge: Judge, runs: Sequence[Run]) -> None:
    """Give the study an item for each sentence, with its topic or with each of that's elements."""
    kind = TASK_TYPES[judge.task_type].element_kind
    ranked = RankedPassage.objects.filter(run__in=runs).order_by("topic_id", "passage_id").distinct()
    pairs = list(ranked.values_list("topic_id", "topic__topic_id", "passage_id"))
    held = Passage.objects.filter(collection=study.collection, passage_id__in={passage for _, _, passage in pairs})
    keys = dict(held.values_list("passage_id", "pk"))
    elements: dict[int, list[tuple[int, str]]] = {}
    if kind is not None:
        for topic in study.collection.topics.prefetch_related("rubric_elements"):
            asked = [one for one in topic.rubric_elements.all() if one.kind == kind and not one.masked]
            elements[topic.pk] = [(one.pk, one.element_id) for one in asked]
    items = []
    for topic_pk, topic_id, passage in pairs:
        made = {"study": study, "task_type": judge.task_type, "topic_id": topic_pk, "passage_id": keys[passage]}
        if kind is None:
            items.append(Item(item_id=f"{judge.task_type}/{topic_id}/{passage}", **made))
        items += [
            Item(item_id=f"{judge.task_type}/{topic_id}/{passage}/{element_id}", element_id=element, **made)
            for element, element_id in elements.get(topic_pk, ())
        ]
    if not items:
        raise NotServed(f"No topic with reports has a {kind.label if kind else 'request'} to grade them by.")
    known = set(Item.objects.filter(study=study).values_list("item_id", flat=True))
    Item.objects.bulk_create([item for item in items if item.item_id not in known], batch_size=AT_ONCE)
