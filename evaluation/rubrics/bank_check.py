"""What is wrong with a study's bank of questions, by the grades of one source and people's relevance.

Three things are looked for: bad questions, relevant passages that no question is answered by, and questions of a topic
that say nearly the same (`stats.measures.question_banks`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

import numpy as np
from django.urls import reverse

from collection.banks.versions import dropped_elements
from collection.models import Rater, RubricElement, Study
from collection.models.studies import TaskType
from collection.web.options import Choices
from collection.web.tables import Column, Link, Table
from evaluation.data.visibility import Visibility, tested_elsewhere
from evaluation.leaderboards.sources import JudgmentLoader, Scorer, Source
from evaluation.rubrics.choosing import named_or_first
from stats.answers_in_words import in_percent
from stats.intervals import Estimate
from stats.measures.question_banks import (
    CheckedQuestion,
    Duplicate,
    Relevance,
    RelevantPassage,
    check_questions,
    duplicates,
    relevant_passages,
    share_answered,
    share_uncovered,
)
from stats.overviews_in_words import bank_of_questions
from stats.ranking.measure_names import NoLeaderboard

NO_GRADES = "Nobody graded passages on questions yet."
NO_PEOPLE = "No person judged the relevance of passages yet."


@dataclass(frozen=True)
class GradesBesideRelevance:
    """What one source's grades say of the bank, where people said which passages are relevant.

    `n_graded` passages have a grade, `n_labelled` of these a label. `n_hidden`: topics that another study tests judges
    on, whose questions and passages count but are not listed.
    """

    source: Source
    people: Source
    minimum: float
    visibility: Visibility
    questions: tuple[CheckedQuestion, ...]
    passages: tuple[RelevantPassage, ...]
    hidden: frozenset[str]
    n_graded: int
    n_labelled: int

    @cached_property
    def n_bad(self) -> int:
        return sum(one.mostly for one in self.questions)

    @cached_property
    def n_checked(self) -> int:
        """How many questions were graded on any passage called not relevant."""
        return sum(one.n_not_relevant > 0 for one in self.questions)

    @cached_property
    def states(self) -> dict[str, int]:
        """How many relevant passages are covered, uncovered, unknown for a missing grade, or without any grade."""
        states = ("covered", "uncovered", "unknown", "ungraded")
        return {state: sum(one.state == state for one in self.passages) for state in states}

    @cached_property
    def wrongly(self) -> Estimate:
        return share_answered(self.questions, relevant=False)

    @cached_property
    def rightly(self) -> Estimate:
        return share_answered(self.questions, relevant=True)

    @cached_property
    def missed(self) -> Estimate:
        return share_uncovered(self.passages)

    @property
    def shares(self) -> dict[str, str]:
        """The three shares in words, each with its interval or why there is none."""
        found = {"wrongly": self.wrongly, "rightly": self.rightly, "missed": self.missed}
        return {name: one.reason if one.value is None else in_percent(one.value, one) for name, one in found.items()}

    @property
    def simulated(self) -> bool:
        return self.source.simulated or self.people.simulated

    @property
    def answer(self) -> str:
        """How many questions are bad and how many relevant passages are not covered, in a sentence."""
        return bank_of_questions(
            self.source.name, self.minimum, self.n_bad, self.n_checked, self.states["uncovered"], self.missed
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "source": self.source.name,
            "relevance": self.people.criterion.name,
            "minimum": self.minimum,
            "simulated": self.simulated,
            **self.source.completeness.as_dict(),
            **self.visibility.as_dict(),
            "graded_passages": self.n_graded,
            "labelled_passages": self.n_labelled,
            "questions": self.n_checked,
            "bad_questions": self.n_bad,
            "relevant_passages": self.states,
            "topics_not_listed": len(self.hidden),
            "answered_by_not_relevant": self.wrongly.as_dict(),
            "answered_by_relevant": self.rightly.as_dict(),
            "uncovered": self.missed.as_dict(),
        }


@dataclass(frozen=True)
class BankCheck:
    """What is wrong with a study's bank; without grades or relevance only what its texts tell, and the reason."""

    study: Study
    likeness: float
    duplicates: tuple[Duplicate, ...]
    texts: Mapping[tuple[str, str], str]
    n_elements: int
    graded: GradesBesideRelevance | None
    reason: str = ""

    @property
    def answer(self) -> str:
        return self.graded.answer if self.graded else self.reason

    @property
    def visibility(self) -> Visibility | None:
        return self.graded.visibility if self.graded else None

    @property
    def simulated(self) -> bool:
        return bool(self.graded and self.graded.simulated)

    def tables(self) -> dict[str, Table]:
        found = {"duplicates": Table.of("Duplicates", DUPLICATES, map(self._duplicate, self.duplicates))}
        if self.graded is not None:
            hidden, graded = self.graded.hidden, self.graded
            questions = (self._question(one) for one in graded.questions if one.topic not in hidden)
            passages = (self._passage(one) for one in graded.passages if one.topic not in hidden)
            found["questions"] = Table.of("Questions, by passages called not relevant", QUESTIONS, questions)
            found["passages"] = Table.of("Passages that people called relevant", PASSAGES, passages)
        return found

    def _duplicate(self, one: Duplicate) -> tuple[Any, ...]:
        first, second = (self.text(one.topic, name) for name in (one.first, one.second))
        return one.topic, one.first, first, one.second, second, one.likeness

    def _question(self, one: CheckedQuestion) -> tuple[Any, ...]:
        text = self.text(one.topic, one.question)
        counts = (one.n_not_relevant, one.n_wrongly, one.share, one.n_relevant, one.n_rightly)
        return (one.topic, one.question, text, text or one.question, *counts, one.mostly)

    def _passage(self, one: RelevantPassage) -> tuple[Any, ...]:
        query = urlencode({"topic": one.topic, "passage": one.passage})
        passage = Link(one.passage, f"{reverse('evaluation:graded_passage', args=[self.study.name])}?{query}")
        nearest = self.text(one.topic, one.question) or one.question
        return one.topic, passage, one.state, one.best, one.question, nearest, one.n_missing

    def text(self, topic: str, question: str) -> str:
        return self.texts.get((topic, question), "")

    def as_dict(self) -> dict[str, Any]:
        """Return what API and command print."""
        return {
            "study": self.study.name,
            "likeness": self.likeness,
            "elements": self.n_elements,
            "reason": self.reason,
            "grades": self.graded.as_dict() if self.graded else None,
            "tables": {name: table.file_dicts() for name, table in self.tables().items()},
        }


