"""The one rule for 95 % intervals: which figure has one, how it is computed, and why another has none.

1. Topics are what is drawn, where items belong to topics, since items of one topic are not independent; else items are.
2. Below 5 topics or 30 items a figure has no interval, but a reason why; nor has one that is beyond chance (κ, α, the
   human ceiling) where nearly all items have one grade (`stats.pattern_intervals.too_rare`).
3. A figure with bounds (a share, a coefficient, a correlation, a mean of such, a difference of two) has Wilson's
   interval on its range, with as many independent items as would have its standard error. It stays in the range, and
   is as wide as chance allows where every topic says the same. Of a mean whose values are skewed, near a bound, it is
   wider (`mean_interval`).
4. A figure without bounds has Student's interval. So has a mean of values without bounds that is clipped itself; its
   interval is clipped too, and holds the clipped truth as often.
5. Both take t with the effective number of topics − 1 degrees of freedom: one large topic among small ones counts for
   little more than itself.

Standard errors come from leaving out each topic in turn (`stats.pattern_intervals`, `ratio_interval`), or from a
figure's linear parts (`stats.influence`). Correlations of leaderboards are the exception: no interval of theirs keeps
its promise (docs/calibration.md), so theirs are called resampled. `tests/calibration_check.py` shows how often each
holds.

Sources: Wilson, Probable inference (1927); with the design's standard error and t Kott, A note on Wilson coverage
intervals for proportions estimated from complex samples (2017). Jackknife: Efron and Tibshirani, An Introduction to the
Bootstrap (1993), chapter 11. Effective number: Kish, Survey Sampling (1965), 11.7; as degrees of freedom Carter,
Schnepel and Steigerwald, Asymptotic behavior of a t-test robust to cluster heterogeneity (2017).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Any

from stats.plurals import counted

FEWEST_TOPICS = 5
FEWEST_ITEMS = 30
LEVEL = 0.95
# A smaller standard error is 0 but for rounding.
NO_ERROR = 1e-12
# `make calibration-check`: of a mean of skewed values the variance is taken 1 + 2·(standard error / distance to the
# bound)² times. Values that may leave the range have rare ones far below it, which fewer topics than these lack.
SKEWED = 2.0
FEWEST_OF_CLIPPED = 20

SAME_IN_RESAMPLES = "the same in nearly all resamples of the topics, which tells nothing of its spread"
SAME_EVERYWHERE = "the same in every topic, which tells nothing of its spread"
UNDEFINED_WITHOUT_ONE = "no interval, for it is undefined without one of its topics or items"


@dataclass(frozen=True)
class Range:
    """What values a figure can take.

    `beyond_chance`: it holds agreement against how often each grade is given, so where one is rare a few items decide.
    `clipped`: a mean is brought within the range, which the values that it is of may leave.
    """

    low: float
    high: float
    beyond_chance: bool = False
    clipped: bool = False

    def held(self, mean: float) -> float:
        """Return the mean as it is published: within the range, where it is brought there."""
        return min(max(mean, self.low), self.high) if self.clipped else mean


SHARE = Range(0, 1)
CLIPPED_SHARE = Range(0, 1, clipped=True)
SIGNED = Range(-1, 1)
COEFFICIENT = Range(-1, 1, beyond_chance=True)
DIFFERENCE_OF_SHARES = Range(-1, 1)
DIFFERENCE_OF_COEFFICIENTS = Range(-2, 2, beyond_chance=True)
UNBOUNDED = Range(-math.inf, math.inf)


@dataclass(frozen=True)
class Sample:
    """What a figure rests on.

    - `n_topics`: the topics that have a say in it; None where its items belong to no topics and are drawn themselves;
    - `n_items`: None where each topic has one value, as a system's measure has;
    - `effective`: how many equally large topics (items) tell as much; None: they are equally large;
    - `unit`: what its items are, in the plural.
    """

    n_topics: int | None = None
    n_items: int | None = None
    effective: float | None = None
    unit: str = "items"

    @property
    def n_drawn(self) -> int:
        """The number of topics, or else of items."""
        return (self.n_items or 0) if self.n_topics is None else self.n_topics

    @property
    def freedom(self) -> float:
        """The degrees of freedom of t."""
        return max((self.n_drawn if self.effective is None else self.effective) - 1, 1.0)

    @property
    def reason(self) -> str:
        """Why no interval can rest on it; empty where one can."""
        if self.n_topics is not None and self.n_topics < FEWEST_TOPICS:
            return f"{self} {_are(self.n_topics)} too few for an interval, which takes {FEWEST_TOPICS}"
        if self.n_items is not None and self.n_items < FEWEST_ITEMS:
            items = counted(self.n_items, self.unit)
            return f"{items} {_are(self.n_items)} too few for an interval, which takes {FEWEST_ITEMS}"
        return ""

    def __str__(self) -> str:
        """Return “25 topics”, or “435 items” where there are no topics."""
        return counted(self.n_drawn, self.unit if self.n_topics is None else "topics")


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval and standard error, or the reason why there is none.

    Without an interval `low` and `high` are None, and `se` is not to be shown as if it were one. `sample` is what the
    value rests on. `resampled`: `low` and `high` are a range of resampled values, which holds the truth less often.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    reason: str = ""
    sample: Sample | None = None
    resampled: bool = False

    @property
    def over(self) -> str:
        """What it rests on in words: “25 topics”; empty where that is not known."""
        return str(self.sample) if self.sample else ""

    def as_dict(self) -> dict[str, Any]:
        """Return `{"value", "low", "high", "n_topics", "n_items"}`, or `{"value": None, "reason"}`.

        Without an interval `reason` says why. `n_topics` is null where items belong to no topics, `n_items` where each
        topic has one value; both are left out where the sample is unknown. `resampled` is there where it is true.
        """
        if self.value is None:
            return {"value": None, "reason": self.reason}
        answer: dict[str, Any] = {"value": self.value, "low": self.low, "high": self.high}
        if self.sample is not None:
            answer |= {"n_topics": self.sample.n_topics, "n_items": self.sample.n_items}
        if self.resampled:
            answer["resampled"] = True
        return answer | ({"reason": self.reason} if self.low is None and self.reason else {})

    def interval_in_words(self, digits: int = 3) -> str:
        """Return “0.448 to 0.579, 25 topics”, or why there is no interval."""
        if self.low is None or self.high is None:
            return self.reason
        numbers = f"{self.low:.{digits}f} to {self.high:.{digits}f}".replace("-", "−")
        return ", ".join(filter(None, (numbers, self.resampled * "resampled", self.over)))

    @property
    def cells(self) -> tuple[float | int | str | None, ...]:
        """Its row of a table, under `CELLS`."""
        found = self.sample or Sample()
        return self.value, self.low, self.high, self.se, found.n_topics, found.n_items, self.reason


CELLS = ("value", "low", "high", "se", "n_topics", "n_items", "reason")


def undefined(reason: str) -> Estimate:
    """Return the estimate that is none, and why."""
    return Estimate(None, reason=reason)


def interval(
    value: float,
    error: float | None,
    sample: Sample,
    *,
    within: Range,
    spread: float | None = None,
    n: float = 0,
    level: float = LEVEL,
) -> Estimate:
    """Return the figure with its interval by the rule.

    - `error`: its standard error; None where it is undefined once a topic or item is left out;
    - `spread`: the variance of one independent item on the scale 0…1 of the range; by default that of a share as large;
    - `n`: how many items a share is of. It counts them as independent where all topics say the same.
    - `level`: in how many studies it is to hold the truth.
    """
    if within.clipped and (few := sample.reason or too_few_of_clipped(sample)):
        return Estimate(within.held(value), se=error, reason=few, sample=sample)
    if within.clipped:
        found = interval(value, error, sample, within=UNBOUNDED, level=level)
        low, high = (None if one is None else within.held(one) for one in (found.low, found.high))
        return replace(found, value=within.held(value), low=low, high=high)
    if sample.reason or error is None:
        return Estimate(value, se=error, reason=sample.reason or UNDEFINED_WITHOUT_ONE, sample=sample)
    quantile = t_quantile(sample.freedom, level)
    if within == UNBOUNDED:
        if error < NO_ERROR:
            return Estimate(value, reason=SAME_EVERYWHERE, sample=sample)
        return Estimate(value, value - quantile * error, value + quantile * error, error, sample=sample)
    width = within.high - within.low
    share, scaled = min(max((value - within.low) / width, 0.0), 1.0), error / width
    spread = share * (1 - share) if spread is None else spread
    at_a_bound = spread < NO_ERROR
    if scaled < NO_ERROR and not at_a_bound and within != SHARE:
        return Estimate(value, reason=SAME_EVERYWHERE, sample=sample)
    if scaled < NO_ERROR or at_a_bound:
        spread, independent = share * (1 - share), n or sample.n_items or sample.n_drawn
        scaled = max(scaled, math.sqrt(spread / independent))
        stretch = quantile**2 / independent
    else:
        stretch = quantile**2 * scaled**2 / spread
    centre = (share + stretch / 2) / (1 + stretch)
    half = math.hypot(quantile * scaled, stretch / 2) / (1 + stretch)
    low, high = max(min(centre - half, share), 0.0), min(max(centre + half, share), 1.0)
    return Estimate(value, within.low + width * low, within.low + width * high, error, sample=sample)


def too_few_of_clipped(sample: Sample) -> str:
    """Say why a mean, or a difference of two, of values that may leave their range has no interval; else empty."""
    if sample.n_drawn >= FEWEST_OF_CLIPPED:
        return ""
    return f"{sample} are too few for an interval of scores that may be negative, which takes {FEWEST_OF_CLIPPED}"


def mean_interval(values: Sequence[float], *, within: Range, unit: str = "topics") -> Estimate:
    """Return the mean of one value for each topic, or for each independent item where `unit` names these.

    Values that vary as much as their mean is from a bound are skewed: few of them lack the rare ones that are far from
    it, so their interval is widened (`SKEWED`).
    """
    n = len(values)
    if not n:
        return undefined("there is no value")
    mean = math.fsum(values) / n
    sample = Sample(n_topics=n) if unit == "topics" else Sample(n_items=n, unit=unit)
    if n < 2:
        return interval(mean, None, sample, within=within)
    error = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n)
    nearest = within.high - mean if within.clipped else min(within.high - mean, mean - within.low)
    widened = math.sqrt(1 + SKEWED * (error / nearest) ** 2) if nearest > NO_ERROR else 1.0
    found = interval(mean, error * widened, sample, within=within)
    return found if found.se is None else replace(found, se=error)


def ratio_interval(
    sums: Sequence[float], sizes: Sequence[float], *, within: Range, n_items: int | None = None, unit: str = "items"
) -> Estimate:
    """Return the sum over topics of `sums` by that of `sizes`, each topic being left out in turn.

    A share has the numbers of items as sizes; topics of size 0 have no say.
    """
    topics = [(total, size) for total, size in zip(sums, sizes, strict=True) if size > 0]
    if not topics:
        return undefined(f"there are no {unit}")
    total, size = (math.fsum(column) for column in zip(*topics, strict=True))
    effective = effective_number([size for _, size in topics])
    sample = Sample(len(topics), round(size) if n_items is None else n_items, effective, unit)
    left = [(total - one) / (size - of) for one, of in topics] if len(topics) > 1 else []
    return interval(total / size, jackknife_error(left), sample, within=within, n=size)


def share_of_items(successes: int, trials: int, *, unit: str = "items") -> Estimate:
    """Return a share of independent items."""
    if not trials:
        return undefined(f"there are no {unit}")
    share = successes / trials
    error = math.sqrt(share * (1 - share) / trials)
    return interval(share, error, Sample(n_items=trials, unit=unit), within=SHARE)


def resampled_levels(n_topics: int) -> tuple[float, float]:
    """Return which quantiles of resampled values bound a range: .025 and .975 of many topics, further out of few.

    The bootstrap's spread is too narrow by √((n−1)/n), and its tails are the normal's. Source: the expanded percentiles
    of Hesterberg, What Teachers Should Know About the Bootstrap (The American Statistician 69(4), 2015).
    """
    reach = math.sqrt(n_topics / (n_topics - 1)) * t_quantile(n_topics - 1.0)
    low = NormalDist().cdf(-reach)
    return low, 1 - low


def jackknife_error(left: Sequence[float]) -> float | None:
    """Return the standard error from the values with each topic left out; None where one of them is undefined."""
    n = len(left)
    if n < 2 or not all(map(math.isfinite, left)):
        return None
    mean = math.fsum(left) / n
    return math.sqrt((n - 1) / n * math.fsum((value - mean) ** 2 for value in left))


def effective_number(sizes: Sequence[float]) -> float:
    """Return how many equally large topics tell as much as topics of these sizes: (Σn)²/Σn²."""
    squares = math.fsum(size * size for size in sizes)
    return math.fsum(sizes) ** 2 / squares if squares else 0.0


@lru_cache(maxsize=4_096)
def t_quantile(freedom: float, level: float = LEVEL) -> float:
    """Return the upper quantile of Student's t that bounds an interval of this level, 95 % by default."""
    from scipy.special import stdtrit  # scipy weighs 60 MB in every process that never comes here

    return float(stdtrit(freedom, 0.5 + level / 2))


