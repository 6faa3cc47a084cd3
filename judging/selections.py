"""Which items a job shall grade: all that its criterion is asked about, or a part of them by topic, run and chance."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from collection.models import Criterion, Item, RankedPassage, Run, Study

# A draw that is asked for without a seed is still one that can be made again.
DEFAULT_SEED = 1


class NoSuchPart(ValueError):
    """A topic or a run that is chosen does not exist, or the sample is no number of items."""


@dataclass(frozen=True)
class Selection:
    """A part of a criterion's items. Empty means all.

    `runs` keeps reports of these runs, and passages that they rank. `sample` draws so many items by chance.
    """

    topics: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    sample: int | None = None
    seed: int = DEFAULT_SEED

    @property
    def is_all(self) -> bool:
        return not (self.topics or self.runs or self.sample)


def items_asked(criterion: Criterion) -> QuerySet[Item]:
    """Return the items of the study that this criterion is asked about."""
    return Item.objects.filter(study=criterion.study_id, task_type=criterion.task_type).exclude(element__masked=True)


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
    if selection.sample is not None and selection.sample < 1:
        raise NoSuchPart("A sample has at least one item.")


def narrowed(items: QuerySet[Item], selection: Selection) -> QuerySet[Item]:
    """Keep the items of the chosen topics and runs."""
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
    if selection.sample is not None:
        size = min(selection.sample, of)
        stored |= {"sample": size, "of": of, "seed": selection.seed, "inclusion_probability": size / of if of else 1}
    return stored
