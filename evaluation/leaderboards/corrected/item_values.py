"""Scores of reports and answers as sums over items: what each item's label gains, and how much it counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from collection.models import Criterion
from collection.models.studies import TaskType
from evaluation.leaderboards.answer_points import key_points, stated_importance
from evaluation.leaderboards.answer_scores import grades_by_rater, rated
from evaluation.leaderboards.answer_texts import unanswerable_topics
from evaluation.leaderboards.sources import JudgmentLoader, Scorer, Source, yes
from stats.measures.cited_reports import support_of_grade
from stats.measures.clapnq import WORTH
from stats.measures.nuggets import CREDIT, WEIGHTS, support_of
from stats.ranking.measure_names import SystemMeasure
from stats.ranking.measures.citations import Citations
from stats.ranking.measures.nuggets import Nuggets
from stats.ranking.measures.preferences import Preferences
from stats.ranking.measures.ratings import Ratings
from stats.ratings import FloatArray, IntArray

# One item's part in one system's score on a topic: item, topic, system, share, and the value by people and the judge.
Part = tuple[int, int, str, float, float, float]


@dataclass(frozen=True)
class ItemValues:
    """What a judge was asked about, in parts, and what people and the judge say there.

    - `items`, `topics`: primary keys of each part's item and topic; an item that counts for two systems with different
      values, as a preference does, is there twice;
    - `people`, `judge`: values, NaN where there is none;
    - `systems`, `entries`, `shares`: that part `entries[i]` counts `shares[i]` for the system `names[systems[i]]`.
    """

    items: IntArray
    topics: IntArray
    people: FloatArray
    judge: FloatArray
    systems: IntArray
    entries: IntArray
    shares: FloatArray
    names: tuple[str, ...]


def read_item_values(scorer: Scorer, measure: SystemMeasure, people: Source, judge: Source) -> ItemValues | None:
    """Return the measure as a sum over the items that the judge was asked about; None if it is none."""
    parts = PARTS[measure.family](scorer, measure, people, judge) if measure.is_sum else None
    if parts is None:
        return None
    found = list(parts)
    names = tuple(sorted({part[2] for part in found}))
    columns = [np.array(column) for column in zip(*found, strict=True)] if found else [np.empty(0)] * 6
    items, topics, systems, shares, by_people, by_judge = columns
    return ItemValues(
        items=items.astype(np.int64),
        topics=topics.astype(np.int64),
        people=by_people.astype(np.float64),
        judge=by_judge.astype(np.float64),
        systems=np.searchsorted(np.array(names), systems).astype(np.int64) if names else systems.astype(np.int64),
        entries=np.arange(len(found)),
        shares=shares.astype(np.float64),
        names=names,
    )


def _asked(loader: JudgmentLoader, judge: Source) -> set[int]:
    judged = loader.judgments(judge.criterion)
    rows = np.flatnonzero(judged.asked[:, list(judge.columns)].any(axis=1))
    return {judged.ratings.items[row] for row in rows.tolist()}


def _of_reports(scorer: Scorer, people: Source, judge: Source) -> list[tuple[int, int, str, int]]:
    """Return each item about a report that the judge was asked about, with its topic, run and element."""
    rows = scorer.loader.items_under(people.criterion).filter(report__isnull=False)
    parts = rows.values_list("pk", "topic__pk", "report__run__name", "element__pk")
    asked = _asked(scorer.loader, judge)
    return [row for row in scorer.once(f"reports under {people.criterion.pk}", lambda: list(parts)) if row[0] in asked]


def _yes_or_no(scorer: Scorer, measure: SystemMeasure, people: Source, judge: Source) -> Iterator[Part]:
    """A report's share of yes, over all of its items or over all key points of the topic."""
    sizes = _n_key_points(scorer) if measure.of_answers else {}
    own = {pk for pk, _, run in _points(scorer) if run} if sizes else set()
    rows = [row for row in _of_reports(scorer, people, judge) if row[3] not in own]
    n_items: dict[tuple[int, str], int] = defaultdict(int)
    for _, topic, run, _ in rows:
        n_items[topic, run] += 1
    by_people, by_judge = scorer.loader.item_grades(people), scorer.loader.item_grades(judge)
    for item, topic, run, _ in rows:
        values = (
            _number(yes(by_people.get(item), people.criterion.threshold)),
            _number(yes(by_judge.get(item), judge.criterion.threshold)),
        )
        yield item, topic, run, 1 / (sizes.get(topic) or n_items[topic, run]), *values


def _number(flag: bool | None) -> float:
    return float("nan") if flag is None else float(flag)


def _points(scorer: Scorer) -> list[tuple[int, str, str]]:
    return scorer.once("key points", lambda: key_points(scorer))


def _n_key_points(scorer: Scorer) -> dict[int, int]:
    """Return how many final key points each topic has, by primary key."""
    names = {name: pk for pk, name in scorer.topic_names.items()}
    found: dict[int, int] = defaultdict(int)
    for _, topic, run in _points(scorer):
        if not run:
            found[names[topic]] += 1
    return found


