"""Which of a topic's passages are required to answer what can be answered, and which are redundant (CRUX, 3.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from collection.models import Item, Passage, Study
from collection.models.studies import TaskType
from collection.web.options import Choices
from collection.web.reports import NothingToReport
from collection.web.tables import Column, Table
from evaluation.leaderboards.sources import Scorer, Source
from evaluation.rubrics.choosing import named_or_first
from evaluation.rubrics.human_summaries import SummaryCoverage, coverage_of_summaries
from stats.answers_in_words import passages_needed
from stats.measures.crux import ORDERS, Order, RequiredSubset, required_subset
from stats.measures.grades import GradeTable
from stats.measures.words import WORDS
from stats.ranking.measure_names import NoLeaderboard

# How long CRUX's contexts may be (appendix A.1).
MOST_TOKENS = 2_500


@dataclass(frozen=True)
class TopicRedundancy:
    """A topic's passages by class. `n_answered` of `n_questions` are answered by some passage.

    `others`: passages of other topics, irrelevant by origin; none of a topic of which nothing is answered. `tokens`: of
    the required passages together, in words; None where a text is not held.
    """

    topic: str
    subset: RequiredSubset
    n_questions: int
    n_answered: int
    others: tuple[str, ...] = ()
    tokens: int | None = None

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
    summaries: SummaryCoverage | None = None

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
    def simulated(self) -> bool:
        return self.source.simulated

    @property
    def answer(self) -> str:
        """How many passages are required, in a sentence."""
        return passages_needed(self.source.name, self.totals, len(self.topics))

    def tables(self) -> dict[str, Table]:
        rows = (
            (
                *(one.topic, one.n_answered, one.n_questions, *(len(passages) for _, _, passages in one.classes)),
                *(one.subset.n_ungraded, one.tokens, one.subset.reason or ", ".join(one.subset.required)),
            )
            for one in self.topics
        )
        return {"classes": Table.of("Classes by topic", CLASSES, rows)}

    @property
    def long_contexts(self) -> list[str]:
        """The topics whose required passages have more tokens than CRUX's contexts may have."""
        return [one.topic for one in self.topics if one.tokens is not None and one.tokens > MOST_TOKENS]

    @property
    def qrels(self) -> str:
        """The classes as a qrels file: 3 required, 2 partly and 1 fully redundant, 0 of other topics."""
        lines = [
            f"{one.topic} 0 {passage} {grade}\n"
            for one in self.topics
            for passage, grade in sorted((dict.fromkeys(one.others, 0) | one.subset.qrels()).items())
        ]
        return "".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return what API and command print."""
        return {
            "study": self.study.name,
            "source": self.source.name,
            "criterion": self.source.criterion.name,
            "threshold": self.source.criterion.threshold,
            "order": self.order,
            "run": self.run,
            "passages": self.totals,
            "summaries": self.summaries.as_dict() if self.summaries else None,
            "topics": [
                {
                    "topic_id": one.topic,
                    "sub_questions": one.n_questions,
                    "answered": one.n_answered,
                    "reason": one.subset.reason,
                    "missing_grades": one.subset.n_ungraded,
                    "tokens": one.tokens,
                    **{name.replace(" ", "_"): list(passages) for _, name, passages in one.classes},
                    "unjudged": list(one.subset.unjudged),
                }
                for one in self.topics
            ],
            "qrels": self.qrels,
        }


CLASSES = (
    *(Column("topic_id", "Topic"), Column("answered", "Answered", "count")),
    *(Column("sub_questions", "of questions", "count"), Column("required", "Required", "count")),
    *(Column("partly_redundant", "Partly redundant", "count"), Column("fully_redundant", "Fully redundant", "count")),
    *(Column("missing_grades", "Missing grades", "count"), Column("tokens", "Words required", "count")),
    Column("passages", "Required passages, in order", "words"),
)
NAMES = ("required", "partly redundant", "fully redundant")


def offered(study: Study) -> dict[str, Choices]:
    """Return whose ratings there are, the runs that rank passages, and those that have reports."""
    scorer = Scorer.of(study)
    written = sorted({run for _, run, _ in scorer.report_texts()})
    return {
        "source": [(one.name, one.shown) for one in scorer.loader.sources_under((TaskType.RATING, ""))],
        "run": passages_of(scorer),
        "summaries": [("", "None"), *((name, name) for name in written)] if written else [],
    }


def passages_of(scorer: Scorer) -> Choices:
    """Return the passages that may count: all, or those of a run."""
    return [("", "All judged passages"), *((name, f"Passages ranked by {name}") for name in scorer.rankings)]


def measure_redundancy(
    study: Study,
    *,
    source: str = "",
    order: Order = "gain",
    run: str = "",
    others: bool = False,
    summaries: str = "",
) -> Redundancy:
    """Class the passages that a source rated, the first if none is named. Raises NoLeaderboard.

    `run`: whose passages count, in its order; `others`: with those of other topics, as irrelevant; `summaries`: the run
    of the human summaries, whose coverage by the same source says whether the questions are good.
    """
    scorer = Scorer.of(study)
    there = [(one.name, one) for one in scorer.loader.sources_under((TaskType.RATING, ""))]
    if not there:
        raise NothingToReport("No ratings of passages yet: assessors or a judge rate them on sub-questions.")
    chosen = named_or_first(source, there, "source of ratings of passages")
    check_run(scorer, run)
    tables = _tables(scorer, chosen, run)
    classed = tuple(_classed(tables, chosen.criterion.threshold, order, study.collection_id, others=others))
    covered = coverage_of_summaries(scorer, chosen, tables, run=summaries) if summaries else None
    return Redundancy(study, chosen, order, run, classed, covered)


def check_run(scorer: Scorer, run: str) -> None:
    """Refuse a run that ranks no passages. Raises NoLeaderboard."""
    if run and run not in scorer.rankings:
        raise NoLeaderboard(f"No run “{run}” ranks passages. Choose one of: {', '.join(scorer.rankings) or 'none'}.")


def _tables(scorer: Scorer, source: Source, run: str) -> dict[str, GradeTable]:
    """Return the grades by topic of all sub-questions that were rated, those that these ratings masked too.

    The passages stand in the order of the run, or in that in which they were asked: the first is taken on ties.
    """
    grades = scorer.loader.item_grades(source)
    items = Item.objects.filter(study=scorer.study, task_type=TaskType.RATING, passage__isnull=False)
    asked = items.filter(Q(element__masked=False) | Q(element__masking__criterion__study=scorer.study))
    ranks = {
        (topic, passage): rank
        for topic, ranking in (scorer.rankings[run].items() if run else ())
        for rank, passage in enumerate(ranking)
    }
    rows: dict[str, list[tuple[int, tuple[str, str, float | None]]]] = defaultdict(list)
    for pk, topic, passage, element in asked.order_by("pk").values_list(
        "pk", "topic__topic_id", "passage__passage_id", "element__element_id"
    ):
        if not run or (topic, passage) in ranks:
            rank = ranks.get((topic, str(passage)), 0)
            rows[topic].append((rank, (str(passage), str(element), grades.get(pk))))
    for listed in rows.values():
        listed.sort(key=lambda row: row[0])
    return {topic: GradeTable.from_rows(row for _, row in rows[topic]) for topic in sorted(rows)}


def _classed(
    tables: Mapping[str, GradeTable], at: float, order: Order, collection: int, *, others: bool
) -> Iterator[TopicRedundancy]:
    subsets = {topic: required_subset(table, threshold=at, order=order) for topic, table in tables.items()}
    everybody = dict.fromkeys(passage for table in tables.values() for passage in table.passages)
    required = {passage for subset in subsets.values() for passage in subset.required}
    tokens = _tokens(collection, required)
    for topic, table in tables.items():
        counts = [tokens.get(passage) for passage in subsets[topic].required]
        own = set(table.passages)
        yield TopicRedundancy(
            topic,
            subsets[topic],
            len(table.elements),
            int((table.grades >= at).any(axis=0).sum()),
            tuple(passage for passage in everybody if passage not in own) if others and subsets[topic].required else (),
            None if None in counts else sum(filter(None, counts)),
        )


def _tokens(collection: int, wanted: set[str]) -> dict[str, int]:
    texts = Passage.objects.filter(collection=collection, passage_id__in=wanted, text__isnull=False)
    return {name: WORDS.count([text or ""]) for name, text in texts.values_list("passage_id", "text")}