DUPLICATES = (
    *(Column("topic", "Topic"), Column("first"), Column("first_text", "Question", "words"), Column("second")),
    *(Column("second_text", "Much like", "words"), Column("rouge_l", "ROUGE-L", "number")),
)
QUESTIONS = (
    *(Column("topic", "Topic"), Column("question"), Column("text"), Column("shown", "Question", "words", filed=False)),
    *(Column("not_relevant", "Passages not relevant", "count"), Column("wrongly", "that answer it", "count")),
    Column("share", "Share", "estimate", names=("share", "low", "high")),
    *(Column("relevant", "Passages relevant", "count"), Column("rightly", "that answer it", "count"), Column("mostly")),
)
PASSAGES = (
    *(Column("topic", "Topic"), Column("passage", "Passage", "link"), Column("state")),
    *(Column("highest", "Highest grade", "grade"), Column("question")),
    *(Column("nearest", "On the question", "words", filed=False), Column("missing", kind="count")),
)


def offered(study: Study) -> dict[str, Choices]:
    """Return whose grades of passages there are, and under which criteria people judged relevance."""
    scorer = Scorer.of(study)
    relevance = [one.criterion.name for one in relevance_sources(scorer.loader)]
    sources = [(one.name, one.shown) for one in scorer.loader.sources_under((TaskType.RATING, ""))]
    return {"source": sources, "relevance": [(name, name) for name in relevance]}