def student_tail(t: float, freedom: float) -> float:
    """Return the probability that Student's t with so many degrees of freedom is above `t`. Source: scipy.special."""
    from scipy.special import stdtr  # imported late: it weighs much

    return float(stdtr(freedom, -t))


def binomial_tail(k: int, n: int, p: float) -> float:
    """Return the probability of k or more successes in n draws of probability p. Source: scipy.special."""
    from scipy.special import bdtrc  # imported late: it weighs much

    return float(bdtrc(k - 1, n, p)) if k > 0 else 1.0


# --- Figures that are picked among several ------------------------------------------------------


def for_all(estimates: Mapping[str, Estimate], *, within: Range) -> dict[str, Estimate]:
    """Return the figures with intervals that hold all of their truths at once in 95 of 100 studies (Bonferroni).

    So they hold for the one that is picked for being the largest, too. Those without an interval stay as they are.
    """
    known = [one for one in estimates.values() if one.low is not None]
    level = 1 - (1 - LEVEL) / max(len(known), 1)
    return {
        name: one
        if one.low is None or one.value is None or one.se is None or one.sample is None
        else interval(one.value, one.se, one.sample, within=within, level=level)
        for name, one in estimates.items()
    }


def furthest_are_apart(one: Estimate, other: Estimate, n: int) -> bool:
    """Whether two figures, picked among `n` for being furthest apart, differ by more than chance (Bonferroni).

    The figures are taken as independent: where they share topics their difference is surer than this.
    """
    if one.value is None or other.value is None or not one.se or not other.se or not one.sample or not other.sample:
        return False
    freedom, n_pairs = min(one.sample.freedom, other.sample.freedom), n * (n - 1) // 2
    quantile = t_quantile(freedom, 1 - (1 - LEVEL) / max(n_pairs, 1))
    return abs(one.value - other.value) > quantile * math.hypot(one.se, other.se)


def _are(n: int) -> str:
    return "is" if n == 1 else "are"
