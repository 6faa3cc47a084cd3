"""What a change to a topic's nuggets does to the score of every report on it, before the change is kept.

A nugget that a report is not judged by, such as one that the change words, may have any credit: each score has the
least and the most that it can be (`stats.measures.nugget_banks`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from collection.banks.changes import Standing
from collection.banks.visibility import numbered_reports
from collection.models import Item, Rater, ReportSentence, RubricElement, Study, Topic
from collection.models.studies import TaskType
from evaluation.data.judgments import CriterionRatings, load_criterion
from evaluation.data.visibility import parts_of
from evaluation.leaderboards.nuggets.trees import BankNugget, trees_of
from stats.agreement.aggregation import majority
from stats.measures.nugget_banks import JudgedNugget, nugget_coverage, rubric_score
from stats.measures.nuggets import CREDIT, support_of
from stats.measures.scores import Score
from stats.ratings import grades_of
from stats.votes import TIES_OF_PEOPLE

VITAL = RubricElement.Importance.VITAL.value
Credits = dict[int, dict[int, float | None]]
# What the reports are judged by, the first that says something of a report and a nugget.
ASKED = (
    (TaskType.SENTENCE_NUGGET, "answers"),
    (TaskType.NUGGET, "support"),
    (TaskType.ANSWERABILITY, "answerability"),
)


@dataclass(frozen=True)
class Bounds:
    """The least and the most that a score can be; None where it is undefined."""

    low: float | None
    high: float | None

    @property
    def words(self) -> str:
        if self.low is None or self.high is None:
            return "–"
        low, high = f"{self.low:.2f}", f"{self.high:.2f}"
        return low if low == high else f"{low} – {high}"


@dataclass(frozen=True)
class Effect:
    """A report's scores by each measure, before and after. `number` counts the topic's reports without their names."""

    number: int
    run: str
    scores: tuple[tuple[Bounds, Bounds], ...]

    @property
    def changes(self) -> bool:
        return any(before != after for before, after in self.scores)


@dataclass(frozen=True)
class Effects:
    """The effects on all reports under these measures, with whose judgments they rest on; empty: nobody's."""

    measures: tuple[str, ...]
    reports: tuple[Effect, ...]
    source: str
    simulated: bool
    n_judged: int
    n_asked: int


def effects_of(study: Study | None, topic: Topic, before: Sequence[Standing], after: Sequence[Standing]) -> Effects:
    """Return the scores of the topic's reports with the nuggets as they stand and as they would.

    People's judgments count where there are any, else those of the first judge; a judge's figures on a topic that is
    held out are not shown. `n_judged` of `n_asked` pairs of a report and a nugget that would stand are judged.
    """
    elements = RubricElement.objects.in_bulk({one.key for one in (*before, *after) if one.key > 0})
    known, source = _credits(study, topic)
    trees = [_bank_nuggets(nuggets, elements) for nuggets in (before, after)]
    measures = [
        (name, keep, score) for name, keep, score in MEASURES if any(keep(one) for side in trees for one in side)
    ]
    found = []
    n_judged = 0
    for number, (pk, run) in numbered_reports(topic.pk).items():
        credits_of = known.get(pk, {})
        n_judged += sum(credits_of.get(one.element) is not None for one in trees[1])
        scores = []
        for _, keep, score in measures:
            sides = [
                _bounds(score(list(trees_of([one for one in side if keep(one)], credits_of).values())))
                for side in trees
            ]
            scores.append((sides[0], sides[1]))
        found.append(Effect(number, run, tuple(scores)))
    return Effects(
        measures=tuple(name for name, *_ in measures),
        reports=tuple(found),
        source=source.name if source else "",
        simulated=any(rater.simulated for rater in source.raters) if source else False,
        n_judged=n_judged,
        n_asked=len(found) * len(trees[1]),
    )


Measure = tuple[str, Callable[[BankNugget], bool], Callable[[Sequence[JudgedNugget]], Score]]
MEASURES: tuple[Measure, ...] = (
    ("all", lambda _: True, nugget_coverage),
    ("vital", lambda nugget: nugget.importance == VITAL, nugget_coverage),
    ("weight", lambda nugget: bool(nugget.weight), rubric_score),
)


