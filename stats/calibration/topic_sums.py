"""Sums by topic of which corrected means are made, for many systems at once, and from which topics can be left out.

A system's score on a topic is Σ a·y over items, `a` being how much an item counts for it; its mean over topics is
corrected as `ppi` says: θ = λ Σ a·f + Σ_L v·(Y − λf), v ∝ a × weight, with the labels that count for the system alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stats.influence import left_out
from stats.ratings import BoolArray, FloatArray, IntArray

NO_SPREAD = 1e-20
# How far, as a standard deviation, the λ of single items may be off where whole topics are labelled.
MOST_OFF = 0.25


@dataclass(frozen=True)
class Shares:
    """How much items count: item `items[i]` counts `shares[i]` in the score of system `systems[i]` on its topic.

    All have the shape (entries,); systems and items are numbered from 0, and an item may count for several systems.
    """

    systems: IntArray
    items: IntArray
    shares: FloatArray
    n_systems: int


@dataclass(frozen=True)
class LabelledItems:
    """People's values (NaN: no label), the judge's (NaN: ungraded), how many items a label stands for, and topics.

    All have the shape (items,); topics are numbered from 0 up to `n_topics`.
    """

    people: FloatArray
    judge: FloatArray
    weights: FloatArray
    topics: IntArray
    n_topics: int


@dataclass(frozen=True)
class TopicSums:
    """The estimator's sums by topic.

    - `sums`: Σa, Σaf, Σv, ΣvY, Σvf, shape (systems, topics, 5); `items`: the items' own −Σ B·A, Σ A² and Σ B², shape
      (systems, topics, 3), with A and B what an item adds through the judge and through people;
    - `counted`: the topics that a system's mean is over; `labelled`: those of them with labels, (systems, topics);
    - `n_items`, `n_labelled`: entries, shape (systems,).
    """

    sums: FloatArray
    items: FloatArray
    counted: BoolArray
    labelled: BoolArray
    n_items: IntArray
    n_labelled: IntArray

    @classmethod
    def of(cls, items: LabelledItems, shares: Shares, *, counted: BoolArray | None = None) -> TopicSums:
        """Return the sums. `counted`, systems × topics, is by default where a system has items."""
        n_systems, n_topics = shares.n_systems, items.n_topics
        cells = shares.systems * n_topics + items.topics[shares.items]

        def by_topic(*columns: FloatArray) -> FloatArray:
            found = [np.bincount(cells, weights=column, minlength=n_systems * n_topics) for column in columns]
            stacked: FloatArray = np.stack(found, axis=-1).astype(np.float64)
            return stacked.reshape(n_systems, n_topics, len(columns))

        people, judge = items.people[shares.items], items.judge[shares.items]
        known = np.isfinite(people)
        people = np.where(known, people, 0.0)
        judge = _filled(judge, shares)
        a, v = shares.shares, np.where(known, shares.shares * items.weights[shares.items], 0.0)
        sums = by_topic(a, a * judge, v, v * people, v * judge)
        share, of_judge, weight, of_people, of_labelled = np.moveaxis(sums.sum(axis=1), -1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.stack([of_judge / share, of_people / weight, of_labelled / weight])
            mean, on_people, on_labelled = means[:, shares.systems]
            widened = np.where(known, left_out(v / weight[shares.systems]), 0.0)
            through_judge = a / share[shares.systems] * (judge - mean)
        through_judge = through_judge - np.where(known, widened * (judge - on_labelled), 0.0)
        through_people = np.where(known, widened * (people - on_people), 0.0)
        entries = by_topic(np.ones(len(a)), known.astype(np.float64))
        there = entries[:, :, 0] > 0
        return cls(
            sums=sums,
            items=by_topic(-through_people * through_judge, through_judge**2, through_people**2),
            counted=there if counted is None else counted,
            labelled=entries[:, :, 1] > 0,
            n_items=entries[:, :, 0].sum(axis=1).astype(np.int64),
            n_labelled=entries[:, :, 1].sum(axis=1).astype(np.int64),
        )

    @property
    def n_topics(self) -> int:
        return len(self.counted[0])

    def estimates(self, kept: FloatArray, *, power: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Return θ of Σ a = 1 and λ over the topics that each row keeps (1: kept, 0: left out), (systems, rows).

        `power` sets λ: 0 is people alone. NaN where a system has no label in the topics that are kept.
        """
        share, of_judge, weight, of_people, of_labelled = np.moveaxis(kept @ self.sums, -1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean, people, on_labelled = of_judge / share, of_people / weight, of_labelled / weight
            if power is None:
                powers = self._powers(kept, share, weight, mean, people, on_labelled)
            else:
                powers = np.full_like(share, power)
        return people + powers * (mean - on_labelled), powers

    def means(self, kept: FloatArray, *, power: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the mean over topics of Σ a·y, corrected, and λ; shapes as `estimates`."""
        values, powers = self.estimates(kept, power=power)
        return values * self.per_topic(kept), powers

    def per_topic(self, kept: FloatArray) -> FloatArray:
        """Return Σ a of a mean topic, shape (systems, rows)."""
        n_topics = np.asarray(kept @ self.counted.T.astype(np.float64)).T
        return np.asarray(self.sums[:, :, 0] @ kept.T / np.maximum(n_topics, 1))

    def _powers(
        self,
        kept: FloatArray,
        share: FloatArray,
        weight: FloatArray,
        mean: FloatArray,
        people: FloatArray,
        on_labelled: FloatArray,
    ) -> FloatArray:
        """Return the λ of least variance: what the topics say of it and what the single items say, weighed."""
        a, af, v, vy, vf = (column[:, None, :] for column in np.moveaxis(self.sums, -1, 0))
        judge = (af - mean[:, :, None] * a) / share[:, :, None] - (vf - on_labelled[:, :, None] * v) / weight[
            :, :, None
        ]
        by_people = (vy - people[:, :, None] * v) / weight[:, :, None]
        shared, spread, squares = (np.zeros_like(share) for _ in range(3))
        for kind in (self.labelled, self.counted & ~self.labelled):
            members = kept[None] * kind[:, None, :]
            n = np.maximum(members.sum(axis=2), 1)
            sums = (members * judge).sum(axis=2), (members * by_people).sum(axis=2)
            shared -= (members * judge * by_people).sum(axis=2) - sums[0] * sums[1] / n
            spread += (members * judge**2).sum(axis=2) - sums[0] ** 2 / n
            squares += (members * by_people**2).sum(axis=2) - sums[1] ** 2 / n
        n_topics = (kept[None] * self.labelled[:, None, :]).sum(axis=2)
        of_items, n_labelled = kept @ self.items, np.maximum(self.n_labelled, 1)[:, None]
        power = weighed_power(
            Slope.of(shared, spread, squares, n_topics),
            Slope.of(of_items[..., 0], of_items[..., 1], of_items[..., 2], n_labelled),
        )
        return within_powers(power, self.n_items[:, None], self.n_labelled[:, None])

    def errors(self, without: FloatArray) -> FloatArray:
        """Return standard errors, shape (systems,), from estimates without each topic, (systems, topics)."""
        return jackknife_errors(without, self.labelled, self.counted & ~self.labelled)


def _filled(judge: FloatArray, shares: Shares) -> FloatArray:
    """Put the mean of a system's grades in the place of ungraded replies: it moves a corrected mean nowhere."""
    graded = np.isfinite(judge)
    counting = np.where(graded, shares.shares, 0.0)
    known = np.where(graded, judge, 0.0)
    sums, sizes = (
        np.bincount(shares.systems, weights=column, minlength=shares.n_systems)
        for column in (counting * known, counting)
    )
    means = np.divide(sums, sizes, out=np.zeros_like(sums), where=sizes > 0)
    return np.where(graded, judge, means[shares.systems])


def jackknife_errors(without: FloatArray, *strata: BoolArray) -> FloatArray:
    """Return standard errors, shape (rows,), from estimates without each topic, shape (rows, topics).

    `strata` say which topics belong together, as topics with labels and topics without do (Wolter, Introduction to
    Variance Estimation, 2nd ed., 2007, section 4.5).
    """
    squares = np.zeros(len(without))
    for kind in strata:
        n = kind.sum(axis=1)
        mean = np.where(kind, without, 0.0).sum(axis=1) / np.maximum(n, 1)
        apart = np.where(kind, without - mean[:, None], 0.0)
        squares += np.where(n > 1, (n - 1) / np.maximum(n, 1) * (apart**2).sum(axis=1), 0.0)
    return np.sqrt(squares)


@dataclass(frozen=True)
class Slope:
    """λ as a slope through units, with its variance: infinite with fewer than three, or without any `spread`."""

    slope: FloatArray
    variance: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, shared: FloatArray, spread: FloatArray, squares: FloatArray, n: FloatArray | IntArray) -> Slope:
        there = spread > NO_SPREAD
        slope = np.divide(shared, spread, out=np.zeros_like(shared), where=there)
        left = np.maximum(squares - slope * shared, 0.0) / np.maximum(n - 2, 1)
        variance = np.full_like(shared, np.inf)
        np.divide(left, spread, out=variance, where=there & (np.asarray(n) > 2))
        return cls(slope, variance, spread)


def weighed_power(topics: Slope, items: Slope) -> FloatArray:
    """Return λ from what topics and what items say of it, each weighed by its precision.

    The topics' λ is the one of least variance, but few topics that are far apart hardly know it; the items' is precise,
    and another one where labels stand together and the judge errs by topic. How far they stand together shows in how
    much more the judge's topics vary than its items do.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        together = 1 - np.clip(np.nan_to_num(items.spread / topics.spread, nan=1.0), 0.0, 1.0)
        item_variance = items.variance + (MOST_OFF * together) ** 2
        share = item_variance / (topics.variance + item_variance)
    share = np.where(np.isfinite(topics.variance), np.where(np.isfinite(item_variance), share, 1.0), 0.0)
    return np.asarray(items.slope + np.nan_to_num(share) * (topics.slope - items.slope))


def best_power(
    shared: FloatArray, spread: FloatArray, n_items: IntArray | int, n_labelled: IntArray | int
) -> FloatArray:
    """Return the λ of least variance over items; 0 where the judge has no spread."""
    power = np.divide(shared, spread, out=np.zeros_like(shared), where=spread > NO_SPREAD)
    return within_powers(power, n_items, n_labelled)


def within_powers(power: FloatArray, n_items: IntArray | int, n_labelled: IntArray | int) -> FloatArray:
    """Return λ within 0 and 1 + n/N; 0 where the judge has nothing left to tell."""
    n_others = np.asarray(n_items - n_labelled)
    return np.asarray(np.where(n_others > 0, np.clip(power, 0, 1 + n_labelled / np.maximum(n_others, 1)), 0.0))
