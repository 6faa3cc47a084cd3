"""AP and nDCG@k by a judge's grades of all items, corrected by people's labels on a drawn part of them: approximately.

Neither is a sum over items, so `corrected_scores` does not hold for them. Every passage takes a corrected relevance:
what people say where the judge gives its grade (isotonic, fitted on other topics), plus, where it is labelled, how far
the label is off that, over the probability of its draw. Its mean over draws is the true relevance, so

- sums over a ranking (DCG) and numbers of passages (how many are relevant) are right on average;
- in AP's numerator, Σ_i (r_i + Σ_{j above i} r_i r_j) / place, the product of two passages drawn independently is right
  on average too. Draws of a fixed number are not independent: where both are labelled the product of their two
  corrections is divided by π_ij / (π_i π_j), with Hájek's approximation 1 − (1 − π_i)(1 − π_j) / Σ (1 − π) over the
  labelled (Asymptotic theory of rejective sampling, 1964, section 5);
- AP divides by the number of relevant passages and nDCG by the DCG of the best ranking, which is concave in numbers of
  passages. Both are estimates, so the ratio is off by about their variance. Labels are resampled within the draw (the
  multiplier form of Rao and Wu, Resampling inference with complex survey data, 1988) to see by how much; from nDCG it
  is taken off, and where it is more than `MOST_OFF` no score is given.

A topic's score is its own ratio; alone it says little. Means, intervals and pairs are over topics. With all passages
labelled the figures are those of trec_eval. `tests/corrected_scores_check.py` shows how often the intervals hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from stats.calibration.labels import Labels
from stats.calibration.recalibration import crossfitted
from stats.pattern_intervals import SEED
from stats.ranking.qrels_scoring import QrelsMeasure
from stats.ratings import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

Ratio = Literal["AP", "nDCG"]
RESAMPLES = 24
# `make calibration-check`: by how much the ratio may be off on average, as resampling its labels shows it.
MOST_OFF: dict[Ratio, float] = {"AP": 0.04, "nDCG": 0.03}
# One topic's correction is by chance as often as not beyond this.
MOST_TAKEN_OFF = 0.3


@dataclass(frozen=True)
class Pool:
    """All passages that could be drawn: people's grades (NaN: no label), the judge's, weights, topics from 0 up.

    Arrays have the shape (passages,); a weight is how many passages a label stands for, NaN without one.
    """

    people: FloatArray
    judge: FloatArray
    weights: FloatArray
    topics: IntArray
    n_topics: int


@dataclass(frozen=True)
class CorrectedRatios:
    """Scores, systems × topics, and how far each system's mean would be off, as resampling shows it: (systems,).

    `deviations`: how far other labels of the same draw move each score, resamples × systems × topics.
    """

    table: pd.DataFrame
    off: FloatArray
    deviations: FloatArray

    @property
    def mean_off(self) -> float:
        return float(np.abs(self.off).mean()) if len(self.off) else 0.0


@dataclass(frozen=True)
class RatioMeasure:
    """AP of passages from `relevant` up, or nDCG with grades as gains; `cutoff` None reads whole rankings."""

    kind: Ratio
    cutoff: int | None = None
    relevant: float = 1

    def corrected(
        self, pool: Pool, rankings: Sequence[Sequence[IntArray]], names: Sequence[str], topics: Sequence[str]
    ) -> CorrectedRatios:
        """Return each system's scores. `rankings`, by system and topic, are places in the pool; −1: not in it."""
        return _Correction(self, pool).of(rankings, names, topics)


def ratio_of(measure: QrelsMeasure) -> RatioMeasure | None:
    """Return the measure if it is AP or nDCG with no parameter but the relevant grade and k; else None."""
    if measure.ratio is None or not measure.is_bounded:
        return None
    return RatioMeasure(measure.ratio, measure.cutoff, measure.relevant or 1)


