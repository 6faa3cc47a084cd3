"""Leaderboards of a study: a loader of its judgments, source by source, and a scorer of its systems by them.

A source is all people together or one judge, under one criterion. Which criteria count follows from the measure: those
of reports for measures of reports, of passages with rubric elements for measures of rankings, and for measures on qrels
relevance as well. A system's row is a run; its passages stand by score, as trec_eval has it, or by rank if so chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any, Literal, Self, TypeVar, cast

import numpy as np
from django.db.models import QuerySet

from collection.banks.versions import dropped_elements
from collection.completeness import JudgesOfStudies
from collection.judgments.declarations import PEOPLE as PEOPLE
from collection.models import Criterion, Item, RankedPassage, Rater, Report, Run, Study
from collection.models.studies import TaskType
from collection.rankings import Order, read_rankings
from evaluation.data.confidence import (
    OF_ANSWERS,
    Confidence,
    confidence_asked,
    confidence_said,
    of_the_confident,
)
from evaluation.data.drawn_labels import names_all
from evaluation.data.judge_pairs import pair_judges
from evaluation.data.judgments import CriterionRatings, completeness_of, load_criterion
from evaluation.data.visibility import (
    EVERYTHING,
    LOCKED,
    AskedPart,
    Part,
    TestPartLocked,
    Visibility,
    parts_of,
    visibility_of,
)
from evaluation.leaderboards.grade_tables import Layout, load_layout, measured_as
from evaluation.leaderboards.label_draws import label_draw, read_draws
from stats.agreement.aggregation import majority, median
from stats.completeness import UNMARKED, Completeness, complete_first
from stats.ranking.measure_names import NoLeaderboard, SystemMeasure
from stats.ranking.sampled_labels import Rankings
from stats.ranking.scoring import ScoreTable, SourceGrades
from stats.ratings import FloatArray, grades_of
from stats.votes import TIES_OF_PEOPLE

Combine = Literal["majority", "median"]
GROUNDED = "grounded"
ORACLE = "oracle"
TEXTS = "texts"
REFERENCES = "references"
NOT_JUDGED = "the source has no judgments of the system on the topic"
T = TypeVar("T")


@dataclass(frozen=True)
class Source:
    """Whose judgments: all people under a criterion, or one judge. `name` is what pages and commands call it."""

    name: str
    kind: str
    criterion: Criterion
    raters: tuple[Rater, ...]
    columns: tuple[int, ...]
    completeness: Completeness = UNMARKED

    @property
    def shown(self) -> str:
        """The name, with the mark of an unfinished or failing judge."""
        return self.completeness.after(self.name)

    @property
    def is_text(self) -> bool:
        """Whether it is no rater but the texts themselves: answers held against references."""
        return self.kind == TEXTS

    @property
    def declared_as(self) -> str:
        """What a study's declarations call it: people together, a judge by its own name."""
        return self.raters[0].name if self.kind == Rater.Kind.JUDGE else PEOPLE

    @property
    def family(self) -> str:
        """The judge's model family, where it is known."""
        return str(self.raters[0].attributes.get("family", "")) if self.kind == Rater.Kind.JUDGE else ""

    @property
    def simulated(self) -> bool:
        """Whether a simulation made any of its grades."""
        return any(rater.simulated for rater in self.raters)


@dataclass(frozen=True)
class SourceScores:
    """A measure by one source's judgments; `circular` names systems of the judge's own family."""

    source: Source
    scored: ScoreTable
    circular: frozenset[str]


def judges_among(sources: Iterable[Source]) -> list[Rater]:
    """Return the judges among the sources, each once, by name."""
    found = {source.raters[0].pk: source.raters[0] for source in sources if source.kind == Rater.Kind.JUDGE}
    return sorted(found.values(), key=lambda judge: (judge.name, judge.pk))


