from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stats.ranking.bootstrap_correlations import kendall_rows, spearman_rows, tau_ap_rows
from stats.ranking.rank_correlation import FEWEST_SYSTEMS, kendall, spearman, tau_ap
from stats.ratings import FloatArray

ROWS = {"kendall": (kendall, kendall_rows), "spearman": (spearman, spearman_rows), "tau_ap": (tau_ap, tau_ap_rows)}


def random_scores(seed: int, *, n_systems: int, n_values: int) -> FloatArray:
    """Six replicates with ties, and without a score for about one system in ten."""
    random = np.random.default_rng(seed)
    scores = random.integers(0, n_values, (6, n_systems)) / n_values
    return np.where(random.random(scores.shape) < 0.1, np.nan, scores)


@pytest.mark.parametrize("name", ROWS)
@given(seed=st.integers(0, 10_000), n_systems=st.integers(4, 12), n_values=st.integers(1, 20))
def test_many_at_once_are_what_they_are_one_by_one(name: str, seed: int, n_systems: int, n_values: int) -> None:
    one, rows = ROWS[name]
    x = random_scores(seed, n_systems=n_systems, n_values=n_values)
    y = random_scores(seed + 1, n_systems=n_systems, n_values=n_values)
    counted = ~(np.isnan(x) | np.isnan(y))

    found = rows(x, y, counted)

    for row in np.flatnonzero(counted.sum(axis=1) >= FEWEST_SYSTEMS):
        expected = one(x[row], y[row]).value
        assert np.isnan(found[row]) if expected is None else found[row] == pytest.approx(expected, abs=1e-12)
