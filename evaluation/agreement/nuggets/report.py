"""How far two sets of nuggets of a collection agree, as page, API and command show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from collection.models import Collection, User
from collection.web.tables import Column, Link, Table
from evaluation.agreement.nuggets.sets import ChosenSet, NoSuchSet, read_set, usual_sets
from stats.agreement.nugget_sets import SIMILARITIES, MatchedTopic, NuggetAgreement, SetNugget, compare_nuggets
from stats.answers_in_words import in_brackets
from stats.intervals import Estimate
from stats.plurals import counted

IMPORTANCE_NAMES = {
    "percent_agreement": "Percent agreement",
    "cohen_kappa": "Cohen’s κ",
    "krippendorff_alpha": "Krippendorff’s α",
}
VALUE = Column("value", "Value", "estimate")
TOPICS = (
    *(Column("topic", "Topic", "link"), Column("matched", "Matched", "count")),
    *(Column("first_alone", "First alone", "count"), Column("second_alone", "Second alone", "count")),
    Column("f1", "F1", "number"),
)
NO_TWO = "There are no two sets of nuggets: a bank has one version by one creator, or there is none."


@dataclass(frozen=True)
class ComparedSets:
    """Two sets of nuggets and how far they agree."""

    first: ChosenSet
    second: ChosenSet
    found: NuggetAgreement

    @property
    def answer(self) -> str:
        """How many nuggets the two have in common, in a sentence."""
        n_first, n_second = self.found.sizes
        pairs = counted(self.found.n_pairs, "matched pairs")
        figures = in_brackets("F1", self.found.f1)
        return f"{pairs} of {n_first:,} nuggets ({self.first.label}) and {n_second:,} ({self.second.label}) {figures}."

    @property
    def rule(self) -> str:
        """By what nuggets are matched."""
        return f"Matched one to one by the {SIMILARITIES[self.found.by].name}, from {self.found.threshold:g} up."

    @property
    def means(self) -> Mapping[str, Estimate]:
        return {"F1": self.found.f1, "Precision": self.found.precision, "Recall": self.found.recall}

    @property
    def tables(self) -> tuple[Table, Table]:
        """The means over topics, and agreement on importance."""
        importance = ([label, self.found.importance[name]] for name, label in IMPORTANCE_NAMES.items())
        n_pairs = counted(self.found.n_importance, "matched pairs")
        return (
            Table.of("Means over topics", [Column("figure", "Figure"), VALUE], self.means.items()),
            Table.of(f"Importance, {n_pairs}", [Column("coefficient", "Coefficient"), VALUE], importance),
        )

    def topics(self, query: str) -> Table:
        """The topics, each leading to its nuggets; `query`: what an address asks of the others."""
        rows = (
            [
                Link(one.topic, f"?{'&'.join(filter(None, (query, urlencode({'topic': one.topic}))))}#matched"),
                *map(len, (one.pairs, one.first_alone, one.second_alone)),
                one.f1,
            ]
            for one in self.by_topic
        )
        return Table.of("Topics, the least alike first", TOPICS, rows)

    @cached_property
    def by_topic(self) -> list[MatchedTopic]:
        """The topics, the least alike first."""
        return sorted(self.found.topics, key=lambda topic: (topic.f1, topic.topic))

    def as_dict(self) -> dict[str, Any]:
        found = self.found
        return {
            "answer": self.answer,
            "first": self.first.name,
            "second": self.second.name,
            "by": found.by,
            "threshold": found.threshold,
            "n_pairs": found.n_pairs,
            "n_first": found.sizes[0],
            "n_second": found.sizes[1],
            "left_out": list(found.left_out),
            "not_compared": list(found.not_compared),
            **{name.lower(): estimate.as_dict() for name, estimate in self.means.items()},
            "importance": {
                "n_pairs": found.n_importance,
                **{name: estimate.as_dict() for name, estimate in found.importance.items()},
            },
            "topics": [_topic(topic) for topic in found.topics],
        }


def _topic(topic: MatchedTopic) -> dict[str, Any]:
    return {
        "topic": topic.topic,
        "f1": topic.f1,
        "precision": topic.precision,
        "recall": topic.recall,
        "pairs": [
            {"first": _nugget(pair.first), "second": _nugget(pair.second), "similarity": pair.similarity}
            for pair in topic.pairs
        ],
        "first_alone": [_nugget(one) for one in topic.first_alone],
        "second_alone": [_nugget(one) for one in topic.second_alone],
    }


def _nugget(nugget: SetNugget) -> dict[str, Any]:
    return {"text": nugget.text, "importance": nugget.importance or None, "weight": nugget.weight}


def compare_sets(
    collection: Collection,
    *,
    user: User | None,
    first: str = "",
    second: str = "",
    by: str = "words",
    threshold: float,
) -> ComparedSets:
    """Compare two sets that this user may see (None, by command: all), by their names, or two to begin with.

    Raises Refused.
    """
    if not (first and second):
        usual = usual_sets(collection, user)
        if usual is None:
            raise NoSuchSet(NO_TWO)
        first, second = first or usual[0], second or usual[1]
    one, other = read_set(collection, first, user), read_set(collection, second, user)
    return ComparedSets(one, other, compare_nuggets(one.nuggets, other.nuggets, by=by, threshold=threshold))
