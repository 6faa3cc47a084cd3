"""Leaderboards of a study: its judgments, source by source, as scores of systems on topics.

A source is all people together or one judge, under one criterion. Which criteria count follows from the measure: those
of reports for measures of reports, of passages with rubric elements for measures of rankings, and for measures on qrels
relevance as well. A system's row is a run; a ranking is taken in the order of its stored ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from django.db.models import Value
from django.db.models.functions import Coalesce

from collection.models import Criterion, Item, Passage, RankedPassage, Rater, Report, RubricElement, Run, Study
from collection.models.studies import TaskType
from evaluation.aggregation import majority, median
from evaluation.boards import (
    BoardMeasure,
    BoardRefused,
    Rankings,
    ScoredBoard,
    SourceGrades,
    score_board,
)
from evaluation.measures.grades import GradeTable
from evaluation.measures.trec import UnknownMeasure
from evaluation.ratings import FloatArray, IntArray, grades_of
from evaluation.services.studies import CriterionRatings, load_criterion, read_numbers

Combine = Literal["majority", "median"]
GROUNDED = "grounded"
PEOPLE = "people"


@dataclass(frozen=True)
class Source:
    """Whose judgments: all people under a criterion, or one judge. `name` is what pages and commands call it."""

    name: str
    kind: str
    criterion: Criterion
    raters: tuple[Rater, ...]
    columns: tuple[int, ...]

    @property
    def family(self) -> str:
        """The judge's model family, where it is known."""
        return str(self.raters[0].attributes.get("family", "")) if self.kind == Rater.Kind.JUDGE else ""

    @property
    def simulated(self) -> bool:
        """Whether a simulation made any of its grades."""
        return any(rater.simulated for rater in self.raters)


@dataclass(frozen=True)
class SourceBoard:
    """A measure by one source's judgments; `circular` names systems of the judge's own family."""

    source: Source
    scored: ScoredBoard
    circular: frozenset[str]


