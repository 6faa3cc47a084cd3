from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.calibration.allocation import NoAllocation, allocate, spreads, strata_of
from stats.calibration.labels import Labels

NAN = np.nan


def test_labels_go_where_there_is_most_to_learn() -> None:
    given_to = allocate(np.array([1_000, 1_000, 50]), np.array([0.1, 0.4, 0.0]), 102)

    assert given_to.tolist() == [20, 80, 2]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 7), st.integers(0, 4)), min_size=1, max_size=3), st.data())
def test_no_allocation_in_whole_numbers_has_less_variance(strata: list[tuple[int, int]], data: st.DataObject) -> None:
    sizes, sds = np.array([size for size, _ in strata]), np.array([float(sd) for _, sd in strata])
    least = np.minimum(sizes, 2)
    n = data.draw(st.integers(int(least.sum()), int(sizes.sum())))

    found = allocate(sizes, sds, n)

    def variance(labels: Any) -> float:
        return float(((sizes * sds) ** 2 / np.array(labels)).sum())

    others = product(*(range(low, high + 1) for low, high in zip(least, sizes, strict=True)))
    assert found.sum() == n
    assert (found >= least).all()
    assert (found <= sizes).all()
    assert variance(found) <= min(variance(other) for other in others if sum(other) == n) + 1e-9


@pytest.mark.parametrize("n", [3, 21])
def test_an_allocation_below_the_floors_or_above_the_items_is_refused(n: int) -> None:
    with pytest.raises(NoAllocation, match="need 4 at least and hold 20"):
        allocate(np.array([10, 10]), np.array([1.0, 1.0]), n)


def test_strata_are_grades_parted_by_disagreement() -> None:
    grades = np.array([0.0, 0, 0, 3, 3, NAN])

    strata = strata_of(grades, np.array([0.1, 0.1, 0.5, 0.2, 0.4, NAN]))

    assert strata.names == ("grade 0", "grade 0, disputed", "grade 3", "grade 3, disputed", "ungraded")
    assert strata.numbers.tolist() == [0, 0, 1, 2, 3, 4]
    assert strata.sizes.tolist() == [2, 1, 1, 1, 1]


def test_a_stratum_whose_few_labels_agree_is_not_taken_for_certain() -> None:
    people = np.array([1.0, 1, 1, 0, 1, 0, 1, 0, NAN])
    strata = strata_of(np.array([0.0, 0, 0, 1, 1, 1, 1, 1, 2]))

    found = spreads(Labels(people, np.zeros(9), weights=np.ones(9)), strata)

    common = 1.2 / 6
    assert found**2 == pytest.approx([2 * common / 4, (1.2 + 2 * common) / 6, common])


def test_without_labels_all_strata_spread_alike() -> None:
    strata = strata_of(np.array([0.0, 1, 1]))

    assert spreads(Labels(np.full(3, NAN), np.zeros(3)), strata).tolist() == [1, 1]
