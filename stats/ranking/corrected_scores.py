"""Systems' scores by a judge's grades of all items, corrected by people's labels on a drawn part of them.

For measures that are sums over items: a system's score on a topic is Σ a·y, `a` being how much an item counts for it,
whatever the labels are (P@k: 1/k; DCG@k: the place's discount; a report's coverage: one over its questions). The mean
over topics is PPI++'s: the judge's values summed over all items, plus what people's labels correct in them, weighted by
one over the probability with which they were drawn, the judge being used as far as it helps (`calibration.ppi`). Where
every topic is labelled with one probability, it is the difference estimator of Oosterhuis, Jagerman, Qin, Wang and
Bendersky, Reliable Confidence Intervals for Information Retrieval Evaluation Using Generative A.I. (KDD 2024),
taken over labelled documents instead of labelled queries.

Differences of two systems are those of their corrected means; each topic is left out of both at once, so what the two
share on a topic leaves the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from stats.calibration.estimators import NO_LABELS, ONE_LABEL
from stats.calibration.topic_sums import LabelledItems, Shares, TopicSums, jackknife_errors
from stats.intervals import (
    SHARE,
    UNBOUNDED,
    Estimate,
    Range,
    Sample,
    effective_number,
    interval,
    mean_interval,
    undefined,
)
from stats.pattern_intervals import SEED
from stats.ranking.leaderboard import PairedComparison, holm
from stats.ranking.rankable import has_enough
from stats.ratings import BoolArray, FloatArray

ONE_TOPIC = "labels are in one topic alone, so how topics differ is unknown"
PEOPLE_ALONE = 0.0


@dataclass(frozen=True)
class CorrectedScore:
    """A system by people's labels alone, by the judge alone, and by the judge as people correct it.

    - `judge`: its interval tells of the topics, not of the judge's errors;
    - `power`: how much of the judge is used (λ); None where there is no corrected score;
    - `n_labelled`: labels among the `n_items` that count for the system.
    """

    people: Estimate
    judge: Estimate
    corrected: Estimate
    power: float | None
    n_labelled: int
    n_items: int

    @property
    def by(self) -> dict[str, Estimate]:
        """The three by name."""
        return {"people": self.people, "judge": self.judge, "corrected": self.corrected}


@dataclass(frozen=True)
class CorrectedBoard:
    """Systems' scores, by name, and every pair of them that have corrected scores over the same topics.

    `by_topic`: what makes each system's corrected mean, topic by topic; of a sum it is no estimate of a topic's score.
    `ranked`: the systems whose means are over the same topics, all that any system has.
    """

    scores: dict[str, CorrectedScore]
    pairs: tuple[PairedComparison, ...]
    by_topic: dict[str, dict[str, float]] = field(default_factory=dict)
    ranked: tuple[str, ...] = ()


@dataclass(frozen=True)
class SummedScores:
    """What a measure that is a sum over items is made of.

    - `items`: their values: what a label or a grade gains. `items.judge` is NaN where the judge gave no grade, which
      counts as no gain for the judge alone and tells nothing when people correct it;
    - `shares`: how much items count in the systems' scores, `systems` being their names;
    - `counted`: systems × topics, over which topics a system's mean is; by default those where it has items;
    - `within`: what values a score can take. `yes_or_no`: whether items' values are 0 and 1;
    - `topics`: the topics' names, if the means' parts shall be told by them.
    """

    items: LabelledItems
    shares: Shares
    systems: tuple[str, ...]
    within: Range
    counted: BoolArray | None = None
    topics: Sequence[str] = ()

    def corrected(self) -> CorrectedBoard:
        """Return the systems' scores and the pairs of them."""
        return _Correction(self).board

    def linear(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return the topics' linear parts, systems × topics, and how far other labels move them, n × systems × topics.

        Their means are the corrected scores, and their spread is the scores' error: how many labels a topic has by
        chance is taken out. Each label's residual takes a sign at random, with what its draw left to chance (Rao and Wu
        1988).
        """
        return _Correction(self).linear(n)


@dataclass(frozen=True)
class _Correction:
    asked: SummedScores

    @cached_property
    def sums(self) -> TopicSums:
        return TopicSums.of(self.asked.items, self.asked.shares, counted=self.asked.counted)

    @cached_property
    def everything(self) -> FloatArray:
        return np.ones((1, self.sums.n_topics))

    @cached_property
    def each_left_out(self) -> FloatArray:
        return 1 - np.eye(self.sums.n_topics)

    @cached_property
    def corrected(self) -> tuple[FloatArray, FloatArray]:
        values, powers = self.sums.means(self.everything)
        return values[:, 0], powers[:, 0]

    @cached_property
    def without(self) -> FloatArray:
        """The corrected means without each topic, systems × topics."""
        return self.sums.means(self.each_left_out)[0]

    @cached_property
    def parts(self) -> FloatArray:
        """What each topic adds to the corrected means, systems × topics: their mean over the topics is the score."""
        share, of_judge, weight, of_people, of_labelled = np.moveaxis(self.sums.sums, -1, 0)
        whole, weights = share.sum(axis=1, keepdims=True), weight.sum(axis=1, keepdims=True)
        powers = self.corrected[1][:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(powers * of_judge + whole * (of_people - powers * of_labelled) / weights)

    def linear(self, n: int) -> tuple[FloatArray, FloatArray]:
        items, shares = self.asked.items, self.asked.shares
        powers, known = self.corrected[1], np.isfinite(items.people)[shares.items]
        share, of_judge, weight, of_people, of_labelled = np.moveaxis(self.sums.sums, -1, 0)
        sums = [of.sum(axis=1, keepdims=True) for of in (share, weight, of_people - powers[:, None] * of_labelled)]
        systems, places = shares.systems[known], shares.items[known]
        weights, judge = items.weights[places], np.nan_to_num(items.judge[places])
        with np.errstate(invalid="ignore", divide="ignore"):
            middle, widened = sums[2] / sums[1], sums[0] / sums[1]
        apart = of_people - powers[:, None] * of_labelled - middle * weight
        values = powers[:, None] * of_judge + middle * share + widened * apart
        residuals = items.people[places] - powers[systems] * judge - middle[systems, 0]
        moved = (
            widened[systems, 0] * shares.shares[known] * weights * residuals * np.sqrt(np.clip(1 - 1 / weights, 0, 1))
        )
        signs = np.random.default_rng(SEED).choice([-1.0, 1.0], size=(n, len(items.people)))
        cells = systems * self.sums.n_topics + items.topics[places]
        rows = [np.bincount(cells, weights=moved * row[places], minlength=share.size) for row in signs]
        return np.asarray(values), np.asarray(np.stack(rows).reshape(n, *share.shape), dtype=np.float64)

    @cached_property
    def samples(self) -> list[Sample]:
        """What each system's mean rests on: its topics with labels, which count as much as their labels stand for."""
        return [
            Sample(int((weights > 0).sum()), n, min(effective_number(weights.tolist()), n))
            for weights, n in zip(self.sums.sums[:, :, 2], self.sums.n_labelled.tolist(), strict=True)
        ]

    @cached_property
    def reasons(self) -> list[str]:
        """Why systems have no score by people's labels; empty where they have one."""
        n_topics = self.sums.labelled.sum(axis=1).tolist()
        return [
            NO_LABELS if not n else ONE_LABEL if n == 1 else ONE_TOPIC if of == 1 else ""
            for n, of in zip(self.sums.n_labelled.tolist(), n_topics, strict=True)
        ]

    @property
    def board(self) -> CorrectedBoard:
        names = self.asked.systems
        values, powers = self.corrected
        alone = self.sums.means(self.everything, power=PEOPLE_ALONE)[0][:, 0]
        alone_without = self.sums.means(self.each_left_out, power=PEOPLE_ALONE)[0]
        people, corrected = self._estimates(alone, alone_without), self._estimates(values, self.without)
        scores = {
            name: CorrectedScore(
                people[place],
                self._judge(place),
                corrected[place],
                None if self.reasons[place] else float(powers[place]),
                int(self.sums.n_labelled[place]),
                int(self.sums.n_items[place]),
            )
            for place, name in enumerate(names)
        }
        by_topic = {
            name: dict(zip(self.asked.topics, row, strict=True))
            for name, row, reason in zip(names, self.parts.tolist(), self.reasons, strict=True)
            if self.asked.topics and not reason
        }
        ranked = tuple(name for name, whole in zip(names, self.complete.tolist(), strict=True) if whole)
        return CorrectedBoard(scores, tuple(self._pairs()), by_topic, ranked)

    def _estimates(self, values: FloatArray, without: FloatArray) -> list[Estimate]:
        errors = self.sums.errors(without)
        likes = self._shares_of_yes()
        return [
            undefined(reason) if reason else self._interval(value, error, sample, like)
            for value, error, sample, like, reason in zip(
                values.tolist(), errors.tolist(), self.samples, likes, self.reasons, strict=True
            )
        ]

    def _interval(self, value: float, error: float, sample: Sample, like: float | None) -> Estimate:
        if self.asked.within != SHARE:
            return interval(value, error, sample, within=UNBOUNDED)
        spread, n = (None, 0) if like is None else (like * (1 - like), sample.n_items or 0)
        return interval(min(max(value, 0.0), 1.0), error, sample, within=SHARE, spread=spread, n=n)

    def _shares_of_yes(self) -> list[float | None]:
        """People's share of yes among what counts for each system, which has the spread of a score that is a share."""
        items = self.asked.items
        values = np.concatenate([items.people[np.isfinite(items.people)], items.judge[np.isfinite(items.judge)]])
        weights, of_people = self.sums.sums[:, :, 2].sum(axis=1), self.sums.sums[:, :, 3].sum(axis=1)
        if not np.isin(values, (0, 1)).all():
            return [None] * len(weights)
        return [yes / weight if weight > 0 else None for yes, weight in zip(of_people, weights, strict=True)]

    def _judge(self, place: int) -> Estimate:
        counted = self.sums.counted[place]
        if not counted.any() or not np.isfinite(self.asked.items.judge).any():
            return undefined("the judge graded no item")
        return mean_interval(self._by_judge[place, counted].tolist(), within=self.asked.within)

    @cached_property
    def _by_judge(self) -> FloatArray:
        """The judge's own scores, systems × topics, an ungraded reply gaining nothing."""
        shares, items, n_topics = self.asked.shares, self.asked.items, self.asked.items.n_topics
        gained = shares.shares * np.nan_to_num(items.judge)[shares.items]
        cells = shares.systems * n_topics + items.topics[shares.items]
        found = np.bincount(cells, weights=gained, minlength=shares.n_systems * n_topics)
        return np.asarray(found, dtype=np.float64).reshape(shares.n_systems, n_topics)

    @cached_property
    def complete(self) -> BoolArray:
        """Which systems have items on every topic that any system with enough of them has."""
        enough = has_enough(self.sums.counted)
        asked = self.sums.counted[enough].any(axis=0)
        return np.asarray(enough & self.sums.counted[:, asked].all(axis=1))

    def _pairs(self) -> list[PairedComparison]:
        counted = self.sums.counted
        there = [n for n, reason in enumerate(self.reasons) if not reason and self.complete[n]]
        pairs = list(combinations(there, 2))
        if not pairs:
            return []
        first, second = np.array(pairs).T
        values = self.corrected[0][first] - self.corrected[0][second]
        labelled = self.sums.labelled[first] | self.sums.labelled[second]
        errors = jackknife_errors(
            self.without[first] - self.without[second], labelled, counted[first] & counted[second] & ~labelled
        )
        samples = [_least(self.samples[one], self.samples[other]) for one, other in pairs]
        estimates = [
            interval(value, error, sample, within=UNBOUNDED)
            for value, error, sample in zip(values.tolist(), errors.tolist(), samples, strict=True)
        ]
        return tested_pairs([(self.asked.systems[a], self.asked.systems[b]) for a, b in pairs], estimates)