class StudyBoards:
    """Reads what leaderboards of a study need, each part once, however many measures are asked of it."""

    def __init__(self, study: Study, *, combine: Combine = "majority", oracle: str | None = None) -> None:
        self.study = study
        self.combine = combine
        self._oracle = oracle
        self._judged: dict[int, CriterionRatings] = {}
        self._layouts: dict[str, Layout] = {}

    @cached_property
    def criteria(self) -> list[Criterion]:
        return list(self.study.criteria.select_related("study__collection", "scale"))

    @cached_property
    def runs(self) -> dict[int, Run]:
        """Return the collection's runs with their systems, by name, by primary key."""
        runs = Run.objects.filter(collection=self.study.collection_id).select_related("system").order_by("name")
        return {run.pk: run for run in runs}

    @cached_property
    def oracle(self) -> str | None:
        """The run whose texts say what can be answered: the one asked for, else the one called “oracle”."""
        names = {run.name for run in self.runs.values()}
        if self._oracle and self._oracle not in names:
            raise BoardRefused(f"There is no run “{self._oracle}” to be the oracle, but: {', '.join(sorted(names))}.")
        return self._oracle or ("oracle" if "oracle" in names else None)

    def sources(self, measure: BoardMeasure) -> list[Source]:
        """Return who judged what the measure needs: people first, then judges, by criterion."""
        found = [source for criterion in self._criteria_for(measure) for source in self._sources_of(criterion)]
        found.sort(key=lambda source: (source.kind, source.criterion.position, source.name))
        names = [source.name for source in found]
        return [
            source
            if names.count(source.name) == 1
            else Source(
                f"{source.name} ({source.criterion})", source.kind, source.criterion, source.raters, source.columns
            )
            for source in found
        ]

    def score(self, measure: BoardMeasure, source: Source) -> SourceBoard:
        """Return the measure's scores by the source's judgments. Raises BoardRefused."""
        grades = self.grades(source)
        rankings = self._reports(source) if measure.of_reports else self.rankings
        texts = self._texts(measure) if measure.needs_texts else None
        try:
            scored = score_board(measure, grades, rankings, oracle=self.oracle, texts=texts)
        except UnknownMeasure as unknown:
            raise BoardRefused(str(unknown)) from unknown
        return SourceBoard(source, scored, self._circular(source))

    def grades(self, source: Source) -> SourceGrades:
        """Return the source's grades by topic; of several people by the rule for combining them."""
        criterion = source.criterion
        judged, layout = self._ratings(criterion), self._layout(criterion.task_type)
        codes = judged.ratings.codes[:, list(source.columns)]
        grades = combined(grades_of(codes, judged.ratings.numbers), self.combine)
        tables = layout.tables(np.asarray(judged.ratings.items, dtype=np.int64), grades)
        return SourceGrades(tables, criterion.threshold, graded=set(criterion.scale.values) != {0, 1})

    @cached_property
    def rankings(self) -> Rankings:
        """Every run's passages by topic, in the order of their ranks."""
        found: dict[str, dict[str, list[str]]] = {}
        rows = (
            RankedPassage.objects.filter(run__collection=self.study.collection_id)
            .order_by("run_id", "topic_id", "rank", "passage_id")
            .values_list("run_id", "topic_id", "passage_id")
        )
        topics = self._topic_names
        for run, topic, passage in rows.iterator(chunk_size=10_000):
            found.setdefault(self.runs[run].name, {}).setdefault(topics[topic], []).append(passage)
        return dict(sorted(found.items()))

    @cached_property
    def _topic_names(self) -> dict[int, str]:
        return dict(self.study.collection.topics.values_list("pk", "topic_id"))

    def _reports(self, source: Source) -> Rankings:
        """Return for each run with judged reports the one report it has on each topic."""
        found: dict[str, dict[str, list[str]]] = {}
        for topic, table in self._layout(source.criterion.task_type).shapes.items():
            for run in table.texts:
                found.setdefault(run, {})[topic] = [run]
        return dict(sorted(found.items()))

    def _criteria_for(self, measure: BoardMeasure) -> list[Criterion]:
        if measure.of_qrels:
            return [one for one in self.criteria if one.task_type in (TaskType.RELEVANCE, TaskType.RATING)]
        if measure.family == "KPR":
            return [one for one in self.criteria if one.task_type == TaskType.KEY_POINT and one.name == GROUNDED]
        wanted = TaskType.ANSWERABILITY if measure.of_reports else TaskType.RATING
        return [one for one in self.criteria if one.task_type == wanted]

    def _sources_of(self, criterion: Criterion) -> Iterator[Source]:
        judged = self._ratings(criterion)
        people = judged.columns(Rater.Kind.ASSESSOR)
        if people:
            raters = tuple(judged.raters[column] for column in people)
            yield Source(PEOPLE, Rater.Kind.ASSESSOR, criterion, raters, tuple(people))
        for column in judged.columns(Rater.Kind.JUDGE):
            name = str(judged.ratings.raters[column])
            yield Source(name, Rater.Kind.JUDGE, criterion, (judged.raters[column],), (column,))

    def _circular(self, source: Source) -> frozenset[str]:
        if not source.family:
            return frozenset()
        return frozenset(run.name for run in self.runs.values() if run.system.family == source.family)

    def _ratings(self, criterion: Criterion) -> CriterionRatings:
        if criterion.pk not in self._judged:
            self._judged[criterion.pk] = load_criterion(criterion)
        return self._judged[criterion.pk]

    def _layout(self, task_type: str) -> Layout:
        if task_type not in self._layouts:
            self._layouts[task_type] = load_layout(self.study, task_type, self._topic_names, self.runs)
        return self._layouts[task_type]

    def _texts(self, measure: BoardMeasure) -> Mapping[tuple[str, str], str]:
        """Return the texts that density counts the words of, by topic and name."""
        topics = self._topic_names
        if measure.of_reports:
            reports = Report.objects.filter(run__collection=self.study.collection_id)
            rows = reports.values_list("topic_id", "run__name", "text")
            return {(topics[topic], run): text for topic, run, text in rows}
        wanted = {
            passage
            for found in self.rankings.values()
            for ranking in found.values()
            for passage in ranking[: measure.cutoff]
        }
        stored = Passage.objects.filter(collection=self.study.collection_id, text__isnull=False)
        texts = {
            name: text or ""
            for name, text in stored.values_list("passage_id", "text").iterator(chunk_size=5_000)
            if name in wanted
        }
        return {
            (topic, passage): texts.get(passage, "")
            for found in self.rankings.values()
            for topic, ranking in found.items()
            for passage in ranking[: measure.cutoff]
        }


