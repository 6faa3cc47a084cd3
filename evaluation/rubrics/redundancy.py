"""Which of a topic's passages are required to answer what can be answered, and which are redundant (CRUX, 3.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from collection.models import Item, Study
from collection.models.studies import TaskType
from evaluation.leaderboards.sources import Source, StudySources
from stats.answers_in_words import passages_needed
from stats.measures.crux import ORDERS, Order, RequiredSubset, required_subset
from stats.measures.grades import GradeTable
from stats.ranking.measure_names import NoLeaderboard


@dataclass(frozen=True)
class TopicRedundancy:
    """A topic's passages by class. `n_answered` of `n_questions` are answered by some passage."""

    topic: str
    subset: RequiredSubset
    n_questions: int
    n_answered: int

    @property
    def classes(self) -> list[tuple[int, str, tuple[str, ...]]]:
        """The passages of each class, with its grade in qrels."""
        one = self.subset
        return [
            (3, "required", one.required),
            (2, "partly redundant", one.partly_redundant),
            (1, "fully redundant", one.fully_redundant),
        ]


@dataclass(frozen=True)
class Redundancy:
    """What one source's ratings say of a study's passages, topic by topic."""

    study: Study
    source: Source
    order: Order
    run: str
    topics: tuple[TopicRedundancy, ...]

    @property
    def rule(self) -> str:
        """How the classes were found, in words."""
        of_run = f", passages of {self.run}" if self.run else ""
        criterion = self.source.criterion
        return f"{criterion.name} ≥ {criterion.threshold:g}, by {self.source.name}{of_run}; {ORDERS[self.order]}"

    @property
    def totals(self) -> dict[str, int]:
        """How many passages of all topics are of each class, and how many are of none."""
        found = {name: sum(len(one.classes[place][2]) for one in self.topics) for place, name in enumerate(NAMES)}
        return found | {"unjudged": sum(len(one.subset.unjudged) for one in self.topics)}

    @property
    def answer(self) -> str:
        """How many passages are required, in a sentence."""
        return passages_needed(self.source.name, self.totals, len(self.topics))

    @property
    def qrels(self) -> str:
        """The classes as a qrels file: 3 required, 2 partly and 1 fully redundant."""
        lines = [
            f"{one.topic} 0 {passage} {grade}\n"
            for one in self.topics
            for passage, grade in sorted(one.subset.qrels().items())
        ]
        return "".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return what the command prints as JSON."""
        return {
            "study": self.study.name,
            "source": self.source.name,
            "criterion": self.source.criterion.name,
            "threshold": self.source.criterion.threshold,
            "order": self.order,
            "run": self.run,
            "passages": self.totals,
            "topics": [
                {
                    "topic_id": one.topic,
                    "sub_questions": one.n_questions,
                    "answered": one.n_answered,
                    "reason": one.subset.reason,
                    "missing_grades": one.subset.n_ungraded,
                    **{name.replace(" ", "_"): list(passages) for _, name, passages in one.classes},
                    "unjudged": list(one.subset.unjudged),
                }
                for one in self.topics
            ],
        }


NAMES = ("required", "partly redundant", "fully redundant")


def rating_sources(boards: StudySources) -> list[Source]:
    """Return who rated passages on sub-questions."""
    criteria = [criterion for criterion in boards.criteria if criterion.task_type == TaskType.RATING]
    return boards.marked(source for criterion in criteria for source in boards.sources_of(criterion))


def measure_redundancy(boards: StudySources, *, source: str = "", order: Order = "gain", run: str = "") -> Redundancy:
    """Class the passages that a source rated, the first if none is named. Raises NoLeaderboard."""
    there = rating_sources(boards)
    chosen = next((one for one in there if source in ("", one.name)), None)
    if chosen is None:
        listed = ", ".join(one.name for one in there) or "none yet"
        raise NoLeaderboard(f"There are no such ratings of passages. Choose one of: {listed}.")
    if run and run not in boards.rankings:
        raise NoLeaderboard(f"No run “{run}” ranks passages. Choose one of: {', '.join(boards.rankings) or 'none'}.")
    return Redundancy(boards.study, chosen, order, run, tuple(_topics(boards, chosen, order, run)))


def _topics(boards: StudySources, source: Source, order: Order, run: str) -> Iterator[TopicRedundancy]:
    """Class the passages over all sub-questions that were rated, those that these ratings masked too."""
    grades, at = boards.item_grades(source), source.criterion.threshold
    items = Item.objects.filter(study=boards.study, task_type=TaskType.RATING, passage__isnull=False)
    asked = items.filter(Q(element__masked=False) | Q(element__masking__criterion__study=boards.study))
    rows: dict[str, list[tuple[str, str, float | None]]] = defaultdict(list)
    for pk, topic, passage, element in asked.order_by("pk").values_list(
        "pk", "topic__topic_id", "passage__passage_id", "element__element_id"
    ):
        if not run or passage in boards.rankings[run].get(topic, ()):
            rows[topic].append((str(passage), str(element), grades.get(pk)))
    for topic in sorted(rows):
        table = GradeTable.from_rows(rows[topic])
        subset = required_subset(table, threshold=at, order=order)
        n_answered = int((table.grades >= at).any(axis=0).sum())
        yield TopicRedundancy(topic, subset, len(table.elements), n_answered)
