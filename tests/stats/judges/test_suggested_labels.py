"""What a suggestion does to labels: by hand on a few, and found again where it was planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from stats.intervals import Estimate
from stats.judges.suggested_labels import (
    AFTER,
    NONE,
    POST_EDIT,
    VERIFY,
    SuggestedLabels,
    agreement_of_pairs,
    agreement_with_the_unaided,
    distance_moved,
    mean_seconds,
    pull,
    seconds_saved,
    share_following,
    shift,
    turned,
    unaided_labels,
)
from tests.simulations.promises import broken
from tests.simulations.scenarios import side_of
from tests.simulations.suggestions import FOUR, PULLS, SHAPES, Planted, draw, labels_of


def labels(*rows: tuple[int, float, float, float, int, int, int], p: float = 0.5) -> SuggestedLabels:
    """Return labels of rows of arm, grade, first grade, judge's grade, item, rater, topic."""
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    arms, grades, first, judge, items, raters, topics = columns
    weights = np.full(len(rows), 1 / p)
    seconds = np.where(arms == NONE, 20.0, 12.0)
    return SuggestedLabels(
        arms, weights, grades.astype(float), first.astype(float), judge.astype(float), seconds, items, raters, topics
    )


NAN = float("nan")


def trec_rag() -> SuggestedLabels:
    """56 of 100 labels are the judge's without a suggestion, 72 of 100 with its grade filled in, over ten topics."""
    rows = []
    for n in range(200):
        arm, nth = (NONE, POST_EDIT)[n % 2], n // 2
        follows = nth % 25 < (14 if arm == NONE else 18)
        rows.append((arm, float(follows), float(follows) if arm == NONE else NAN, 1.0, nth, n % 2, nth % 10))
    return labels(*rows)


def test_gives_the_share_that_follows_the_judge_the_shift_and_the_pull() -> None:
    found = trec_rag()

    assert share_following(found, NONE).value == pytest.approx(0.56)
    assert share_following(found, POST_EDIT).value == pytest.approx(0.72)
    assert shift(found, POST_EDIT).value == pytest.approx(0.16)
    assert pull(found, POST_EDIT).value == pytest.approx(0.16 / 0.44)
    assert seconds_saved(found, POST_EDIT).value == pytest.approx(8)
    assert mean_seconds(found, POST_EDIT).value == pytest.approx(12)


def test_weighs_a_label_by_the_probability_of_its_arm() -> None:
    found = labels((NONE, 1, 1, 1, 0, 0, 0), (NONE, 0, 0, 1, 1, 0, 0), (POST_EDIT, 1, NAN, 1, 0, 1, 0))
    weighted = replace(found, weights=np.array([3.0, 1.0, 1.0]))

    assert share_following(weighted, NONE).value == pytest.approx(0.75)
    assert shift(weighted, POST_EDIT).value == pytest.approx(0.25)


def test_has_a_reason_in_the_place_of_an_interval_from_few_topics() -> None:
    few = trec_rag().of(trec_rag().topics < 4)

    found = shift(few, POST_EDIT)

    assert found.value is not None
    assert found.low is None
    assert found.reason == "4 topics are too few for an interval, which takes 5"


def test_has_no_pull_where_everybody_agrees_with_the_judge_already() -> None:
    found = labels((NONE, 1, 1, 1, 0, 0, 0), (POST_EDIT, 1, NAN, 1, 0, 1, 0))

    assert pull(found, POST_EDIT).value is None
    assert "nobody can be pulled" in pull(found, POST_EDIT).reason
    assert shift(found, POST_EDIT).value == 0


@pytest.mark.parametrize("figure", [shift, pull, seconds_saved, distance_moved])
def test_an_arm_without_labels_is_undefined_and_not_zero(figure: Callable[[SuggestedLabels, int], Estimate]) -> None:
    found = trec_rag()

    assert figure(found, VERIFY).value is None
    assert figure(found.of(found.arms == POST_EDIT), POST_EDIT).value is None


def test_after_tells_how_many_first_grades_were_turned_into_the_judges() -> None:
    found = labels(
        (AFTER, 1, 0, 1, 0, 0, 0),  # turned
        (AFTER, 0, 0, 1, 1, 0, 0),  # kept
        (AFTER, 2, 0, 1, 2, 0, 0),  # changed, but not into the judge's
        (AFTER, 1, 1, 1, 3, 0, 0),  # the same from the beginning
    )

    assert turned(found).value == pytest.approx(1 / 3)
    assert unaided_labels(found).grades.tolist() == [0, 0, 0, 1]


def test_distance_is_in_units_of_the_scale_and_positive_towards_the_judge() -> None:
    found = labels((NONE, 0, 0, 3, 0, 0, 0), (VERIFY, 2, NAN, 3, 0, 1, 0))

    assert distance_moved(found, VERIFY).value == pytest.approx(2)


def test_pairs_are_of_one_item_and_two_people() -> None:
    found = labels(
        (VERIFY, 1, NAN, 1, 7, 0, 0),
        (VERIFY, 1, NAN, 1, 7, 1, 0),
        (VERIFY, 0, NAN, 1, 7, 2, 0),
        (VERIFY, 1, NAN, 1, 8, 0, 0),
        (AFTER, 1, 0, 1, 7, 3, 0),
        (NONE, 1, 1, 1, 8, 1, 0),
        (NONE, 1, 1, 1, 8, 0, 0),
    )

    assert agreement_of_pairs(found, VERIFY).value == pytest.approx(1 / 3)
    # Item 7 against the first grade 0: no, no, yes. Item 8 against the other person's 1: yes; not against one's own.
    assert agreement_with_the_unaided(found, VERIFY).value == pytest.approx(2 / 4)
    assert agreement_of_pairs(found, POST_EDIT).value is None


def test_a_planted_pull_is_recovered_within_its_interval() -> None:
    """95 % of studies; the figures of 1,000 stand in docs/suggestions.md."""
    planted, rng = Planted(15, 6, 0.56, 0.05, FOUR, PULLS), np.random.default_rng(12)
    held: dict[str, int] = {}
    for _ in range(150):
        for name, (found, truth) in draw(planted, rng).items():
            held[name] = held.get(name, 0) + (side_of(found, truth) == 0)

    assert len(held) == 7
    assert not [name for name, n in held.items() if broken(n, 150, most=1.0)]


def test_another_pull_than_the_planted_one_is_not_held() -> None:
    """The check above can fail: no interval of a strong pull holds a pull of nothing."""
    rng = np.random.default_rng(3)
    found = [pull(labels_of(replace(SHAPES["four arms, .56 follow"], topics=25), rng), POST_EDIT) for _ in range(20)]

    assert all(one.low is not None and one.low > 0 for one in found)