def combined(grades: FloatArray, combine: Combine) -> FloatArray:
    """Make one grade an item, shape (n,), of grades of shape (n, raters)."""
    if grades.shape[1] == 1:
        return grades[:, 0]
    return (majority if combine == "majority" else median)(grades, ties="lower").grades


# --- Items as tables of texts and rubric elements ------------------------------------------------


@dataclass(frozen=True)
class TopicShape:
    """Where a topic's items stand in its table: places in the layout's items, rows and columns."""

    texts: tuple[str, ...]
    elements: tuple[str, ...]
    places: IntArray
    rows: IntArray
    columns: IntArray


@dataclass(frozen=True)
class Layout:
    """A study's items of one task type, by topic; masked elements are left out."""

    items: IntArray
    shapes: Mapping[str, TopicShape]

    def tables(self, items: IntArray, grades: FloatArray) -> dict[str, GradeTable]:
        """Return the grades, given for some of the items, as a table for each topic; NaN where there is none."""
        known = np.full(len(self.items), np.nan)
        places = np.searchsorted(self.items, items)
        inside = places < len(self.items)
        inside[inside] = self.items[places[inside]] == items[inside]
        known[places[inside]] = grades[inside]
        tables = {}
        for topic, shape in self.shapes.items():
            cells = np.full((len(shape.texts), len(shape.elements)), np.nan)
            cells[shape.rows, shape.columns] = known[shape.places]
            tables[topic] = GradeTable(shape.texts, shape.elements, cells)
        return tables


def load_layout(study: Study, task_type: str, topics: Mapping[int, str], runs: Mapping[int, Run]) -> Layout:
    """Read the study's items of this task type."""
    items = Item.objects.filter(study=study, task_type=task_type).exclude(element__masked=True)
    values = items.annotate(
        element_or_none=Coalesce("element_id", Value(0)),
        passage_or_none=Coalesce("passage_id", Value(0)),
        run_or_none=Coalesce("report__run_id", Value(0)),
    ).values_list("id", "topic_id", "element_or_none", "passage_or_none", "run_or_none")
    rows = read_numbers(values, width=5).astype(np.int64)
    rows = rows[np.argsort(rows[:, 0])]
    elements = dict(RubricElement.objects.filter(topic__collection=study.collection_id).values_list("pk", "element_id"))
    passages: dict[int, str] = {}
    if rows[:, 3].any():
        stored = Passage.objects.filter(collection=study.collection_id)
        passages = dict(stored.values_list("pk", "passage_id").iterator(chunk_size=10_000))
    shapes = {}
    for topic in np.unique(rows[:, 1]).tolist():
        places = np.flatnonzero(rows[:, 1] == topic)
        of_topic = rows[places]
        # A report is named by its run; runs' ids are told from passages' by their sign.
        texts, row = np.unique(np.where(of_topic[:, 3] > 0, of_topic[:, 3], -of_topic[:, 4]), return_inverse=True)
        columns, column = np.unique(of_topic[:, 2], return_inverse=True)
        shapes[topics[topic]] = TopicShape(
            texts=tuple(passages[pk] if pk > 0 else runs[-pk].name for pk in texts.tolist()),
            elements=tuple(elements.get(pk, "") for pk in columns.tolist()),
            places=places,
            rows=row.ravel(),
            columns=column.ravel(),
        )
    return Layout(rows[:, 0], dict(sorted(shapes.items())))
