"""Whatever two columns of grades look like, every figure of them is a number or a refusal in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stats.agreement.aggregation import dawid_skene_of_codes
from stats.agreement.by_grade import agreement_by_grade, agreement_by_rater
from stats.agreement.pattern_correlations import pairs_of_values, rank_correlations
from stats.agreement.report import measure_agreement
from stats.calibration.estimators import correct
from stats.calibration.labels import Labels
from stats.calibration.planning import least_half_width
from stats.calibration.recalibration import recalibration_curve
from stats.intervals import Estimate
from stats.judges.alt_test import alternative_annotator_test
from stats.judges.bias import length_bias, position_bias, self_preference
from stats.judges.comparison import compare
from stats.judges.errors import direction_of, pairs_of_raters
from stats.judges.orders import correlate_orders
from stats.judges.recalibrated_grades import recalibrated
from stats.judges.side_by_side import compare_judges
from stats.judges.summary import brief_of_items
from stats.judges.text_level import compare_rolled_up, roll_up
from stats.judges.threshold_choice import NoHalves, choose_threshold
from stats.ratings import FloatArray, IntArray, Ratings
from stats.refusals import Refused

SCALE = (0.0, 1.0, 2.0)
NONE = np.nan


@dataclass(frozen=True)
class Columns:
    """What people and a judge gave, and each item's topic, shape (items,). NaN: the judge's reply has no grade."""

    people: FloatArray
    judge: FloatArray
    topics: IntArray

    @property
    def people_yes(self) -> FloatArray:
        return (self.people >= 1).astype(np.float64)

    @property
    def judge_yes(self) -> FloatArray:
        return np.where(np.isnan(self.judge), NONE, (self.judge >= 1).astype(np.float64))

    def ratings(self, *columns: FloatArray) -> Ratings:
        codes = np.stack([np.where(np.isnan(column), -1, np.nan_to_num(column)) for column in columns], axis=1)
        return Ratings(
            np.asfortranarray(codes.astype(np.int16)),
            SCALE,
            "ordinal",
            range(len(codes)),
            [f"rater {place}" for place in range(len(columns))],
            topics=self.topics,
            texts=np.arange(len(codes)) // 2,
        )


@st.composite
def columns(draw: st.DrawFn) -> Columns:
    n = draw(st.integers(1, 90))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    grades = st.sampled_from(
        [
            np.zeros(n),
            np.full(n, 2.0),
            rng.integers(0, 3, n).astype(float),
            2.0 * rng.integers(0, 2, n),
            2.0 * (rng.random(n) < 0.03),
        ]
    )
    people, other = draw(grades), draw(grades)
    judge = draw(
        st.sampled_from([people, 2 - people, other, np.full(n, NONE), np.where(rng.random(n) < 0.3, NONE, people)])
    )
    return Columns(people, judge, rng.integers(0, draw(st.integers(1, 12)), n))


def of_agreement(one: Columns) -> Any:
    both = one.ratings(one.people, one.judge)
    return [measure_agreement(both), agreement_by_grade(both), agreement_by_rater(both), of_pairs(both, one.topics)]


def of_pairs(both: Ratings, topics: IntArray) -> Any:
    dawid_skene_of_codes(both.codes, n_grades=3)
    return pairs_of_raters(list(both.codes.T), 3, topics)


def of_orders(one: Columns) -> Any:
    known = ~np.isnan(one.judge)
    systems = (one.people.reshape(1, -1), 2 - one.people.reshape(1, -1))
    return [
        rank_correlations(pairs_of_values(one.people[known], one.judge[known], one.topics[known])),
        correlate_orders(np.concatenate(systems), [np.concatenate(systems), np.concatenate(systems[::-1])]),
    ]


def of_a_judge(one: Columns) -> Any:
    people, judge = one.ratings(one.people, one.people), one.ratings(one.judge)
    none = np.isnan(one.judge)
    rolled = roll_up(one.judge, np.arange(len(none)), n_texts=len(none), rule="highest", yes_from=1)
    return [
        compare(people, judge, at=1, people_at=1, same_scale=True),
        brief_of_items(people, judge, at=1, people_at=1, same_scale=True),
        compare_rolled_up(rolled, people, at=1, people_at=1, thresholds=[1, 2]),
        direction_of(one.people >= 1, one.judge >= 1, none, one.topics),
    ]


def of_tests(one: Columns) -> Any:
    three = np.stack([one.people, one.people, 2 - one.people], axis=1)
    names, yes = ("a", "b", "c"), one.judge_yes
    lengths = np.tile(np.linspace(100.0, 340.0, 7), len(yes))[: len(yes)]
    return [
        alternative_annotator_test(three, one.judge, names, one.topics, level="ordinal"),
        alternative_annotator_test(three, one.judge, names, level="nominal"),
        length_bias(one.people_yes, yes, lengths, one.topics),
        position_bias(one.people_yes, yes, one.topics),
        self_preference(
            ["a"] * len(yes), ["a", "b"] * (len(yes) // 2) + ["a"] * (len(yes) % 2), yes, one.people, one.topics
        ),
    ]


def of_thresholds(one: Columns) -> Any:
    try:
        return choose_threshold(one.people >= 1, one.judge, one.topics, thresholds=(1, 2), people_at=1)
    except NoHalves as refused:
        return str(refused)


def of_several(one: Columns) -> Any:
    yes, people = one.judge_yes, one.people_yes
    return [
        compare_judges(people == 1, judges, one.topics)
        for judges in ([yes, yes], [yes, 1 - yes], [yes, yes, people], [people, people], [yes])
    ]


def of_labels(one: Columns) -> Any:
    labelled = np.arange(len(one.people)) % 2 == 0
    people, yes = np.where(labelled, one.people_yes, NONE), one.judge_yes
    found: list[Any] = []
    for weights in (None, np.where(labelled, 2.0, NONE)):
        for topics in (None, one.topics):
            labels = Labels(people, yes, one.judge, weights, topics)
            found += [correct(labels, label_shift=True), recalibration_curve(labels), least_half_width(labels)]
    recalibrated(one.people, one.judge, one.topics)
    return found


EVERY: tuple[Callable[[Columns], Any], ...] = (
    of_agreement,
    of_orders,
    of_a_judge,
    of_tests,
    of_thresholds,
    of_several,
    of_labels,
)
RIGHT = np.tile([2.0, 0.0, 2.0], 30)
TOPICS = np.arange(90) // 9


@pytest.mark.slow
@pytest.mark.parametrize("function", EVERY)
@given(one=columns())
@settings(max_examples=60)
@example(one=Columns(RIGHT, RIGHT, TOPICS))
@example(one=Columns(RIGHT, 2 - RIGHT, TOPICS))
@example(one=Columns(RIGHT, np.zeros(90), TOPICS))
@example(one=Columns(np.zeros(90), np.zeros(90), TOPICS))
def test_is_a_figure_or_a_reason(function: Callable[[Columns], Any], one: Columns) -> None:
    try:
        found = function(one)
    except Refused as refused:
        found = str(refused)

    for place, value in shown(found, function.__name__):
        if isinstance(value, Estimate):
            assert value.value is not None or value.reason, place
            assert (value.low is None) == (value.high is None), place
        elif isinstance(value, float):
            assert not math.isnan(value), place
    assert found is not None or function is of_thresholds


@pytest.mark.parametrize("seed", range(20))
def test_two_judges_with_equal_grades_are_the_best_together(seed: int) -> None:
    rng = np.random.default_rng(seed)
    people = rng.random(400) < 0.5
    judge = np.where(rng.random(400) < 0.8, people, ~people).astype(float)

    found = compare_judges(people, [judge, judge.copy()], np.arange(400) // 20)

    assert found.corrected.value == pytest.approx(found.kappas[0].value)
    assert found.corrected.low is not None
    assert found.difference(0, 1) == pytest.approx((0, 0, 0))


def shown(found: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Every estimate and number in a result, with where it stands; arrays are rows by item or topic, not shown."""
    yield place, found
    if is_dataclass(found):
        for field in fields(found):
            yield from shown(getattr(found, field.name), f"{place}.{field.name}")
    elif isinstance(found, Mapping):
        for name, value in found.items():
            yield from shown(value, f"{place}[{name}]")
    elif isinstance(found, list | tuple):
        for number, value in enumerate(found):
            yield from shown(value, f"{place}[{number}]")
