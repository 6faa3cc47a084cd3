from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.calibration.active_sampling import (
    TooFewItems,
    draw_by_doubt,
    draw_by_strata,
    inclusion_probabilities,
    nearness,
    systematic_sample,
)
from stats.calibration.allocation import strata_of
from stats.calibration.estimators import people_score
from stats.calibration.labels import Labels, weights_of_waves
from tests.stats.labelled import only, population

NAN = np.nan


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40), st.data())
def test_probabilities_are_never_0_and_sum_to_the_draw(scores: list[float], data: st.DataObject) -> None:
    n = data.draw(st.integers(1, len(scores)))

    probabilities = inclusion_probabilities(np.array(scores), n)

    assert probabilities.sum() == pytest.approx(n)
    assert (probabilities > 0).all()
    assert (probabilities <= 1).all()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 100), min_size=2, max_size=40), st.data())
def test_a_draw_has_the_size_that_was_asked_for(scores: list[float], data: st.DataObject) -> None:
    n = data.draw(st.integers(1, len(scores)))

    drawn = draw_by_doubt(np.array(scores), n, available=np.ones(len(scores), bool), seed=data.draw(st.integers(0, 99)))

    assert drawn.items.sum() == n
    assert (drawn.probabilities[drawn.items] > 0).all()


def test_items_are_drawn_as_often_as_their_probabilities_say() -> None:
    probabilities = inclusion_probabilities(np.array([0, 0.1, 0.2, 0.5, 1, 1, 2, 3, 5, 30]), 4)

    times = np.mean([systematic_sample(probabilities, seed=seed) for seed in range(4_000)], axis=0)

    assert probabilities[-1] == 1
    errors = np.sqrt(probabilities * (1 - probabilities) / 4_000)
    assert (np.abs(times - probabilities) <= 4 * errors + 1e-12).all()


def test_half_of_a_draw_goes_to_all_items_alike() -> None:
    probabilities = inclusion_probabilities(np.array([0.0] * 50 + [1.0] * 50), 20)

    assert probabilities[0] == pytest.approx(20 / 100 / 2)
    assert probabilities[-1] == pytest.approx(20 / 100 / 2 + 20 / 50 / 2)


def test_an_active_draw_gives_unbiased_means() -> None:
    yes, grades = population(np.random.default_rng(1), 600)
    doubt = 0.5 - np.abs(grades - 2.5) / 6

    means, plain = [], []
    for seed in range(400):
        drawn = draw_by_doubt(doubt, 80, available=np.ones(600, bool), seed=seed)
        weights = np.where(drawn.items, 1 / drawn.probabilities, NAN)
        people = only(yes, np.flatnonzero(drawn.items))
        means.append(np.nansum(weights * people) / 600)
        plain.append(people_score(Labels(people, grades, weights=weights)).estimate.value or 0.0)

    error = float(np.std(means)) / 20
    assert np.mean(means) == pytest.approx(yes.mean(), abs=4 * error)
    assert np.mean(plain) == pytest.approx(yes.mean(), abs=4 * error)


def test_a_second_draw_that_learned_from_the_first_is_unbiased_with_it() -> None:
    yes, grades = population(np.random.default_rng(2), 400)

    totals = []
    for seed in range(400):
        first = np.zeros(400, bool)
        first[np.random.default_rng(seed).choice(400, 60, replace=False)] = True
        known = Labels(only(yes, np.flatnonzero(first)), grades, weights=np.full(400, 400 / 60))
        second = draw_by_strata(known, strata_of(grades), 60, available=~first, seed=seed)
        weights = weights_of_waves(
            second.items.astype(np.int64),
            np.where(first, 60 / 400, second.probabilities),
            drawn=first | second.items,
        )
        totals.append(np.nansum(weights * yes))

    assert np.mean(totals) / 400 == pytest.approx(yes.mean(), abs=4 * float(np.std(totals)) / 400 / 20)


def test_strata_are_drawn_as_neyman_allots() -> None:
    """People differ on grade 1 alone, so it gets all but the other strata's two."""
    people = np.array([1.0, 1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1] + [NAN] * 200)
    grades = np.array([0.0] * 4 + [1.0] * 8 + [0.0] * 100 + [1.0] * 100)
    labels = Labels(people, grades, weights=np.where(np.isfinite(people), 10.0, NAN))
    strata = strata_of(grades)

    drawn = draw_by_strata(labels, strata, 40, available=~labels.labelled, seed=3)

    by_grade = [int(drawn.items[grades == grade].sum()) for grade in (0, 1)]
    assert sum(by_grade) == 40
    assert by_grade[1] > by_grade[0] >= 2
    assert not drawn.items[labels.labelled].any()
    assert drawn.probabilities[labels.labelled].max() == 0
    assert drawn.probabilities[-1] == pytest.approx(by_grade[1] / 100)
    assert drawn.strata is strata


def test_the_same_seed_draws_the_same_items() -> None:
    doubt, available = np.arange(50.0), np.ones(50, bool)

    first, again, other = (draw_by_doubt(doubt, 10, available=available, seed=seed).items for seed in (1, 1, 2))

    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_an_ungraded_item_is_as_doubtful_as_any() -> None:
    drawn = draw_by_doubt(np.array([0.1, 0.5, NAN, 0.2]), 2, available=np.ones(4, bool))

    assert drawn.probabilities[2] == drawn.probabilities[1] == drawn.probabilities.max()


@pytest.mark.parametrize("n", [0, 4])
def test_no_more_is_drawn_than_is_available(n: int) -> None:
    with pytest.raises(TooFewItems, match="3 are available"):
        draw_by_doubt(np.ones(5), n, available=np.array([True, True, True, False, False]))


def test_doubt_below_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        inclusion_probabilities(np.array([-1.0, 1]), 1)


def test_doubt_is_greatest_at_the_threshold() -> None:
    assert nearness(np.array([3.0, 2.5, 0]), 3).tolist() == pytest.approx([1, 2 / 3, 1 / 4])