def _least(one: Sample, other: Sample) -> Sample:
    """Return what a difference of two systems rests on: as much as the one that rests on less."""
    return min(one, other, key=lambda sample: (bool(not sample.reason), sample.freedom))


def _test(difference: Estimate) -> tuple[float, float]:
    """Return the degrees of freedom of a difference that has an interval, and its size in standard errors."""
    assert difference.value is not None
    assert difference.se is not None
    assert difference.sample is not None
    return difference.sample.freedom, abs(difference.value) / difference.se


def tested_pairs(names: Sequence[tuple[str, str]], differences: Sequence[Estimate]) -> list[PairedComparison]:
    """Return the pairs with two-sided p-values by t where differences have intervals, and Holm's correction."""
    from scipy.special import stdtr  # imported late: it weighs much

    tested = [n for n, one in enumerate(differences) if one.low is not None and one.se and one.sample]
    ps = [float(2 * stdtr(freedom, -ratio)) for freedom, ratio in map(_test, (differences[n] for n in tested))]
    by_place, corrected = (dict(zip(tested, found, strict=True)) for found in (ps, holm(ps)))
    return [
        PairedComparison(
            *names[place],
            difference=one,
            n_topics=(one.sample.n_topics if one.sample else 0) or 0,
            p=by_place.get(place),
            p_holm=corrected.get(place),
        )
        for place, one in enumerate(differences)
    ]