def relevance_sources(loader: JudgmentLoader) -> list[Source]:
    """Return people under each criterion of relevance that they judged."""
    return [one for one in loader.sources_under((TaskType.RELEVANCE, "")) if one.kind == Rater.Kind.ASSESSOR]


def check_bank(
    study: Study, *, source: str = "", relevance: str = "", minimum: float = 4.0, likeness: float = 0.9
) -> BankCheck:
    """Check the bank by a source's grades beside people's relevance, the first of each if none is named.

    Raises NoLeaderboard where there is no such source, criterion or grade.
    """
    scorer = Scorer.of(study)
    graders = [(one.name, one) for one in scorer.loader.sources_under((TaskType.RATING, ""))]
    people = [(one.criterion.name, one) for one in relevance_sources(scorer.loader)]
    grader = named_or_first(source, graders, "source of grades of passages") if graders or source else None
    labels = named_or_first(relevance, people, "relevance by people") if people or relevance else None
    texts = _texts(scorer)
    by_kind: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for (topic, kind, name), text in texts.items():
        by_kind[kind][topic].append((name, text))
    graded = _graded(scorer, grader, labels, minimum) if grader and labels else None
    return BankCheck(
        study=study,
        likeness=likeness,
        duplicates=tuple(one for of_kind in by_kind.values() for one in duplicates(of_kind, likeness=likeness)),
        texts={(topic, name): text for (topic, _, name), text in texts.items()},
        n_elements=len(texts),
        graded=graded,
        reason="" if graded else NO_GRADES if grader is None else NO_PEOPLE,
    )


def _texts(scorer: Scorer) -> dict[tuple[str, str, str], str]:
    """Return the text of every rubric element of the study's topics that counts, by topic, kind and id."""
    listed = RubricElement.objects.filter(topic__items__study=scorer.study, masked=False).distinct()
    listed = listed.exclude(pk__in=dropped_elements(scorer.study.collection_id))
    rows = listed.order_by("topic__pk", "kind", "position").values_list("topic__topic_id", "kind", "element_id", "text")
    return {(topic, kind, name): text for topic, kind, name, text in rows}


def _graded(scorer: Scorer, grader: Source, labels: Source, minimum: float) -> GradesBesideRelevance:
    scale = grader.criterion.scale.values
    if minimum > max(scale):
        raise NoLeaderboard(f"No grade of “{grader.criterion}” is {minimum:g} or more: its highest is {max(scale):g}.")
    seen = scorer.seen([grader])
    tables = seen.grades(grader).tables
    relevance = _relevance(seen, labels)
    elsewhere = tested_elsewhere(scorer.study)
    graded = {topic: [name for name, n in table.n_there.items() if n] for topic, table in tables.items()}
    return GradesBesideRelevance(
        source=grader,
        people=labels,
        minimum=minimum,
        visibility=seen.visibility,
        questions=tuple(check_questions(tables, relevance, minimum=minimum)),
        passages=tuple(relevant_passages(tables, relevance, minimum=minimum)),
        hidden=frozenset(name for pk, name in seen.topic_names.items() if pk in elsewhere),
        n_graded=sum(map(len, graded.values())),
        n_labelled=sum(name in relevance.get(topic, {}) for topic, names in graded.items() for name in names),
    )


def _relevance(scorer: Scorer, people: Source) -> Relevance:
    """Return what people said of each topic's passages; nothing of those on which they gave no grade."""
    found: dict[str, dict[str, bool]] = {}
    for topic, table in scorer.grades(people).tables.items():
        labels: Sequence[float] = table.grades[:, 0].tolist()
        found[topic] = {
            passage: grade >= people.criterion.threshold
            for passage, grade in zip(table.passages, labels, strict=True)
            if not np.isnan(grade)
        }
    return found
