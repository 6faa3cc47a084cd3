"""Whether two sources put systems in the same order, as far as their topics can say.

The yardstick is what another sample of topics would make of each source's own order. A source separates two systems
where their paired difference over topics is significant after Holm's correction over all pairs (`separated`): then
other topics would hardly turn them round.

- Another order: both separate some pair, in opposite ways. Where the true orders are equal, one of the two sources
  errs in the direction of a pair that it separates, which each does in at most 2.5 % of studies.
- The same order: the reference separates at least half of the pairs, both separate none in opposite ways, and of
  the pairs that the reference separates the other has as many the same way round as a τ of .9 takes, in the middle
  95 % of resampled topics (Voorhees, Evaluation by Highly Relevant Documents, SIGIR 2001: from .9 up as good as equal).

Else it is not settled: systems are too close, or topics too few.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from stats.intervals import FEWEST_TOPICS
from stats.ranking.leaderboard import SIGNIFICANCE, holm
from stats.ranking.rank_correlation import FEWEST_SYSTEMS, mean_scores, topic_weights
from stats.ratings import FloatArray, IntArray
from stats.rounding import rounded

SAME_ORDER = 0.9
FEWEST_SEPARATED = 0.5


@dataclass(frozen=True)
class OrderVerdict:
    """What the topics say of two orders.

    Of `n_pairs` of systems the reference separates `n_separated`; the other has `n_alike` of these the same way round,
    `least_alike` in all but 2.5 % of resampled topics; `n_opposed` are separated by both, in opposite ways.
    """

    n_pairs: int
    n_separated: int
    n_alike: int
    least_alike: float
    n_opposed: int

    @property
    def verdict(self) -> Literal["same", "other", ""]:
        """Whether the orders are the same or not; empty where that is not settled."""
        if self.n_opposed:
            return "other"
        enough = self.n_separated and self.n_separated >= FEWEST_SEPARATED * self.n_pairs
        return "same" if enough and self.least_alike >= (1 + SAME_ORDER) / 2 * self.n_separated else ""

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "verdict": self.verdict or None}


def separated(table: FloatArray, level: float = SIGNIFICANCE) -> IntArray:
    """Return for each pair of systems, in the order of `np.triu_indices`, 1 or −1 where they are separated, else 0.

    `table` is systems × topics without NaN; 1: the first has the higher mean. A difference that is the same, but not 0,
    on every topic has no test.
    """
    from scipy.stats import ttest_1samp  # imported late: it weighs much

    one, other = np.triu_indices(len(table), 1)
    differences = rounded(table[one] - table[other])
    varying = np.flatnonzero(np.ptp(differences, axis=1) > 0)
    found: IntArray = np.zeros(len(one), dtype=np.int64)
    if len(varying):
        tested = differences[varying]
        significant = np.array(holm(ttest_1samp(tested, 0, axis=1).pvalue.tolist())) < level
        found[varying] = np.sign(tested.mean(axis=1)) * significant
    return found


def order_verdict(reference: FloatArray, other: FloatArray, *, among: int = 1) -> OrderVerdict | None:
    """Return what the topics say of the two orders; None of fewer systems, or topics, than a correlation takes.

    Both are systems × topics, the same, without NaN. `among`: so many comparisons one may be picked from, for all of
    which *another order* is to be false in 5 of 100 studies at most (Bonferroni).
    """
    n_systems, n_topics = reference.shape
    if n_systems < FEWEST_SYSTEMS or n_topics < FEWEST_TOPICS:
        return None
    by_reference, by_other = (separated(table, SIGNIFICANCE / among) for table in (reference, other))
    apart = np.flatnonzero(by_reference)
    one, two = (of[apart] for of in np.triu_indices(n_systems, 1))

    def alike(weights: FloatArray) -> FloatArray:
        means = mean_scores(other, weights)
        return np.asarray((np.sign(means[:, one] - means[:, two]) == by_reference[apart]).sum(axis=1))

    return OrderVerdict(
        n_pairs=len(by_reference),
        n_separated=len(apart),
        n_alike=int(alike(np.ones((1, n_topics)))[0]),
        least_alike=float(np.quantile(alike(topic_weights(n_topics)), SIGNIFICANCE / 2)),
        n_opposed=int((by_reference * by_other < 0).sum()),
    )
