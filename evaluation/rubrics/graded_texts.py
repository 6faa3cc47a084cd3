"""One passage, or the passages of one answer, with the questions that each answers.

Source: Farzi and Dietz, TREMA-UNH at TREC (2024), Tables 10 and 11 (a passage: its questions by judge and attempt) and
Table 12 (an answer: its passages, and the questions that each is graded high on).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from collection.judgments.rater_names import distinct_names
from collection.judgments.rationales import rationales_of
from collection.models import Criterion, Item, Judgment, Passage, Rater, Study, Topic
from collection.models.studies import TaskType
from collection.web.reports import NothingToReport
from collection.web.tables import Table
from evaluation.data.judgments import completeness_of
from evaluation.data.visibility import Visibility, tested_elsewhere
from evaluation.leaderboards.sources import Scorer, Source
from evaluation.rubrics.choosing import named_or_first
from evaluation.rubrics.serializers import MOST_PASSAGES
from stats.completeness import Completeness, complete_first
from stats.measures.rubric import cover
from stats.overviews_in_words import answer_covers, passage_answers
from stats.ranking.measure_names import NoLeaderboard

NOT_SHOWN = "This topic’s grades are not shown: judges are tested on it, here or in another study."


@dataclass(frozen=True)
class GradeOfQuestion:
    """What a rater said of the passage on a question: a grade, or why there is none; `reason` is its own."""

    grade: float | None
    ungraded: str
    is_yes: bool
    reason: str


@dataclass(frozen=True)
class QuestionRow:
    """A question with what each rater said of it, None where they were not asked. `item` is the first one's key."""

    number: int
    question: str
    text: str
    item: int
    said: tuple[GradeOfQuestion | None, ...]


@dataclass(frozen=True)
class RaterOfPassage:
    rater: Rater
    name: str
    completeness: Completeness

    @property
    def is_judge(self) -> bool:
        return self.rater.kind == Rater.Kind.JUDGE


@dataclass(frozen=True)
class GradedPassage:
    """A passage on a topic: its questions by rater. `relevance` is what people said of the passage as a whole."""

    study: Study
    criterion: Criterion
    visibility: Visibility
    topic: Topic
    passage: Passage
    raters: tuple[RaterOfPassage, ...]
    rows: tuple[QuestionRow, ...]
    relevance: tuple[tuple[str, str, float | None], ...]

    @property
    def minimum(self) -> float:
        return self.criterion.threshold

    @property
    def simulated(self) -> bool:
        return any(one.rater.simulated for one in self.raters)

    @property
    def reasons(self) -> list[tuple[QuestionRow, list[tuple[str, GradeOfQuestion]]]]:
        """Each question that anybody gave a reason for, with who gave which."""
        found = []
        for row in self.rows:
            said = [(one.name, cell) for one, cell in zip(self.raters, row.said, strict=True) if cell and cell.reason]
            if said:
                found.append((row, said))
        return found

    @property
    def answer(self) -> str:
        """How many questions the passage answers, by each rater, in a sentence."""
        return passage_answers(
            self.minimum, [(one.name, *self._counts(place)) for place, one in enumerate(self.raters)]
        )

    def _counts(self, place: int) -> tuple[int, int]:
        cells = [row.said[place] for row in self.rows]
        return sum(one.is_yes for one in cells if one), sum(one.grade is not None for one in cells if one)

    def tables(self) -> dict[str, Table]:
        return {}

    def as_dict(self) -> dict[str, Any]:
        return {
            "topic": self.topic.topic_id,
            "passage": self.passage.passage_id,
            "criterion": self.criterion.name,
            "threshold": self.minimum,
            "simulated": self.simulated,
            **self.visibility.as_dict(),
            "relevance": [dict(zip(("criterion", "rater", "grade"), one, strict=True)) for one in self.relevance],
            "questions": [
                {
                    "question": row.question,
                    "text": row.text,
                    "grades": {
                        one.name: {
                            "grade": cell.grade,
                            "ungraded": cell.ungraded or None,
                            "reason": cell.reason or None,
                        }
                        for one, cell in zip(self.raters, row.said, strict=True)
                        if cell
                    },
                }
                for row in self.rows
            ],
        }


@dataclass(frozen=True)
class AnsweringPassage:
    """A passage of an answer with the questions it answers: number and grade. `missing`: questions without a grade."""

    rank: int
    passage: str
    text: str | None
    answers: tuple[tuple[int, float], ...]
    missing: int


