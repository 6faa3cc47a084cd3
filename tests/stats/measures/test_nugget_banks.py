"""Scores by nugget banks, by hand."""

from __future__ import annotations

from itertools import product

import pytest

from stats.measures.nugget_banks import Aggregator, JudgedNugget, nugget_coverage, rubric_score


def parts(aggregator: Aggregator, *given: float | None) -> JudgedNugget:
    return JudgedNugget(aggregator=aggregator, parts=tuple(map(JudgedNugget, given)))


@pytest.mark.parametrize(
    ("aggregator", "given", "expected"),
    [
        ("and", (1, 0.5), (0.5, 0.5)),
        ("and", (1, None), (0, 1)),
        ("and", (0.5, None), (0, 0.5)),
        ("or", (0, 0.5), (0.5, 0.5)),
        ("", (0, 0.5), (0.5, 0.5)),
        ("or", (0.5, None), (0.5, 1)),
        ("or", (1, None), (1, 1)),
        ("sum", (1, 0.5, 0, None), (0.375, 0.625)),
        ("not", (0.5,), (0.5, 0.5)),
        ("not", (0, None), (0, 1)),
        ("not", (1, None), (0, 0)),
    ],
)
def test_aggregators_by_hand(
    aggregator: Aggregator, given: tuple[float | None, ...], expected: tuple[float, float]
) -> None:
    assert parts(aggregator, *given).bounds == expected


def test_coverage_by_hand() -> None:
    # (½ + 1 + ¼ + ½) / 4, and one of the nine leaves has no grade: SUM could be ½ as well.
    nuggets = [parts("and", 1, 0.5), parts("or", 0, 1), parts("sum", 0.5, 0, 0.5, None), JudgedNugget(0.5)]

    found = nugget_coverage(nuggets)

    assert found.value == pytest.approx((0.5 + 1 + 0.25 + 0.5) / 4)
    assert found.bounds == pytest.approx(((0.5 + 1 + 0.25 + 0.5) / 4, (0.5 + 1 + 0.5 + 0.5) / 4))
    assert found.ungraded == 1


def test_a_nugget_that_must_not_be_there_earns_nothing_without_a_grade() -> None:
    assert nugget_coverage([JudgedNugget(None, aggregator="not")]).value == 0
    assert nugget_coverage([JudgedNugget(0.0, aggregator="not")]).value == 1


def test_a_rubric_by_hand() -> None:
    # 5·1 + 3·½ − 4·1 of 8 positive points; without its second grade 1 to 4 of 8.
    rubric = [JudgedNugget(1, 5), JudgedNugget(0.5, 3), JudgedNugget(1, -4), JudgedNugget(1)]

    assert rubric_score(rubric).value == pytest.approx(2.5 / 8)
    open_rubric = rubric_score([rubric[0], JudgedNugget(None, 3), rubric[2]])
    assert (open_rubric.value, open_rubric.bounds, open_rubric.ungraded) == (1 / 8, (1 / 8, 4 / 8), 1)
    assert rubric_score(rubric).bounds is None


def test_a_rubric_may_be_negative_and_needs_positive_points() -> None:
    assert rubric_score([JudgedNugget(0, 2), JudgedNugget(1, -4)]).value == -2
    assert rubric_score([JudgedNugget(1, -4)]).value is None
    assert nugget_coverage([]).value is None
    unknown = rubric_score([JudgedNugget(1, 2), JudgedNugget(None, -1)])
    assert (unknown.value, unknown.bounds) == (0.5, (0.5, 1.0))


def test_bounds_are_the_extremes_over_all_grades_that_are_not_there() -> None:
    def bank(first: float | None, second: float | None) -> list[JudgedNugget]:
        return [
            JudgedNugget(aggregator="and", weight=2, parts=(parts("not", first), JudgedNugget(0.5), parts("or", 0, 1))),
            JudgedNugget(aggregator="sum", weight=-1, parts=(JudgedNugget(second), JudgedNugget(1))),
        ]

    for measure in (nugget_coverage, rubric_score):
        scores = [measure(bank(*given)).value for given in product((0.0, 0.5, 1.0), repeat=2)]
        reached = [score for score in scores if score is not None]
        found = measure(bank(None, None))
        assert (found.value, found.bounds) == (min(reached), (min(reached), max(reached)))
