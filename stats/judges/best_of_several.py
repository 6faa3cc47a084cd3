"""The best of several judges: what its figure is worth once it was chosen by that figure, and who can be told apart.

The highest of several figures is too high by chance (the winner's curse). Given that a judge was chosen because its
figure is the highest, that figure follows a normal distribution cut off where another judge would have been chosen. The
corrected figure is the one that is as often too high as too low under that distribution, held within what is possible
for all judges together, and the interval's lower end the one at which the figure would have been exceeded in 3.5 of 100
studies: the hybrid of Andrews, Kitagawa and McCloskey, Inference on Winners, The Quarterly Journal of Economics 139(1),
2024. The upper end is one judge's own, at 2.5 of 100: theirs would be closer, but rests on the distance to the second
judge alone, which is often 0 where figures are shares of few items. That misses 3.5 to 6 of 100 together.

Few topics do not tell 33 judges' covariances. So figures are taken on the scale of the arc sine, where shares have one
variance for all judges, however good (Bartlett 1936). How far two judges are from being copies (1 − their correlation)
is drawn to what all pairs have in common, by as much as chance explains how pairs differ (empirical Bayes, on
logarithms): where it explains all there is one correlation, and near copies, such as attempts or variants of a prompt,
stay copies, so that choosing among them corrects nothing. No corrected figure is below the lowest judge's. The judge's
own variance joins that of all in proportion to its degrees of freedom beside 20 (as in Smyth, Linear models and
empirical Bayes methods, 2004): a judge that was chosen for being high is one whose topics varied little. Degrees of
freedom are topics times the judges that are worth as much when independent. `tests/judges_check.py` shows how often it
holds.

Differences have simultaneous intervals over all pairs, so they hold for the pair that one looks at because it is far
apart: |t| is compared with the largest that chance gives among all pairs, each with a standard error of its own, in
studies drawn with the judges' covariance over topics (Westfall and Young, Resampling-based Multiple Testing, 1993).

`parts` are a figure's parts by topic: the jackknife's pseudo-values, whose mean is the figure. Shape (topics, judges).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stats.intervals import SAME_EVERYWHERE, Estimate, Range, Sample, t_quantile

FloatArray = NDArray[np.float64]

SEED = 1971
DRAWS = 2_000
DRAWS_OF_ENDS = 10_000
AT_ONCE = 2_000_000
# Above so many topics a standard error is as good as known.
MANY_TOPICS = 200
LEVEL = 0.05
# How often the interval of the best may lie above the truth, and below it.
ABOVE, BELOW = 0.035, 0.025
# A tenth of the level bounds where the corrected figure can lie, as the authors advise.
FOR_ALL = LEVEL / 10
# How many degrees of freedom the variance of all judges counts for beside a judge's own.
BORROWED = 20
SAME = 1e-12
RIGHT = math.pi / 2


def pseudo_values(values: FloatArray, left_out: FloatArray) -> FloatArray:
    """Return parts from figures, shape (judges,), and the figures without each topic, shape (topics, judges)."""
    n = len(left_out)
    return np.asarray(n * values - (n - 1) * left_out)


def corrected_best(values: FloatArray, parts: FloatArray, sample: Sample, *, within: Range) -> Estimate:
    """Return the highest figure, corrected for having been chosen for being the highest, with its interval.

    Two judges at least. `within` has ends: a share, a coefficient.
    """
    half, best = (within.high - within.low) / 2, int(values.argmax())
    shares = np.clip((values - within.low) / half - 1, -1.0, 1.0)
    spreads, covariance = 1 - np.square(shares), np.cov(parts / half, rowvar=False) / len(parts)
    own, value = np.diag(covariance), float(np.arcsin(shares[best]))
    if own.sum() < SAME or spreads.sum() < SAME:
        return Estimate(float(values[best]), reason=SAME_EVERYWHERE, sample=sample)
    apart, alike = _correlations(covariance, best, len(parts))
    freedom = sample.freedom * len(values) / (1 + (len(values) - 1) * alike**2)
    error = math.sqrt(_variance(own, spreads, best, len(parts) - 1))
    behind, apart = (np.delete(of, best) for of in (value - np.arcsin(shares), apart))
    low = value - float((behind[apart > SAME] / apart[apart > SAME]).min(initial=math.inf))
    chosen = _Chosen(value, low, error * _largest(len(values), alike, freedom))
    stretch = _t(freedom, 1 - ABOVE) / NormalDist().inv_cdf(1 - ABOVE)
    bound = chosen.mean_at(1 - (ABOVE - FOR_ALL) / (1 - FOR_ALL), error * stretch)
    ends = (bound, chosen.mean_at(0.5, error), value + error * _t(freedom, 1 - BELOW))
    low, middle, high = (within.low + half * (1 + math.sin(min(max(end, -RIGHT), RIGHT))) for end in ends)
    middle = max(middle, low, float(values.min()))
    return Estimate(middle, low, high, half * error * math.sqrt(spreads[best]), sample=sample)


def _correlations(covariance: FloatArray, best: int, n_topics: int) -> tuple[FloatArray, float]:
    """Return how far each judge is from being a copy of the best (1 − correlation), and the mean correlation of two."""
    deviations = np.sqrt(np.diag(covariance))
    known = deviations > math.sqrt(SAME)
    own = np.eye(len(covariance))
    own[np.ix_(known, known)] = covariance[np.ix_(known, known)] / np.outer(deviations[known], deviations[known])
    pairs = np.clip(own[np.triu(np.outer(known, known), 1)], -1.0, 1.0)
    alike = float(pairs.mean()) if len(pairs) else 0.0
    if not len(pairs) or alike >= 1 - SAME:
        return np.full(len(covariance), 1 - alike), alike
    logs, mean = np.log(np.maximum(1 - np.append(pairs, own[best]), SAME)), math.log(1 - alike)
    by_chance, between = (1 + alike) ** 2 / (n_topics - 1), float(np.square(logs[: len(pairs)] - mean).mean())
    kept = max(1 - by_chance / between, 0.0) if between > SAME else 0.0
    return np.exp(mean + kept * (logs[len(pairs) :] - mean)), alike


def _variance(own: FloatArray, spreads: FloatArray, best: int, freedom: int) -> float:
    """The variance of the best on the scale of the arc sine, to which all judges lend theirs."""
    common = float(own.sum() / spreads.sum())
    if spreads[best] < SAME:
        return common
    return (freedom * float(own[best] / spreads[best]) + BORROWED * common) / (freedom + BORROWED)


def _t(freedom: float, share: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, share))


@dataclass(frozen=True)
class _Chosen:
    """A figure that was chosen for being above `low`, and whose mean lies within `reach` of it."""

    value: float
    low: float
    reach: float

    def share_below(self, mean: float, error: float) -> float:
        """How probable it is that the figure is below what it was, given that it was chosen."""
        low, high = max(self.low, mean - self.reach), mean + self.reach
        if low >= high:
            return 0.5
        below, whole = (_log_between((low - mean) / error, (end - mean) / error) for end in (self.value, high))
        return math.exp(min(below - whole, 0.0)) if math.isfinite(whole) else 0.5

    def mean_at(self, share: float, error: float) -> float:
        """Return the mean at which the figure would be below what it was with this probability."""
        from scipy.optimize import brentq

        low, high = self.value - self.reach * (1 - 1e-9), self.value + self.reach * (1 - 1e-9)
        if self.share_below(low, error) <= share:
            return low
        if self.share_below(high, error) >= share:
            return high
        return float(brentq(lambda mean: self.share_below(mean, error) - share, low, high, xtol=1e-7))


def _log_between(low: float, high: float) -> float:
    """The logarithm of the normal probability between two ends, exact far out."""
    from scipy.special import log_ndtr

    if low > 0:
        low, high = -high, -low
    below, above = float(log_ndtr(low)), float(log_ndtr(high))
    return above + math.log1p(-math.exp(below - above)) if above > below else -math.inf


def _largest(n_judges: int, alike: float, freedom: float) -> float:
    """By how many standard errors the figures of all judges may be off together, but for 1 in 200 studies."""
    rng, together = np.random.default_rng(SEED), max(alike, 0.0)
    drawn = math.sqrt(together) * rng.normal(size=(DRAWS_OF_ENDS, 1))
    drawn = drawn + math.sqrt(1 - together) * rng.normal(size=(DRAWS_OF_ENDS, n_judges))
    spread = np.sqrt(rng.chisquare(freedom, DRAWS_OF_ENDS) / freedom)
    return float(np.quantile(np.abs(drawn).max(axis=1) / spread, 1 - FOR_ALL))


@dataclass(frozen=True)
class Differences:
    """Figures minus figures: row minus column, with simultaneous intervals. All of shape (judges, judges)."""

    value: FloatArray
    low: FloatArray
    high: FloatArray

    def told_apart(self, first: int, second: int) -> bool:
        """Whether the interval leaves 0 out."""
        return bool(self.low[first, second] > 0 or self.high[first, second] < 0)


def differences(values: FloatArray, parts: FloatArray, sample: Sample) -> Differences:
    """Return the differences between all pairs of judges, over the same topics.

    Topics of unequal size tell as little as fewer equal ones: that is t's part in the rule for all intervals.
    """
    n = len(parts)
    value = values[:, None] - values[None, :]
    error = np.sqrt(_pair_variances(np.cov(parts, rowvar=False).reshape(len(values), len(values))) / n)
    half = _largest_t(parts) * error * t_quantile(sample.freedom) / t_quantile(n - 1.0)
    return Differences(value, value - half, value + half)


def _pair_variances(covariance: FloatArray) -> FloatArray:
    own = np.diagonal(covariance, axis1=-2, axis2=-1)
    pairs: Any = own[..., :, None] + own[..., None, :] - 2 * covariance
    return np.asarray(np.maximum(pairs, 0.0))


def _largest_t(parts: FloatArray) -> float:
    """The |t| that the largest of all pairs exceeds by chance in 5 of 100 studies."""
    n, n_judges = parts.shape
    rng, apart = np.random.default_rng(SEED), (parts - parts.mean(axis=0)) / np.sqrt(n - 1)
    observed = _pair_variances(apart.T @ apart)
    pairs = np.triu(observed > SAME, 1)
    if pairs.sum() <= 1 and n <= MANY_TOPICS:
        return t_quantile(n - 1)
    largest: list[float] = []
    while len(largest) < DRAWS:
        size = max(1, min(DRAWS - len(largest), AT_ONCE // (n * max(n, n_judges))))
        if n > MANY_TOPICS:
            means = rng.normal(size=(size, n)) @ apart
            variances = np.broadcast_to(observed, (size, *observed.shape))
        else:
            drawn = rng.normal(size=(size, n, n)) @ apart
            means = np.sqrt(n) * drawn.mean(axis=1)
            drawn -= drawn.mean(axis=1, keepdims=True)
            variances = _pair_variances(np.swapaxes(drawn, 1, 2) @ drawn / (n - 1))
        t = np.abs(means[:, :, None] - means[:, None, :])[:, pairs] / np.sqrt(np.maximum(variances[:, pairs], SAME**2))
        largest += t.max(axis=1).tolist()
    return float(np.quantile(largest, 1 - LEVEL))