def _nuggets(scorer: Scorer, measure: Nuggets, people: Source, judge: Source) -> Iterator[Part] | None:
    """Credit for nuggets; which are vital must be known without labels, or the sum is over unknown items."""
    importance = scorer.once("stated importance", lambda: stated_importance(scorer))
    if measure.name.endswith(("vital", "weighted")) and scorer.loader.criterion_named(TaskType.NUGGET, "importance"):
        rows = _of_reports(scorer, people, judge)
        if any(element not in importance for *_, element in rows):
            return None
    return _credits(scorer, importance, measure.name, people, judge)


def _credits(scorer: Scorer, importance: Mapping[int, str], name: str, people: Source, judge: Source) -> Iterator[Part]:
    weights: dict[str, float] = {"vital": 1.0, "okay": 0.0 if name.endswith("vital") else 1.0}
    if name.endswith("weighted"):
        weights = {str(importance): weight for importance, weight in WEIGHTS.items()}
    rows = [(*row[:3], weights[importance.get(row[3], "okay")]) for row in _of_reports(scorer, people, judge)]
    rows = [row for row in rows if row[3]]
    totals: dict[tuple[int, str], float] = defaultdict(float)
    for _, topic, run, weight in rows:
        totals[topic, run] += weight
    sides = [(scorer.loader.item_grades(source), source.criterion) for source in (people, judge)]
    for item, topic, run, weight in rows:
        values = [_credit(grades.get(item), criterion, strict="strict" in name) for grades, criterion in sides]
        yield item, topic, run, weight / totals[topic, run], values[0], values[1]


def _credit(grade: float | None, criterion: Criterion, *, strict: bool) -> float:
    support = support_of(grade, threshold=criterion.threshold, lowest=min(map(float, criterion.scale.values)))
    if support is None:
        return float("nan")
    return float(CREDIT[support] == 1) if strict else CREDIT[support]


def _citations(scorer: Scorer, measure: Citations, people: Source, judge: Source) -> Iterator[Part]:
    """The support of a report's citations, each of which is an item; one without a text here is none."""
    rows = _of_reports(scorer, people, judge)
    n_items: dict[tuple[int, str], int] = defaultdict(int)
    for _, topic, run, _ in rows:
        n_items[topic, run] += 1
    sides = [(scorer.loader.item_grades(source), source.criterion.threshold) for source in (people, judge)]
    for item, topic, run, _ in rows:
        values = [_support(grades.get(item), at, whole=measure.name == "citation-support") for grades, at in sides]
        yield item, topic, run, 1 / n_items[topic, run], values[0], values[1]


def _support(grade: float | None, threshold: float, *, whole: bool) -> float:
    if grade is None or np.isnan(grade):
        return float("nan")
    support = support_of_grade(grade, threshold=threshold)
    return float(support == 1) if whole else support


def _ratings(scorer: Scorer, measure: Ratings, people: Source, judge: Source) -> Iterator[Part]:
    """The mean grade of an answer, which is one item."""
    left_out = scorer.once("unanswerable", lambda: unanswerable_topics(scorer)) if measure.of_answerable else set()
    criteria = [scorer.loader.criterion_named(TaskType.ANSWER_EVALUATION, one) for one in measure.criteria]
    sides = [
        [grades_by_rater(scorer.loader, source, criterion) if criterion else {} for criterion in criteria]
        for source in (people, judge)
    ]
    for item, topic, run, _ in _of_reports(scorer, people, judge):
        if topic in left_out:
            continue
        scores = [rated([of.get(item, {}) for of in by_rater])[0].value for by_rater in sides]
        values = [float("nan") if score is None else score for score in scores]
        yield item, topic, run, 1.0, values[0], values[1]


def _preferences(scorer: Scorer, measure: Preferences, people: Source, judge: Source) -> Iterator[Part]:
    """Wins over comparisons: each pair counts for both of its systems, the mean over its raters."""
    rows = scorer.loader.items_under(people.criterion).filter(report__isnull=False, other_report__isnull=False)
    parts = rows.values_list("pk", "topic__pk", "report__run__name", "other_report__run__name")
    asked, pairs = _asked(scorer.loader, judge), scorer.once(f"pairs under {people.criterion.pk}", lambda: list(parts))
    listed = [row for row in pairs if row[0] in asked]
    n_pairs: dict[tuple[int, str], int] = defaultdict(int)
    for _, topic, *systems in listed:
        for system in systems:
            n_pairs[topic, system] += 1
    sides = [grades_by_rater(scorer.loader, source, source.criterion) for source in (people, judge)]
    tied = WORTH[measure.ties]
    for item, topic, first, second in listed:
        for system, sign in ((first, 1), (second, -1)):
            values = [_won([sign * grade for grade in of.get(item, {}).values()], tied) for of in sides]
            yield item, topic, system, 1 / n_pairs[topic, system], values[0], values[1]


def _won(grades: list[float], tied: float) -> float:
    known = [grade for grade in grades if not np.isnan(grade)]
    if not known:
        return float("nan")
    return float(np.mean([1.0 if grade > 0 else tied if grade == 0 else 0.0 for grade in known]))


PARTS: dict[str, Callable[[Scorer, Any, Source, Source], Iterator[Part] | None]] = {
    "coverage": _yes_or_no,
    "key points": _yes_or_no,
    "nuggets": _nuggets,
    "ratings": _ratings,
    "citations": _citations,
    "preferences": _preferences,
}