@dataclass(frozen=True)
class _Correction:
    measure: RatioMeasure
    pool: Pool

    @cached_property
    def levels(self) -> FloatArray:
        """The grades from which something is gained: one for AP, all above 0 that people gave for nDCG."""
        if self.measure.kind == "AP":
            return np.array([self.measure.relevant], dtype=np.float64)
        given = self.pool.people[np.isfinite(self.pool.people)]
        return np.unique(given[given > 0])

    @cached_property
    def steps(self) -> FloatArray:
        """What each level gains above the one before."""
        return np.ones(1) if self.measure.kind == "AP" else np.diff(self.levels, prepend=0.0)

    @cached_property
    def labelled(self) -> IntArray:
        return np.isfinite(self.pool.people).astype(np.int64)

    @cached_property
    def reached(self) -> BoolArray:
        """Whether people say that a passage reaches a level, levels × passages; no where they say nothing."""
        return np.asarray(np.nan_to_num(self.pool.people)[None] >= self.levels[:, None])

    @cached_property
    def expected(self) -> FloatArray:
        """How often people say so where the judge gives its grade, levels × passages."""
        pool = self.pool
        found = [
            crossfitted(
                Labels(np.where(self.labelled, yes, np.nan), pool.judge, weights=pool.weights, topics=pool.topics),
                every_item=True,
            )
            for yes in self.reached.astype(np.float64)
        ]
        return np.stack(found) if found else np.zeros((0, len(pool.people)))

    @cached_property
    def corrections(self) -> FloatArray:
        weights = np.where(self.labelled, np.nan_to_num(self.pool.weights), 0.0)
        return np.asarray(weights * (self.reached - self.expected))

    @cached_property
    def chance(self) -> FloatArray:
        """1 − π of each labelled passage, 0 of the others."""
        weights = np.where(self.labelled, np.nan_to_num(self.pool.weights), 1.0)
        return np.clip(1 - 1 / np.maximum(weights, 1.0), 0, 1)

    def of(
        self, rankings: Sequence[Sequence[IntArray]], names: Sequence[str], topics: Sequence[str]
    ) -> CorrectedRatios:
        import pandas as pd

        scores, resampled = np.zeros((len(names), len(topics))), np.zeros((RESAMPLES, len(names), len(topics)))
        rng = np.random.default_rng(SEED)
        for topic in range(self.pool.n_topics):
            rows = np.flatnonzero(self.pool.topics == topic)
            if not len(rows) or not len(self.levels):
                continue
            signs = rng.choice([-1.0, 1.0], size=(RESAMPLES, len(rows)))
            multipliers = np.vstack([np.ones(len(rows)), 1 + np.sqrt(self.chance[rows]) * signs])
            found = self._scores(rows, multipliers, [of_system[topic] for of_system in rankings])
            scores[:, topic], resampled[:, :, topic] = found[0], found[1:]
        middle = resampled.mean(axis=0)
        off = middle - scores
        if self.measure.kind == "nDCG":
            scores = scores - np.clip(off, -MOST_TAKEN_OFF, MOST_TAKEN_OFF)
        table = pd.DataFrame(scores, index=list(names), columns=list(topics))
        return CorrectedRatios(table, off.mean(axis=1), resampled - middle)

    def _scores(self, rows: IntArray, multipliers: FloatArray, rankings: Sequence[IntArray]) -> FloatArray:
        """Return the scores of all systems on a topic for each row of multipliers, shape (rows, systems)."""
        corrections = self.corrections[:, None, rows] * multipliers
        relevance = self.expected[:, None, rows] + corrections
        place_of = np.full(len(self.pool.people) + 1, len(rows))
        place_of[rows] = np.arange(len(rows))
        depth = max((len(ranking) for ranking in rankings), default=0)
        depth = depth if self.measure.cutoff is None else min(depth, self.measure.cutoff)
        places = np.full((len(rankings), depth), len(rows))
        for system, ranking in enumerate(rankings):
            top = ranking[:depth]
            places[system, : len(top)] = place_of[top]  # −1 takes the last, which is none
        known = (self.reached * self.labelled)[:, rows].sum(axis=1)
        if self.measure.kind == "AP":
            return self._average_precision(relevance[0], corrections[0], rows, places, float(known[0]))
        return self._ndcg(relevance, places, known.astype(np.float64))

    def _average_precision(
        self, relevance: FloatArray, corrections: FloatArray, rows: IntArray, places: IntArray, known: float
    ) -> FloatArray:
        inverse = 1 / np.arange(1, places.shape[1] + 1)
        ranked, twice = _at(relevance, places), _at(corrections * self.chance[rows], places)
        products = ranked * (1 + np.cumsum(ranked, axis=2) - ranked)
        together = twice * (np.cumsum(twice, axis=2) - twice) / max(float(self.chance.sum()), 1.0)
        n_relevant = np.maximum(relevance.sum(axis=1), max(known, 1.0))
        return np.asarray(((products + together) * inverse).sum(axis=2) / n_relevant[:, None])

    def _ndcg(self, relevance: FloatArray, places: IntArray, known: FloatArray) -> FloatArray:
        gains = np.tensordot(self.steps, relevance, axes=1)
        discounts = 1 / np.log2(np.arange(max(places.shape[1], relevance.shape[2])) + 2)
        dcg = _at(gains, places) @ discounts[: places.shape[1]]
        least = max(self._ideal(known[:, None])[0], float(self.levels[0]))
        return np.asarray(dcg / np.maximum(self._ideal(relevance.sum(axis=2)), least)[:, None])

    def _ideal(self, numbers: FloatArray) -> FloatArray:
        """Return the DCG of the best ranking with so many passages from each level up, levels × anything."""
        most = int(np.bincount(self.pool.topics).max(initial=1))
        depth = most if self.measure.cutoff is None else self.measure.cutoff
        summed = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(depth) + 2))])
        return np.asarray(self.steps @ np.interp(numbers, np.arange(depth + 1), summed))


def _at(values: FloatArray, places: IntArray) -> FloatArray:
    """Return the values, (rows, passages), at these places, (systems, depth): (rows, systems, depth); 0 for none."""
    padded = np.concatenate([values, np.zeros((len(values), 1))], axis=1)
    return np.asarray(padded[:, places])
