"""What qrels of a criterion are made of, read once however many files are made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from django.db.models import QuerySet

from collection.completeness import JudgesOfStudies
from collection.judgments.declarations import PEOPLE, irrelevant_by_origin
from collection.judgments.rater_names import published_names
from collection.models import Item, Judgment, Passage, Rater, RubricElement, Run, Topic
from evaluation.data.judgments import CriterionRatings, completeness_of, read_places
from evaluation.publishing.provenance import about_criterion, about_guidelines, about_study, items_hash
from stats.qrels import Places
from stats.ratings import BoolArray, IntArray


@dataclass(frozen=True)
class QrelsSource:
    """The judgments under a criterion with the names that files use; `columns` are those of the raters taken."""

    judged: CriterionRatings
    columns: list[int]
    names: bool

    @cached_property
    def called(self) -> dict[int, str]:
        return published_names(self.judged.criterion.study, names=self.names)

    @cached_property
    def completeness(self) -> JudgesOfStudies:
        """How complete the study's judges are."""
        return completeness_of(self.judged.criterion.study)

    @cached_property
    def item_ids(self) -> dict[int, str]:
        """The id of each item, by primary key."""
        return dict(self._items.values_list("pk", "item_id").iterator(chunk_size=10_000))

    @property
    def _items(self) -> QuerySet[Item]:
        criterion = self.judged.criterion
        return Item.objects.filter(study=criterion.study_id, task_type=criterion.task_type)

    def places(self, item_ids: IntArray) -> Places:
        """Return where the grades of these items go."""
        rows = read_places(self._items)
        rows = rows[np.searchsorted(rows[:, 0], item_ids)]
        topics, topic = _named(rows[:, 1], Topic.objects.filter(pk__in=self._items.values("topic")), "topic_id")
        elements, element = _named(
            rows[:, 2], RubricElement.objects.filter(pk__in=self._items.values("element")), "element_id"
        )
        passages = dict(Passage.objects.filter(pk__in=self._items.values("passage")).values_list("pk", "passage_id"))
        runs = dict(Run.objects.filter(collection=self.judged.criterion.study.collection_id).values_list("pk", "name"))
        names = passages | {-pk: name for pk, name in runs.items()}
        docnos, docno = _numbered(rows[:, 3], names)
        return Places(topics, elements, docnos, topic, element, docno)

    def pairs(self, rows: BoolArray) -> set[tuple[str, str]]:
        """Return the topics and docnos of the items in these rows of the ratings."""
        places = self.places(np.asarray(self.judged.ratings.items, dtype=np.int64)[rows])
        both = zip(places.topic.tolist(), places.docno.tolist(), strict=True)
        return {(places.topics[topic], places.docnos[docno]) for topic, docno in both}

    @cached_property
    def ranks_passages(self) -> bool:
        """Whether the items judge passages, which runs rank."""
        return self._items.filter(passage__isnull=False).exists()

    def irrelevant_unless_named(self, columns: Sequence[int]) -> str:
        """Why what these raters do not name is declared irrelevant; empty where that is not declared of each."""
        raters = [self.judged.raters[column] for column in columns]
        by = {rater.name if rater.kind == Rater.Kind.JUDGE else PEOPLE for rater in raters}
        reasons = [irrelevant_by_origin(self.judged.criterion.study, one) for one in sorted(by)]
        return " ".join(reasons) if all(reasons) else ""

    @cached_property
    def inputs(self) -> dict[str, Any]:
        """What the provenance says of the study, whoever is asked."""
        criterion = self.judged.criterion
        return {
            **about_study(criterion.study),
            "criterion": about_criterion(criterion),
            "guidelines": about_guidelines(criterion.study, Judgment.objects.filter(criterion=criterion)),
            **({"labels_left_out_as_suggested": self.judged.n_aided} if self.judged.n_aided else {}),
        }

    @cached_property
    def items_sha256(self) -> str:
        """The hash of the items and their texts."""
        return items_hash(self.judged.criterion.study, self.judged.criterion.task_type)


def _named(keys: IntArray, rows: QuerySet[Any], name: str) -> tuple[tuple[str, ...], IntArray]:
    """Return the rows' names, and which is that of each primary key; −1 for the key 0."""
    return _numbered(keys, dict(rows.values_list("pk", name)))


def _numbered(keys: IntArray, names: Mapping[int, str]) -> tuple[tuple[str, ...], IntArray]:
    distinct, places = np.unique(keys, return_inverse=True)
    numbers: dict[str, int] = {}
    of_key = [-1 if key == 0 else numbers.setdefault(names[key], len(numbers)) for key in distinct.tolist()]
    return tuple(numbers), np.array(of_key, dtype=np.int64)[places.ravel()]
