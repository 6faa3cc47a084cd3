"""Systems in the order of many judges beside people's: scores of all of them at once, and how alike the orders are.

The scores are those of `stats.ranking.qrels_scoring`, of measures that are sums over a ranking's first passages, and
the correlations with their ranges those of `stats.ranking.rank_correlation`; here people's part of both is worked out
once for all judges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stats.intervals import Estimate, Sample
from stats.ranking.bootstrap_correlations import kendall_rows, tau_ap_rows
from stats.ranking.order_verdict import OrderVerdict, order_verdict
from stats.ranking.qrels_scoring import QrelsMeasure
from stats.ranking.rank_correlation import kendall, mean_scores, tau_ap, topic_weights, with_range
from stats.ratings import BoolArray, FloatArray, IntArray


def sum_measure(measure: QrelsMeasure) -> QrelsMeasure | None:
    """Return the measure, by a source's threshold, if it is a sum over the first passages, or nDCG@k; else None."""
    is_sum = measure.estimable or measure.ratio == "nDCG"
    return measure if is_sum and measure.cutoff and measure.is_bounded else None


@dataclass(frozen=True)
class RankedItems:
    """What systems rank, as numbers of items.

    `tops`, systems × topics × depth, best first, holds −1 for what is no item and where a ranking has ended; `sizes`,
    systems × topics: how many passages a ranking has down to that depth; `topics`, shape (items,): each item's topic.
    """

    tops: IntArray
    sizes: IntArray
    topics: IntArray

    @property
    def n_topics(self) -> int:
        return int(self.tops.shape[1])

    def scores(self, measure: QrelsMeasure, gains: FloatArray) -> FloatArray:
        """Return the measure's scores, systems × topics, from items' gains (NaN: no label, which counts as 0).

        NaN on topics without any label. The depth must be the measure's cutoff.
        """
        there = np.bincount(self.topics[~np.isnan(gains)], minlength=self.n_topics) > 0
        worth = np.append(np.nan_to_num(gains), 0.0)
        k = measure.cutoff or 0
        discounts = 1 / np.log2(np.arange(k) + 2)
        weights = np.array(measure.weights(k)) / measure.divisor(k) if measure.estimable else discounts
        found = worth[self.tops] @ weights
        if not measure.estimable:
            ideal = self._ideal(worth[:-1], discounts)
            found = np.divide(found, ideal, out=np.zeros_like(found), where=ideal > 0)
        return np.where(there, found, np.nan)

    def _ideal(self, worth: FloatArray, discounts: FloatArray) -> FloatArray:
        """Return DCG of the best order of each topic's items, shape (topics,)."""
        order = np.lexsort((-worth, self.topics))
        of_topic = self.topics[order]
        places = np.arange(len(order)) - np.searchsorted(of_topic, of_topic)
        first = places < len(discounts)
        weights = worth[order][first] * discounts[places[first]]
        return np.bincount(of_topic[first], weights=weights, minlength=self.n_topics).astype(np.float64)

    def judged(self, known: FloatArray) -> FloatArray:
        """Return the judged share of each ranking, systems × topics, from items' shares; NaN for an empty ranking."""
        found = np.append(known, 0.0)[self.tops].sum(axis=2)
        shares: FloatArray = np.divide(found, self.sizes, out=np.full(found.shape, np.nan), where=self.sizes > 0)
        return shares


@dataclass(frozen=True)
class OrderAgreement:
    """How far an order of systems is people's; each with a range over resampled topics, which is no interval.

    `verdict`: what the topics say of it; None of too few systems or topics.
    """

    kendall: Estimate
    tau_ap: Estimate
    verdict: OrderVerdict | None


def correlate_orders(people: FloatArray, judges: Sequence[FloatArray]) -> list[OrderAgreement]:
    """Return how far each judge's order is people's. All tables are systems × topics, the same, without NaN."""
    n_topics = people.shape[1]
    every, sample = np.ones((1, n_topics)), Sample(n_topics=n_topics)
    point = mean_scores(people, every)[0]
    found = []
    for judge in judges:
        own = mean_scores(judge, every)[0]
        of_kendall, of_tau_ap = (replace(of(point, own), sample=sample) for of in (kendall, tau_ap))
        found.append(OrderAgreement(of_kendall, of_tau_ap, order_verdict(people, judge)))
    if sample.reason or not any(one.kendall.value is not None for one in found):
        return [
            replace(each, kendall=_without_range(each.kendall, sample), tau_ap=_without_range(each.tau_ap, sample))
            for each in found
        ]
    drawn = topic_weights(n_topics)
    resampled = _resampled(mean_scores(people, drawn), [mean_scores(judge, drawn) for judge in judges])
    return [
        replace(each, kendall=_ranged(each.kendall, by_kendall), tau_ap=_ranged(each.tau_ap, by_tau_ap))
        for each, (by_kendall, by_tau_ap) in zip(found, resampled, strict=True)
    ]


def _without_range(point: Estimate, sample: Sample) -> Estimate:
    return replace(point, reason=point.reason or sample.reason)


def _ranged(point: Estimate, values: FloatArray) -> Estimate:
    if point.value is None or point.sample is None:
        return point
    return with_range(point, np.clip(values[~np.isnan(values)], -1.0, 1.0), len(values), point.sample)


def _resampled(people: FloatArray, judges: Sequence[FloatArray]) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield τ_b and τ_AP of each replicate, for every judge; means are replicates × systems.

    Where nothing ties both are counts of pairs in the same order; replicates with ties take the general way.
    """
    n = people.shape[1]
    above = people[:, None, :] > people[:, :, None]
    ties = _has_ties(people)
    for judge in judges:
        by_judge = judge[:, None, :] > judge[:, :, None]
        right = (above & by_judge).sum(axis=2)
        n_above = by_judge.sum(axis=2)
        of_kendall = 4 * right.sum(axis=1) / (n * (n - 1)) - 1
        shares = np.divide(right, n_above, out=np.zeros(right.shape), where=n_above > 0)
        of_tau_ap = 2 * shares.sum(axis=1) / (n - 1) - 1
        tied = np.flatnonzero(ties | _has_ties(judge))
        if len(tied):
            every = np.ones((len(tied), n), dtype=bool)
            of_kendall[tied] = kendall_rows(people[tied], judge[tied], every)
            of_tau_ap[tied] = tau_ap_rows(people[tied], judge[tied], every)
        yield of_kendall, of_tau_ap


def _has_ties(means: FloatArray) -> BoolArray:
    return np.asarray((np.diff(np.sort(means, axis=1), axis=1) == 0).any(axis=1))


def ranks_of(means: FloatArray) -> FloatArray:
    """Return ranks, 1 for the best, of systems' means, shape (systems,); ties share the mean of their ranks."""
    ahead = (means[None, :] > means[:, None]).sum(axis=1)
    alike = (means[None, :] == means[:, None]).sum(axis=1)
    return np.asarray(ahead + (alike + 1) / 2, dtype=np.float64)