@dataclass(frozen=True)
class GradedAnswer:
    """A run's passages on a topic in order, each with the questions that it answers, by one source.

    `questions`: number, id, text and the ranks of the passages that answer it.
    """

    study: Study
    source: Source
    visibility: Visibility
    topic: str
    request: str
    run: str
    minimum: float
    n_ranked: int
    passages: tuple[AnsweringPassage, ...]
    questions: tuple[tuple[int, str, str, tuple[int, ...]], ...]
    cover: float | None
    sources: tuple[tuple[str, str], ...]
    runs: tuple[str, ...]
    topics: tuple[str, ...]

    @property
    def simulated(self) -> bool:
        return self.source.simulated

    def tables(self) -> dict[str, Table]:
        return {}

    @property
    def answer(self) -> str:
        return answer_covers(
            self.source.name,
            self.run,
            self.minimum,
            n_answering=sum(bool(one.answers) for one in self.passages),
            n_passages=len(self.passages),
            covered=sum(bool(ranks) for *_, ranks in self.questions),
            asked=len(self.questions),
            missing=sum(one.missing for one in self.passages),
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "topic": self.topic,
            "run": self.run,
            "source": self.source.name,
            "minimum": self.minimum,
            "simulated": self.source.simulated,
            **self.source.completeness.as_dict(),
            **self.visibility.as_dict(),
            "answer": self.answer,
            "cover": self.cover,
            "ranked": self.n_ranked,
            "questions": [
                dict(zip(("number", "question", "text", "answered_at"), (n, name, text, list(ranks)), strict=True))
                for n, name, text, ranks in self.questions
            ],
            "passages": [
                {
                    "rank": one.rank,
                    "passage": one.passage,
                    "answers": [{"number": number, "grade": grade} for number, grade in one.answers],
                    "missing": one.missing,
                }
                for one in self.passages
            ],
        }


def graded_passage(study: Study, *, topic: str, passage: str, criterion: str = "") -> GradedPassage:
    """Return a passage's questions by rater. Raises NoLeaderboard where nobody was asked, or it may not be shown."""
    scorer = Scorer.of(study)
    criteria = [
        one for one in scorer.loader.criteria if one.task_type == TaskType.RATING and criterion in ("", one.name)
    ]
    items = Item.objects.filter(study=study, task_type=TaskType.RATING, topic__topic_id=topic)
    asked = list(
        items.filter(passage__passage_id=passage, element__masked=False)
        .select_related("topic", "element", "passage")
        .order_by("element__kind", "element__position", "pk")
    )
    if not criteria or not asked:
        raise NoLeaderboard(f"The study asks no questions about “{passage}” on the topic “{topic}”.")
    chosen, first = criteria[0], asked[0]
    assert first.passage is not None
    sources = list(scorer.loader.sources_of(chosen))
    visibility = _visibility(scorer, sources, first.topic_id)
    raters, cells = _said(study, chosen, asked)
    return GradedPassage(
        study=study,
        criterion=chosen,
        visibility=visibility,
        topic=first.topic,
        passage=first.passage,
        raters=raters,
        rows=tuple(
            QuestionRow(
                number,
                item.element.element_id if item.element else "",
                item.element.text if item.element else "",
                item.pk,
                tuple(cells.get((item.pk, one.rater.pk)) for one in raters),
            )
            for number, item in enumerate(asked, start=1)
        ),
        relevance=_relevance(study, first),
    )


def _visibility(scorer: Scorer, sources: list[Source], topic: int) -> Visibility:
    """Return what is visible of these sources. Raises NoLeaderboard where the topic, by its key, is not."""
    seen = scorer.seen(sources)
    if topic not in seen.topic_names or topic in tested_elsewhere(scorer.study):
        raise NoLeaderboard(NOT_SHOWN)
    return seen.visibility


