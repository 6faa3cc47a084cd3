"""Leaderboards: systems in the order of a measure, how sure that order is, and whether other judgments keep it.

A score table has the shape systems × topics and holds one measure in its own unit, higher is better; NaN where the
measure is undefined for a topic. Means are over the topics a system has; ranks and whatever compares systems are of
those that have all topics of the table. Topics are the sample, which the bootstrap draws and tests are paired over.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np

from stats.intervals import FEWEST_TOPICS, mean_interval, student_tail, too_few_of_clipped
from stats.pattern_intervals import REPLICATES, SEED, UNBOUNDED, Estimate, Range, undefined
from stats.ranking.common_topics import on_common_topics
from stats.ranking.rank_correlation import Correlation, mean_scores, topic_weights
from stats.ranking.rank_correlation import kendall as kendall_of
from stats.ranking.rank_correlation import pearson as pearson_of
from stats.ranking.rank_correlation import spearman as spearman_of
from stats.ranking.rank_correlation import tau_ap as tau_ap_of
from stats.ranking.rankable import complete
from stats.ranking.written_reports import NONE_WRITTEN, WrittenReports
from stats.ratings import FloatArray
from stats.rounding import rounded

if TYPE_CHECKING:
    import pandas as pd

SIGNIFICANCE = 0.05
CORRELATIONS = {"spearman": spearman_of, "kendall": kendall_of, "tau_ap": tau_ap_of, "pearson": pearson_of}


@dataclass(frozen=True)
class Standing:
    """A system's place: `mean` with its standard error (sd with ddof 1 over √topics) and interval.

    `rank` is 1 for the best; systems with equal means share the better rank. None without a score on every topic that
    any system has: means over different topics are not in one order.
    """

    system: str
    rank: int | None
    mean: Estimate
    n_topics: int


def leaderboard(
    table: pd.DataFrame, *, within: Range = UNBOUNDED, ranked: Collection[str] | None = None
) -> list[Standing]:
    """Return the systems, best first, ties by name; those without a rank last, by name.

    `within`: what values the measure can take. `ranked`: which systems have a rank, by default all that are complete.
    """
    means = {str(system): _mean(row.dropna().to_numpy(dtype=np.float64), within) for system, row in table.iterrows()}
    comparable = set(complete(table).index if ranked is None else ranked)
    placed = [mean.value for system, mean in means.items() if system in comparable and mean.value is not None]
    standings = [
        Standing(
            system,
            _rank(mean.value, placed) if system in comparable else None,
            mean,
            mean.sample.n_drawn if mean.sample else 0,
        )
        for system, mean in means.items()
    ]
    return sorted(standings, key=lambda one: (one.rank is None, one.rank, one.system))


def _rank(mean: float | None, means: Sequence[float]) -> int | None:
    return None if mean is None else 1 + int((rounded(means) > rounded(mean)).sum())


def _mean(scores: FloatArray, within: Range) -> Estimate:
    if not len(scores):
        return undefined("The measure is undefined for every topic.")
    return mean_interval(scores.tolist(), within=within)


@dataclass(frozen=True)
class RankStability:
    """What the order would be with other topics, as shares of bootstrap replicates.

    - `at_most`: systems × ranks, P(rank ≤ r); equal means share the better rank.
    - `beats`: systems × systems, P(row's mean > column's), a tie counting one half; NaN on the diagonal.

    Only of systems with a score on every topic. NaN throughout with fewer topics than an interval takes.
    """

    at_most: pd.DataFrame
    beats: pd.DataFrame


def rank_stability(table: pd.DataFrame, *, replicates: int = REPLICATES, seed: int = SEED) -> RankStability:
    """Return how stable the ranks are when topics are drawn with replacement."""
    import pandas as pd

    table = complete(table)
    n_systems, n_topics = table.shape
    ranks = np.arange(1, n_systems + 1)
    at_most, beats = np.full((2, n_systems, n_systems), np.nan)
    if n_topics >= FEWEST_TOPICS:
        means = mean_scores(table.to_numpy(dtype=np.float64), topic_weights(n_topics, replicates, seed))
        for place in range(n_systems):
            ahead = means > means[:, [place]]
            behind = means < means[:, [place]]
            at_most[place] = (1 + ahead.sum(axis=1)[:, None] <= ranks).mean(axis=0)
            beats[place] = (1 + behind.mean(axis=0) - ahead.mean(axis=0)) / 2
            beats[place, place] = np.nan
    return RankStability(
        pd.DataFrame(at_most, index=table.index, columns=pd.RangeIndex(1, n_systems + 1)),
        pd.DataFrame(beats, index=table.index, columns=table.index),
    )


@dataclass(frozen=True)
class PairedComparison:
    """Two systems over the topics both have.

    - `difference`: mean of first minus second, with standard error and the t-interval that belongs to the test, not
      corrected.
    - `p`: two-sided paired t-test; `p_holm`: corrected over all pairs of the leaderboard (Holm 1979). None where the
      test is undefined, or rests on fewer topics than an interval takes.
    - `winner`: the system with the higher mean, None for equal means; `significant`: p_holm below .05.
    """

    first: str
    second: str
    difference: Estimate
    n_topics: int
    p: float | None
    p_holm: float | None

    @cached_property
    def winner(self) -> str | None:
        difference = rounded(self.difference.value or 0.0)
        if not difference:
            return None
        return self.first if difference > 0 else self.second

    @property
    def significant(self) -> bool:
        return self.p_holm is not None and self.p_holm < SIGNIFICANCE


def compare_pairs(table: pd.DataFrame, *, within: Range = UNBOUNDED) -> list[PairedComparison]:
    """Return every pair of the systems with a score on every topic compared, in the order of the table.

    `within`: what values the measure can take; those whose values may lie outside take more topics.

    Equal scores on every topic give p = 1: nothing tells the two apart. A difference that is the same, but not 0, on
    every topic has no spread to test against: p is None.
    """
    rows = {str(system): row.to_numpy(dtype=np.float64) for system, row in complete(table).iterrows()}
    pairs = list(combinations(rows, 2))
    found = [_paired(rows[first] - rows[second], within) for first, second in pairs]
    tested = [place for place, (_, _, p) in enumerate(found) if p is not None]
    corrected = dict(zip(tested, holm([p for _, _, p in found if p is not None]), strict=True))
    return [
        PairedComparison(first, second, difference, n, p, corrected.get(place))
        for place, ((first, second), (difference, n, p)) in enumerate(zip(pairs, found, strict=True))
    ]


def holm(ps: Sequence[float]) -> list[float]:
    """Return p-values corrected for all of them (Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979).

    As statsmodels' `multipletests`, which collects garbage at every call, some .1 s each.
    """
    values = np.asarray(ps, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)), 1)
    return [float(p) for p in corrected]


def _paired(differences: FloatArray, within: Range) -> tuple[Estimate, int, float | None]:
    n = len(differences)
    found = mean_interval(differences.tolist(), within=UNBOUNDED)
    if within.clipped and found.sample and (few := found.sample.reason or too_few_of_clipped(found.sample)):
        return Estimate(found.value, reason=few, sample=found.sample), n, None
    if not rounded(np.ptp(differences)):
        constant = Estimate(found.value, reason="The difference is the same on every topic.", sample=found.sample)
        return constant, n, None if rounded(found.value or 0.0) else 1.0
    if found.low is None or found.value is None or not found.se:
        return found, n, None
    return found, n, 2 * student_tail(abs(found.value) / found.se, n - 1)


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
        decided = {pair: one.winner for pair, one in found.items() if one.significant and one.winner}
        for other, theirs in by_pair.items():
            for pair, winner in decided.items():
                against = theirs.get(pair)
                if source == other or against is None or not against.winner or against.winner == winner:
                    continue
                flips.append(Flip(source, other, winner, against.winner, against.significant))
    return flips


def measure_correlations(
    tables: Mapping[str, pd.DataFrame],
    *,
    correlation: Correlation = "kendall",
    written: WrittenReports = NONE_WRITTEN,
) -> dict[tuple[str, str], Estimate]:
    """Return the correlation of the systems' means between every two measures, or sources (CRUX's Figure 5).

    `tables` by measure; all are compared on the topics that all of them score, a pair over the systems both have. The
    diagonal is left out; τ_AP, which is not symmetric, takes the first as reference. `written` joins a context with the
    reports written from it.
    """
    means = {measure: table.mean(axis=1) for measure, table in on_common_topics(tables).items()}
    matrix: dict[tuple[str, str], Estimate] = {}
    for first, second in permutations(means, 2):
        x, y = written.pair(means, first, second)
        systems = x.index.intersection(y.index)
        matrix[first, second] = CORRELATIONS[correlation](
            np.asarray(x.loc[systems], dtype=np.float64), np.asarray(y.loc[systems], dtype=np.float64)
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
    from scipy.stats import rankdata  # imported late: it weighs much

    by_one = rankdata(rounded([-means[system] for system in systems]))
    by_other = rankdata(rounded([-other[system] for system in systems]))
    found = [Divergence(*row) for row in zip(systems, map(float, by_one), map(float, by_other), strict=True)]
    return sorted(found, key=lambda one: (-abs(one.places), one.system))
