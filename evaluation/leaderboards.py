"""Leaderboards: systems in the order of a measure, how sure that order is, and whether other judgments keep it.

A score table has the shape systems × topics and holds one measure in its own unit, higher is better; NaN where the
measure is undefined for a topic. Means are over the topics a system has; whatever compares systems takes the topics
that both have. Topics are the sample: they are what the bootstrap draws and what tests are paired over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests

from evaluation.intervals import REPLICATES, SEED, Estimate, undefined
from evaluation.rank_correlation import Correlation, mean_scores
from evaluation.rank_correlation import kendall as kendall_of
from evaluation.rank_correlation import spearman as spearman_of
from evaluation.rank_correlation import tau_ap as tau_ap_of
from evaluation.ratings import FloatArray

SIGNIFICANCE = 0.05
# Means that differ by less are equal but for the order in which floating-point numbers were added.
DECIMALS = 12
CORRELATIONS = {"spearman": spearman_of, "kendall": kendall_of, "tau_ap": tau_ap_of}


@dataclass(frozen=True)
class Standing:
    """A system's place: `mean` with its standard error (sd with ddof 1 over √topics) and t-interval.

    `rank` is 1 for the best; systems with equal means share the better rank. None without any score.
    """

    system: str
    rank: int | None
    mean: Estimate
    n_topics: int


def leaderboard(table: pd.DataFrame) -> list[Standing]:
    """Return the systems, best first, ties by name; those without any score last."""
    standings = [_standing(str(system), row.dropna().to_numpy(dtype=np.float64)) for system, row in table.iterrows()]
    scored = [standing.mean.value for standing in standings if standing.mean.value is not None]
    placed = [Standing(one.system, _rank(one.mean.value, scored), one.mean, one.n_topics) for one in standings]
    return sorted(placed, key=lambda one: (one.rank is None, one.rank, one.system))


def _rank(mean: float | None, means: Sequence[float]) -> int | None:
    return None if mean is None else 1 + sum(round(other, DECIMALS) > round(mean, DECIMALS) for other in means)


def _standing(system: str, scores: FloatArray) -> Standing:
    n = len(scores)
    if not n:
        return Standing(system, None, undefined("The measure is undefined for every topic."), 0)
    mean = float(scores.mean())
    if n == 1:
        return Standing(system, None, Estimate(mean, reason="One topic has no spread."), n)
    error = float(scores.std(ddof=1) / np.sqrt(n))
    half = _t_quantile(n) * error
    return Standing(system, None, Estimate(mean, mean - half, mean + half, error), n)


@dataclass(frozen=True)
class RankStability:
    """What the order would be with other topics, as shares of bootstrap replicates.

    - `at_most`: systems × ranks, P(rank ≤ r); equal means share the better rank.
    - `beats`: systems × systems, P(row's mean > column's), a tie counting one half; NaN on the diagonal.

    A replicate in which a system has no score counts it last. NaN throughout with fewer than two topics.
    """

    at_most: pd.DataFrame
    beats: pd.DataFrame


def rank_stability(table: pd.DataFrame, *, replicates: int = REPLICATES, seed: int = SEED) -> RankStability:
    """Return how stable the ranks are when topics are drawn with replacement."""
    n_systems, n_topics = table.shape
    ranks = pd.RangeIndex(1, n_systems + 1)
    at_most = pd.DataFrame(np.nan, index=table.index, columns=ranks)
    beats = pd.DataFrame(np.nan, index=table.index, columns=table.index)
    if n_topics < 2:
        return RankStability(at_most, beats)
    weights = np.random.default_rng(seed).multinomial(n_topics, np.full(n_topics, 1 / n_topics), replicates)
    means = mean_scores(table.to_numpy(dtype=np.float64), weights.astype(np.float64))
    means = np.where(np.isnan(means), -np.inf, means.round(DECIMALS))
    drawn = np.empty(means.shape, dtype=np.int64)
    for place in range(n_systems):
        ahead = means > means[:, [place]]
        behind = means < means[:, [place]]
        drawn[:, place] = 1 + ahead.sum(axis=1)
        beats.iloc[place] = (1 + behind.mean(axis=0) - ahead.mean(axis=0)) / 2
        beats.iloc[place, place] = np.nan
    for rank in ranks:
        at_most[rank] = (drawn <= rank).mean(axis=0)
    return RankStability(at_most, beats)


@dataclass(frozen=True)
class PairedComparison:
    """Two systems over the topics both have.

    - `difference`: mean of first minus second, with standard error and t-interval, not corrected.
    - `p`: two-sided paired t-test; `p_holm`: corrected over all pairs of the leaderboard (Holm 1979). None where the
      test is undefined.
    - `winner`: the system with the higher mean, None for equal means; `significant`: p_holm below .05.
    """

    first: str
    second: str
    difference: Estimate
    n_topics: int
    p: float | None
    p_holm: float | None

    @property
    def winner(self) -> str | None:
        difference = round(self.difference.value or 0.0, DECIMALS)
        if not difference:
            return None
        return self.first if difference > 0 else self.second

    @property
    def significant(self) -> bool:
        return self.p_holm is not None and self.p_holm < SIGNIFICANCE


def compare_pairs(table: pd.DataFrame) -> list[PairedComparison]:
    """Return every pair of systems compared, in the order of the table.

    Equal scores on every topic give p = 1: nothing tells the two apart. A difference that is the same, but not 0, on
    every topic has no spread to test against: p is None.
    """
    rows = {str(system): row.to_numpy(dtype=np.float64) for system, row in table.iterrows()}
    pairs = list(combinations(rows, 2))
    found = [_paired(rows[first] - rows[second]) for first, second in pairs]
    tested = [place for place, (_, _, p) in enumerate(found) if p is not None]
    corrected: dict[int, float] = {}
    if tested:
        holm = multipletests([found[place][2] for place in tested], method="holm")[1]
        corrected = dict(zip(tested, map(float, holm), strict=True))
    return [
        PairedComparison(first, second, difference, n, p, corrected.get(place))
        for place, ((first, second), (difference, n, p)) in enumerate(zip(pairs, found, strict=True))
    ]


def _paired(differences: FloatArray) -> tuple[Estimate, int, float | None]:
    known = differences[~np.isnan(differences)]
    n = len(known)
    if not n:
        return undefined("The two systems have no topic in common."), 0, None
    mean = float(known.mean())
    if n == 1:
        return Estimate(mean, reason="One topic has no spread."), n, None
    error = float(known.std(ddof=1) / np.sqrt(n))
    if not np.ptp(known).round(DECIMALS):
        return Estimate(mean, reason="The difference is the same on every topic."), n, None if mean else 1.0
    half = _t_quantile(n) * error
    return Estimate(mean, mean - half, mean + half, error), n, 2 * float(stats.t.sf(abs(mean) / error, n - 1))


@cache
def _t_quantile(n: int) -> float:
    return float(stats.t.ppf(0.975, n - 1))


@dataclass(frozen=True)
class Flip:
    """A pair that is significant under one source of judgments and that another source decides the other way.

    `opposed`: the other source is significant too, so the two would publish contrary findings.
    """

    significant_under: str
    other: str
    winner: str
    winner_under_other: str
    opposed: bool


def flipped_pairs(comparisons: Mapping[str, Sequence[PairedComparison]]) -> list[Flip]:
    """Return the significant pairs whose winner changes between sources (people, judge, corrected).

    `comparisons` by source, each from `compare_pairs`. A pair that is significant under both comes once for each. A
    pair that another source lacks, or ties, has not flipped.
    """
    by_pair = {
        source: {frozenset((one.first, one.second)): one for one in found} for source, found in comparisons.items()
    }
    flips: list[Flip] = []
    for source, found in by_pair.items():
        for other, theirs in by_pair.items():
            for pair, one in found.items():
                against = theirs.get(pair)
                if source == other or against is None or not one.significant or against.winner is None:
                    continue
                if one.winner is not None and one.winner != against.winner:
                    flips.append(Flip(source, other, one.winner, against.winner, against.significant))
    return flips


def measure_correlations(
    tables: Mapping[str, pd.DataFrame], *, correlation: Correlation = "kendall"
) -> dict[tuple[str, str], Estimate]:
    """Return the correlation of the systems' means between every two measures, or sources (CRUX's Figure 5).

    `tables` by measure; a pair is compared over the systems both have. The diagonal is left out; τ_AP, which is not
    symmetric, takes the first as reference.
    """
    means = {measure: table.mean(axis=1, skipna=True) for measure, table in tables.items()}
    matrix: dict[tuple[str, str], Estimate] = {}
    for first, x in means.items():
        for second, y in means.items():
            if first != second:
                systems = x.index.intersection(y.index)
                matrix[first, second] = CORRELATIONS[correlation](
                    x.loc[systems].to_numpy(dtype=np.float64), y.loc[systems].to_numpy(dtype=np.float64)
                )
    return matrix


@dataclass(frozen=True)
class Divergence:
    """A system that two measures, or sources, place differently. Ranks are 1 for the best, ties share their mean."""

    system: str
    rank: float
    rank_by_other: float

    @property
    def places(self) -> float:
        """How many places lower the other measure puts it; negative: higher."""
        return self.rank_by_other - self.rank


def divergent_systems(means: Mapping[str, float], other: Mapping[str, float]) -> list[Divergence]:
    """Return the systems that both measures score, the most divergent first, ties by name.

    Source: the question of the RUBRIC paper, section 7 (systems whose scores diverge the most), asked of ranks, as two
    measures need not share a unit.
    """
    systems = sorted(means.keys() & other.keys())
    by_one = stats.rankdata([-means[system] for system in systems])
    by_other = stats.rankdata([-other[system] for system in systems])
    found = [Divergence(*row) for row in zip(systems, map(float, by_one), map(float, by_other), strict=True)]
    return sorted(found, key=lambda one: (-abs(one.places), one.system))
