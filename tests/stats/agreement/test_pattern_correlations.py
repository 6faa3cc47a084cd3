from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from stats.agreement.pattern_correlations import kendall, pairs_of_values, rank_correlations, spearman

columns = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=4, max_size=40)


@settings(max_examples=300, deadline=None)
@given(columns)
def test_both_equal_scipys(points: list[tuple[int, int]]) -> None:
    first, second = np.array(points, dtype=float).T
    patterns = pairs_of_values(first, second, None)

    rho = spearman(patterns.frequencies[None, :], patterns)[0]
    tau = kendall(patterns.frequencies[None, :], patterns)[0]

    if len(set(first)) < 2 or len(set(second)) < 2:
        assert np.isnan(rho)
        assert np.isnan(tau)
    else:
        assert rho == pytest.approx(spearmanr(first, second).statistic, abs=1e-12)
        assert tau == pytest.approx(kendalltau(first, second).statistic, abs=1e-12)


def test_three_points_make_no_correlation() -> None:
    patterns = pairs_of_values(np.array([1.0, 2, 3]), np.array([1.0, 2, 3]), None)

    assert "a correlation needs 4" in rank_correlations(patterns)["spearman"].reason


def test_a_constant_side_has_no_order() -> None:
    patterns = pairs_of_values(np.array([1.0, 2, 3, 4]), np.ones(4), None)

    figures = rank_correlations(patterns)

    assert figures["spearman"].value is None
    assert "no order" in figures["kendall"].reason
