"""Which items a job shall grade: all that its criterion is asked about, or a part of them.

The part is chosen by topic, by run, by what other judges left without a grade, and by chance.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from collection.models import Criterion, Item, Judgment, RankedPassage, Rater, Run, Study
from collection.questions.shapes import TASK_TYPES

# A draw that is asked for without a seed is still one that can be made again.
DEFAULT_SEED = 1


class NoSuchPart(ValueError):
    """A topic, a run or a judge that is chosen does not exist, or the sample is no number of items."""


@dataclass(frozen=True)
class Selection:
    """A part of a criterion's items. Empty means all.

    `runs` keeps reports of these runs, and passages that they rank. `without_grade_by` keeps pairs that none of
    these judges graded, whether they left them ungraded or say nothing of them; `graded_by_no_judge` those that
    no judge at all graded. `sample` draws so many items by chance.
    """

    topics: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    sample: int | None = None
    seed: int = DEFAULT_SEED
    without_grade_by: tuple[str, ...] = ()
    graded_by_no_judge: bool = False


def items_asked(criterion: Criterion) -> QuerySet[Item]:
    """Return the items of the study that this criterion is asked about.

    One that follows a no is asked of the reports about which somebody, a person or a judge, has said no.
    """
    items = Item.objects.filter(study=criterion.study_id, task_type=criterion.task_type).exclude(element__masked=True)
    shape = next((one for one in TASK_TYPES[criterion.task_type].criteria if one.name == criterion.name), None)
    if shape is None or not shape.after_no:
        return items
    noes = Judgment.objects.filter(
        item=OuterRef("pk"),
        criterion__study=criterion.study_id,
        criterion__name=shape.after_no,
        grade__lt=F("criterion__threshold"),
    )
    return items.filter(Exists(noes), report__isnull=False)


def without_text(items: QuerySet[Item]) -> QuerySet[Item]:
    """Keep the items whose text is not held here: no judge can see them."""
    return items.filter(passage__isnull=False, passage__text__isnull=True)


def check_selection(study: Study, selection: Selection) -> None:
    """Raise NoSuchPart for what the study's collection does not have."""
    topics = study.collection.topics.filter(topic_id__in=selection.topics).values_list("topic_id", flat=True)
    runs = Run.objects.filter(collection=study.collection_id, name__in=selection.runs).values_list("name", flat=True)
    for what, wanted, found in (("topic", selection.topics, set(topics)), ("run", selection.runs, set(runs))):
        if unknown := [name for name in wanted if name not in found]:
            raise NoSuchPart(f"The collection has no {what} “{unknown[0]}”.")
    judges = set(judges_of(study).filter(name__in=selection.without_grade_by).values_list("name", flat=True))
    if unknown := [name for name in selection.without_grade_by if name not in judges]:
        raise NoSuchPart(f"There is no judge “{unknown[0]}” with grades in this study.")
    if selection.sample is not None and selection.sample < 1:
        raise NoSuchPart("A sample must have at least one item.")


def judges_of(study: Study) -> QuerySet[Rater]:
    """Return the judges that may have graded in the study: this installation's, and those of its collection's files."""
    return Rater.objects.filter(Q(collection=None) | Q(collection=study.collection_id), kind=Rater.Kind.JUDGE)


def narrowed(items: QuerySet[Item], selection: Selection, criterion: Criterion) -> QuerySet[Item]:
    """Keep the items of the chosen topics and runs, and those that the named judges, or all, left without a grade."""
    if selection.topics:
        items = items.filter(topic__topic_id__in=selection.topics)
    if selection.runs:
        ranked = RankedPassage.objects.filter(
            run__name__in=selection.runs,
            run__collection=OuterRef("study__collection"),
            topic=OuterRef("topic"),
            passage_id=OuterRef("passage__passage_id"),
        )
        items = items.filter(Q(report__run__name__in=selection.runs) | Exists(ranked))
    graded = Judgment.objects.filter(criterion=criterion, item=OuterRef("pk"), grade__isnull=False)
    if selection.without_grade_by:
        named = judges_of(criterion.study).filter(name__in=selection.without_grade_by)
        items = items.exclude(Exists(graded.filter(rater__in=named.values("pk"))))
    if selection.graded_by_no_judge:
        items = items.exclude(Exists(graded.filter(rater__kind=Rater.Kind.JUDGE)))
    return items


def drawn(keys: Sequence[int], selection: Selection) -> list[int]:
    """Return the keys in their order, or a simple random sample of them, the same for the same seed."""
    if selection.sample is None or selection.sample >= len(keys):
        return list(keys)
    chosen = set(random.Random(selection.seed).sample(sorted(keys), selection.sample))  # noqa: S311  # no secret
    return [key for key in keys if key in chosen]


def as_stored(selection: Selection, *, of: int) -> dict[str, Any]:
    """Return what a job remembers of its selection; of a sample also each item's inclusion probability."""
    stored: dict[str, Any] = {}
    if selection.topics:
        stored["topics"] = list(selection.topics)
    if selection.runs:
        stored["runs"] = list(selection.runs)
    if selection.without_grade_by:
        stored["without_grade_by"] = list(selection.without_grade_by)
    if selection.graded_by_no_judge:
        stored["graded_by_no_judge"] = True
    if selection.sample is not None:
        size = min(selection.sample, of)
        stored |= {"sample": size, "of": of, "seed": selection.seed, "inclusion_probability": size / of if of else 1}
    return stored