def _bounds(score: Score) -> Bounds:
    return Bounds(*(score.bounds or (score.value, score.value)))


def _bank_nuggets(nuggets: Sequence[Standing], elements: Mapping[int, RubricElement]) -> list[BankNugget]:
    found = []
    for one in nuggets:
        element = elements.get(one.key)
        if element and element.masked:
            continue
        own = element.weight if element else None
        found.append(
            BankNugget(
                element=one.key,
                kind=element.kind if element else RubricElement.Kind.NUGGET,
                parent=one.parent,
                importance=one.importance,
                weight=own if one.weight is None else one.weight,
                aggregator=element.aggregator if element else one.aggregator,
            )
        )
    return found


# --- What is judged ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Source:
    """Whose judgments count: all people, or one judge."""

    name: str
    raters: tuple[Rater, ...]


def _credits(study: Study | None, topic: Topic) -> tuple[Credits, _Source | None]:
    """Return the credit of each of the topic's elements in each report, where it is judged, and by whom."""
    found: Credits = defaultdict(dict)
    criteria = study.criteria.select_related("study", "scale") if study else ()
    by_name = {(one.task_type, one.name): one for one in criteria}
    judged = [load_criterion(by_name[asked]) for asked in ASKED if asked in by_name]
    source = _source(judged, study, topic)
    if source is None:
        return found, None
    for of_criterion in reversed(judged):
        for (report, element), credit in _read(of_criterion, source, topic).items():
            if credit is not None:
                found[report][element] = credit
            else:
                found[report].setdefault(element, None)
    return found, source


def _source(judged: Sequence[CriterionRatings], study: Study | None, topic: Topic) -> _Source | None:
    people = {rater for one in judged for rater in one.raters if rater.kind == Rater.Kind.ASSESSOR}
    if people:
        return _Source("people", tuple(people))
    parts = parts_of(study) if study else None
    judge = next((rater for one in judged for rater in one.raters), None)
    held_out = parts is not None and topic.pk in parts.test
    return None if judge is None or held_out else _Source(judge.name, (judge,))


def _read(judged: CriterionRatings, source: _Source, topic: Topic) -> dict[tuple[int, int], float | None]:
    criterion, ratings = judged.criterion, judged.ratings
    columns = [place for place, rater in enumerate(judged.raters) if rater in source.raters]
    if not columns:
        return {}
    combined = majority(grades_of(ratings.codes[:, columns], ratings.numbers), ties=TIES_OF_PEOPLE).grades
    grades = dict(zip(ratings.items, combined.tolist(), strict=True))
    lowest = min(map(float, criterion.scale.values))
    items = Item.objects.filter(study=criterion.study_id, task_type=criterion.task_type, topic=topic)
    items = items.filter(report__isnull=False, element__isnull=False)
    said: dict[tuple[int, int], list[float]] = defaultdict(list)
    for item, report, element in items.values_list("pk", "report__pk", "element__pk"):
        said[report, element].append(grades.get(item, np.nan))
    if criterion.task_type == TaskType.SENTENCE_NUGGET:
        sentences = Counter(ReportSentence.objects.filter(report__topic=topic).values_list("report__pk", flat=True))
        return {pair: _by_sentence(of_pair, criterion.threshold, sentences[pair[0]]) for pair, of_pair in said.items()}
    if criterion.task_type == TaskType.ANSWERABILITY:
        return {pair: _yes(of_pair[0], criterion.threshold) for pair, of_pair in said.items()}
    supports = {
        pair: support_of(of_pair[0], threshold=criterion.threshold, lowest=lowest) for pair, of_pair in said.items()
    }
    return {pair: CREDIT[support] if support else None for pair, support in supports.items()}


def _yes(grade: float, threshold: float) -> float | None:
    return None if np.isnan(grade) else float(grade >= threshold)


def _by_sentence(grades: Sequence[float], threshold: float, n_sentences: int) -> float | None:
    """A nugget is answered where a sentence answers it rightly, and not only where every sentence was judged."""
    known = [grade for grade in grades if not np.isnan(grade)]
    if any(grade >= threshold for grade in known):
        return 1.0
    return 0.0 if known and len(known) == n_sentences else None