def _said(
    study: Study, criterion: Criterion, items: list[Item]
) -> tuple[tuple[RaterOfPassage, ...], dict[tuple[int, int], GradeOfQuestion]]:
    """Return who judged any of the items, people first and marked judges last, and what they said by item and rater."""
    judgments = Judgment.objects.filter(criterion=criterion, item__in=items).without_the_excluded()
    rows = list(judgments.select_related("rater").order_by("rater__kind", "rater__name", "rater__pk"))
    found = list({one.rater_id: one.rater for one in rows}.values())
    known = completeness_of(study)
    named = zip(found, distinct_names(found), strict=True)
    raters = complete_first(
        (RaterOfPassage(rater, name, known.of(criterion.pk, rater.pk)) for rater, name in named),
        of=lambda one: one.completeness,
    )
    keys = [item.pk for item in items]
    reasons = {rater.pk: rationales_of(rater, criterion, keys) for rater in found}
    cells = {
        (one.item_id, one.rater_id): GradeOfQuestion(
            one.grade,
            one.get_ungraded_display() if one.grade is None else "",
            one.grade is not None and one.grade >= criterion.threshold,
            reasons[one.rater_id].get(one.item_id, ""),
        )
        for one in rows
    }
    return tuple(raters), cells


def _relevance(study: Study, item: Item) -> tuple[tuple[str, str, float | None], ...]:
    """Return what people said of the item's passage as a whole: criterion, rater and grade."""
    judgments = Judgment.objects.filter(
        item__study=study,
        item__task_type=TaskType.RELEVANCE,
        item__topic=item.topic_id,
        item__passage=item.passage_id,
        rater__kind=Rater.Kind.ASSESSOR,
    ).without_the_excluded()
    rows = judgments.order_by("criterion__position", "rater__name")
    return tuple(rows.values_list("criterion__name", "rater__name", "grade"))


def graded_answer(
    study: Study,
    *,
    source: str = "",
    run: str = "",
    topic: str = "",
    minimum: float | None = None,
    k: int = MOST_PASSAGES,
) -> GradedAnswer:
    """Return the first k passages of a run on a topic with the questions they answer, by a source's grades.

    The first source, run and topic where none is named; `minimum` is the criterion's threshold by default. Raises
    NoLeaderboard where there is no such thing.
    """
    scorer = Scorer.of(study)
    sources = [(one.name, one) for one in scorer.loader.sources_under((TaskType.RATING, ""))]
    _check_there(sources)
    chosen = named_or_first(source, sources, "source of grades of passages")
    seen = scorer.seen([chosen])
    elsewhere = {seen.topic_names[pk] for pk in tested_elsewhere(study) if pk in seen.topic_names}
    tables = {
        name: table
        for name, table in seen.grades(chosen).tables.items()
        if name not in elsewhere and not np.isnan(table.grades).all()
    }
    ranked = [(name, (name, of)) for name, of in seen.rankings.items() if tables.keys() & of.keys()]
    _check_there(ranked)
    run, of_run = named_or_first(run, ranked, "run with graded passages")
    topics = [name for name in tables if name in of_run]
    topic = named_or_first(topic, [(name, name) for name in topics], f"topic with graded passages of {run}")
    ranking, table = of_run[topic], tables[topic]
    at = chosen.criterion.threshold if minimum is None else minimum
    top = ranking[:k]
    grades = table.of(top)
    held = Passage.objects.filter(collection=study.collection_id, passage_id__in=top)
    texts = dict(held.values_list("passage_id", "text"))
    asked = Topic.objects.get(collection=study.collection_id, topic_id=topic)
    questions = dict(asked.rubric_elements.values_list("element_id", "text"))
    answered: dict[int, list[int]] = defaultdict(list)
    for row, column in np.argwhere(grades >= at).tolist():
        answered[column].append(row + 1)
    return GradedAnswer(
        study=study,
        source=chosen,
        visibility=seen.visibility,
        topic=topic,
        request=asked.request,
        run=run,
        minimum=at,
        n_ranked=len(ranking),
        passages=tuple(
            AnsweringPassage(
                rank,
                name,
                texts.get(name) or None,
                tuple((place + 1, float(said[place])) for place in np.flatnonzero(said >= at).tolist()),
                int(np.isnan(said).sum()),
            )
            for rank, (name, said) in enumerate(zip(top, grades, strict=True), start=1)
        ),
        questions=tuple(
            (place + 1, name, questions.get(name, ""), tuple(answered[place]))
            for place, name in enumerate(table.elements)
        ),
        cover=cover(table, ranking, k=k, minimum=at).value,
        sources=tuple((name, one.shown) for name, one in sources),
        runs=tuple(name for name, _ in ranked),
        topics=tuple(topics),
    )


def _check_there(found: Sequence[Any]) -> None:
    if not found:
        raise NothingToReport("No ranked passages are graded yet. Reports by sentence are among the cited reports.")