class JudgmentLoader:
    """Loads each criterion's judgments once, and gives of them what is visible: everything until `seen` says of whom.

    Several people become one by `combine`; people count who were as confident of a question as `confidence`.
    """

    def __init__(
        self,
        study: Study,
        *,
        combine: Combine = "majority",
        confidence: float | None = None,
        visibility: Visibility = EVERYTHING,
    ) -> None:
        self.study = study
        self.combine = combine
        self.at_least = confidence
        self.visibility = visibility
        self._loaded: dict[int, CriterionRatings] = {}
        self._visible: dict[int, CriterionRatings] = {}
        self._completeness: dict[Part, JudgesOfStudies] = {}

    def seen(
        self, sources: Iterable[Source], *, part: AskedPart = "development", named: bool = False
    ) -> JudgmentLoader:
        """Return what may be seen of these sources now. Raises as `visibility_of` does, of `named` ones for each."""
        visibility = visibility_of(parts_of(self.study), judges_among(sources), part=part)
        if named and visibility.hidden:
            raise TestPartLocked(LOCKED)
        seen = JudgmentLoader(self.study, combine=self.combine, confidence=self.at_least, visibility=visibility)
        seen._loaded, seen._completeness = self._loaded, self._completeness
        return seen

    def shows(self, source: Source) -> bool:
        """Whether the source may be shown, and judged anything of the visible topics."""
        if self.visibility is EVERYTHING or source.is_text:
            return True
        hidden = {rater.pk for rater in source.raters} & self.visibility.hidden
        return not hidden and bool(self.judgments(source.criterion).asked[:, list(source.columns)].any())

    @cached_property
    def criteria(self) -> list[Criterion]:
        return list(self.study.criteria.select_related("study__collection", "scale"))

    def sources(self, measure: SystemMeasure) -> list[Source]:
        """Return who judged what the measure needs: people first, then judges, by criterion; marked ones last."""
        criteria = self.criteria_for(measure)
        found = [source for criterion in criteria for source in self.sources_of(criterion)]
        if measure.first_question_counts:
            found = list({source.name: source for source in found[::-1]}.values())
        if measure.of_texts_too and self.criteria:
            found.append(Source(REFERENCES, TEXTS, self.criteria[0], (), ()))
        found.sort(key=lambda source: (source.kind, source.criterion.position, source.name))
        names = [source.name for source in found]
        named = (
            source if names.count(source.name) == 1 else replace(source, name=f"{source.name} ({source.criterion})")
            for source in found
        )
        return self.marked(source for source in named if self.shows(source))

    def wanted(
        self, measure: SystemMeasure, names: Sequence[str] = (), *, without_judges: bool = False
    ) -> list[Source]:
        """Return the sources of these names; without a name all, or all but judges. Raises NoLeaderboard."""
        found = self.sources(measure)
        there = [source.name for source in found]
        for name in names:
            if name not in there:
                listed = ", ".join(there) or "none yet"
                raise NoLeaderboard(f"“{name}” has no judgments for {measure.name}. Sources that have: {listed}.")
        return [
            source
            for source in found
            if (not names or source.name in names) and not (without_judges and source.kind == Rater.Kind.JUDGE)
        ]

    def marked(self, sources: Iterable[Source]) -> list[Source]:
        """Return the sources with how complete the judges are on the visible part, marked ones last."""
        part = self.visibility.side
        known = self._completeness[part] = self._completeness.get(part) or completeness_of(self.study, part)
        found = [
            replace(one, completeness=known.of(one.criterion.pk, one.raters[0].pk))
            if one.kind == Rater.Kind.JUDGE
            else one
            for one in sources
        ]
        return complete_first(found, of=lambda one: one.completeness)

    def first(self, sources: Sequence[Source]) -> tuple[list[Source], bool]:
        """Return all but judges, and of the complete judges three; and whether these were chosen by κ with people.

        Then they are those with the highest, the middle and the lowest, else the first.
        """
        people = [self.judgments(source.criterion) for source in sources if source.kind == Rater.Kind.ASSESSOR]
        found = [one for pairs in map(pair_judges, people) for one in (*pairs.pairs, *pairs.tests)]
        kappas = {(one.judge.pk, one.criterion.pk): one.kappa() for one in found}
        judges = [source for source in sources if source.kind == Rater.Kind.JUDGE and not source.completeness.mark]
        by_kappa = {one.name: kappas.get((one.raters[0].pk, one.criterion.pk), -inf) for one in judges}
        known = sorted((name for name in by_kappa if by_kappa[name] > -inf), key=lambda name: -by_kappa[name])
        shown = {known[place] for place in (0, len(known) // 2, -1)} if known else set(list(by_kappa)[:3])
        kept = [source for source in sources if source.kind != Rater.Kind.JUDGE or source.name in shown]
        return kept, bool(known)

    def item_grades(self, source: Source) -> dict[int, float]:
        """Return the source's grade of each item that anybody judged, by primary key; NaN where it gave none."""
        items = self.judgments(source.criterion).ratings.items
        return dict(zip(items, self.combined_grades(source).tolist(), strict=True))

    def combined_grades(self, source: Source) -> FloatArray:
        """Return the source's grades of the same items in their order, several people's as one."""
        ratings = self.judgments(source.criterion).ratings
        grades = grades_of(ratings.codes[:, list(source.columns)], ratings.numbers)
        rule = majority if self.combine == "majority" else median
        return grades[:, 0] if len(source.columns) == 1 else rule(grades, ties=TIES_OF_PEOPLE).grades

    def items_under(self, criterion: Criterion) -> QuerySet[Item]:
        """Return the visible items that are asked under the criterion.

        Without those of elements that are masked, or out of their bank.
        """
        items = Item.objects.filter(study=self.study, task_type=criterion.task_type).exclude(element__masked=True)
        items = items.exclude(element__in=dropped_elements(self.study.collection_id))
        return self.visibility.of(items)

    def sources_under(self, *asked: tuple[str, str]) -> list[Source]:
        """Return who judged under criteria of these task types and names, an empty one for any; marked judges last."""
        criteria = (one for one in self.criteria if {(one.task_type, ""), (one.task_type, one.name)} & {*asked})
        return self.marked(source for criterion in criteria for source in self.sources_of(criterion))

    def criterion_named(self, task_type: str, name: str) -> Criterion | None:
        """Return the study's criterion of this task type and name, if it has one."""
        return next((one for one in self.criteria if (one.task_type, one.name) == (task_type, name)), None)

    def same_source(self, source: Source, criterion: Criterion) -> Source | None:
        """Return the same people or the same judge under another criterion, if they judged under it."""
        mine = {rater.pk for rater in source.raters}
        return next(
            (
                one
                for one in self.sources_of(criterion)
                if one.kind == source.kind and mine & {rater.pk for rater in one.raters}
            ),
            None,
        )

    def criteria_for(self, measure: SystemMeasure) -> list[Criterion]:
        """Return the study's criteria whose judgments the measure is made of."""
        found = {
            one: place
            for one in self.criteria
            for place, (kind, name) in enumerate(measure.needs)
            if kind == measured_as(one.task_type) and name in ("", one.name)
        }
        return sorted(found, key=lambda one: found[one] if measure.of_answers else 0)

    def sources_of(self, criterion: Criterion | None) -> Iterator[Source]:
        """Yield who judged under the criterion, where there is one: all people together, then each judge."""
        if criterion is None:
            return
        judged = self.judgments(criterion)
        people = judged.columns(Rater.Kind.ASSESSOR)
        if people:
            raters = tuple(judged.raters[column] for column in people)
            yield Source(PEOPLE, Rater.Kind.ASSESSOR, criterion, raters, tuple(people))
        for column in judged.columns(Rater.Kind.JUDGE):
            name = str(judged.ratings.raters[column])
            yield Source(name, Rater.Kind.JUDGE, criterion, (judged.raters[column],), (column,))

    def judgments(self, criterion: Criterion) -> CriterionRatings:
        """Return the judgments under the criterion on the visible topics."""
        if criterion.pk not in self._visible:
            if criterion.pk not in self._loaded:
                self._loaded[criterion.pk] = load_criterion(criterion)
            judged = self.visibility.of_ratings(self._loaded[criterion.pk])
            if self.at_least is not None and criterion.task_type in OF_ANSWERS:
                said = self.judgments(confidence_asked(self.criteria))
                judged = of_the_confident(judged, said, at_least=self.at_least)
            self._visible[criterion.pk] = judged
        return self._visible[criterion.pk]

    @property
    def confidence(self) -> Confidence | None:
        """What people said of their confidence on the visible topics, where they were asked. Raises NoLeaderboard."""
        asked = any(one.task_type == TaskType.CONFIDENCE for one in self.criteria)
        if not asked and self.at_least is None:
            return None
        return confidence_said(self.judgments(confidence_asked(self.criteria)), at_least=self.at_least)

    def submit(self, criterion: Criterion, grades: Mapping[str, Mapping[int, float | None]]) -> None:
        """Take grades by judges that are not stored, by name and item, beside the criterion's judgments."""
        self._loaded[criterion.pk] = load_criterion(criterion, submitted=grades)


class Scorer:
    """What scores of a study's systems are made of, each part read once, however many measures are asked of it."""

    def __init__(self, loader: JudgmentLoader, *, oracle: str | None = None, order: Order = "score") -> None:
        self.loader = loader
        self.study = loader.study
        self.visibility = loader.visibility
        self.order = order
        self.apart: tuple[str, ...] = ()
        self._oracle = oracle
        self._once: dict[str, Any] = {}

    @classmethod
    def of(cls, study: Study, *, oracle: str | None = None, order: Order = "score", **rules: Any) -> Self:
        """Return what scores the study's systems by all its judgments; `rules` are those of its `JudgmentLoader`."""
        return cls(JudgmentLoader(study, **rules), oracle=oracle, order=order)

    def seen(self, sources: Iterable[Source], *, part: AskedPart = "development", named: bool = False) -> Scorer:
        """Return what may be seen of these sources now. Raises as `JudgmentLoader.seen` does."""
        loader = self.loader.seen(sources, part=part, named=named)
        return Scorer(loader, oracle=self._oracle, order=self.order)

    def runs_apart(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return these runs, and those of reports written from them, to be set apart.

        Raises NoLeaderboard where there is no run of one of these names.
        """
        there = {run.name for run in self.runs.values()}
        for name in names:
            if name not in there:
                raise NoLeaderboard(f"There is no run “{name}” to set apart. Choose among: {', '.join(sorted(there))}.")
        written = (run for run, context in self.contexts.items() if context in names and run not in names)
        return (*names, *written)

    @cached_property
    def contexts(self) -> dict[str, str]:
        """The run that each run of reports was written from, by name; one that ranks passages has its own context."""
        written = {pk: run for pk, run in self.runs.items() if run.made_from_id in self.runs}
        if not written:
            return {}
        ranking = set(RankedPassage.objects.filter(run__in=list(written)).values_list("run", flat=True).distinct())
        return {run.name: self.runs[run.made_from_id or 0].name for pk, run in written.items() if pk not in ranking}

    @cached_property
    def runs(self) -> dict[int, Run]:
        """Return the collection's runs with their systems, by name, by primary key."""
        runs = Run.objects.filter(collection=self.study.collection_id).select_related("system").order_by("name")
        return {run.pk: run for run in runs}

    @cached_property
    def oracle(self) -> str | None:
        """The run whose passages define what can be answered: the one asked for, else the one called “oracle”."""
        names = {run.name for run in self.runs.values()}
        if self._oracle and self._oracle not in names:
            raise NoLeaderboard(
                f"There is no run “{self._oracle}” to use as the oracle. Choose one of: {', '.join(sorted(names))}."
            )
        return self._oracle or (ORACLE if ORACLE in names else None)

    def grades(self, source: Source) -> SourceGrades:
        """Return the source's grades by topic; of several people by the rule for combining them."""
        return self.once(
            f"grades of {source.kind} {source.columns} under {source.criterion.pk}", lambda: self._grades(source)
        )

    def _grades(self, source: Source) -> SourceGrades:
        criterion, layout = source.criterion, self._layout(source.criterion.task_type)
        judged = self.loader.judgments(criterion)
        items = np.asarray(judged.ratings.items, dtype=np.int64)
        known = layout.place(items, self.loader.combined_grades(source))
        draws = self.once(f"draws of {criterion.task_type}", lambda: read_draws(criterion, layout))
        tables = layout.tables(known)
        irrelevant = names_all(criterion, source.declared_as)
        if irrelevant:
            asked = judged.asked[:, list(source.columns)].any(axis=1)
            named = layout.tables(layout.place(items, np.where(asked, 1.0, np.nan)))
            tables = {topic: table.with_unnamed(named[topic].grades, grade=0) for topic, table in tables.items()}
        return SourceGrades(
            tables=tables,
            threshold=criterion.threshold,
            scale=tuple(map(float, criterion.scale.values)),
            asked=layout.asked if criterion.task_type == TaskType.KEY_POINT else None,
            draw=None if irrelevant else label_draw(draws, layout, known),
        )

    def once(self, name: str, read: Callable[[], T]) -> T:
        """Return what `read` returned when it was first called under this name."""
        if name not in self._once:
            self._once[name] = read()
        return cast("T", self._once[name])

    @cached_property
    def topic_attributes(self) -> dict[int, dict[str, Any]]:
        """The topics' attributes by primary key."""
        return dict(self.study.collection.topics.values_list("pk", "attributes"))

    def report_texts(self) -> list[tuple[int, str, str]]:
        """Return the topic's primary key, the run and the text of every report."""
        reports = self.visibility.of(Report.objects.filter(run__collection=self.study.collection_id))
        return self.once("reports", lambda: list(reports.values_list("topic_id", "run__name", "text")))

    @cached_property
    def rankings(self) -> Rankings:
        """Every run's passages by topic, best first."""
        found: dict[str, dict[str, list[str]]] = {}
        for ranking in read_rankings(self.study.collection, order=self.order):
            if topic := self.topic_names.get(ranking.topic):
                found.setdefault(self.runs[ranking.run].name, {})[topic] = ranking.docnos
        return dict(sorted(found.items()))

    @cached_property
    def topic_names(self) -> dict[int, str]:
        """The ids of the visible topics by primary key."""
        names = dict(self.study.collection.topics.order_by("pk").values_list("pk", "topic_id"))
        topics = self.visibility.topics
        return names if topics is None else {pk: name for pk, name in names.items() if pk in topics}

    def reports(self, source: Source) -> Rankings:
        """Return for each run with judged reports the one report it has on each topic."""
        found: dict[str, dict[str, list[str]]] = {}
        for topic, table in self._layout(source.criterion.task_type).shapes.items():
            for run in table.texts:
                found.setdefault(run, {})[topic] = [run]
        return dict(sorted(found.items()))

    def circular_systems(self, source: Source) -> frozenset[str]:
        if not source.family:
            return frozenset()
        return frozenset(run.name for run in self.runs.values() if run.system.family == source.family)

    def _layout(self, task_type: str) -> Layout:
        return self.once(
            f"layout of {task_type}", lambda: load_layout(self.study, task_type, self.topic_names, self.runs)
        )


def yes(grade: float | None, at: float) -> bool | None:
    """Whether the grade is a yes; None where there is none."""
    return None if grade is None or np.isnan(grade) else grade >= at
