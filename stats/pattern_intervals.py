"""Intervals of figures that are functions of patterns: each topic, or item where there are none, is left out in turn.

Items of one pattern are left out once, for all of them, so a figure costs as much as there are patterns or topics,
whatever the number of items. The rule is `stats.intervals`'s.

Source of the standard error: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 11. More than 1,000
topics or patterns are left out in groups drawn at random: Kott, The delete-a-group jackknife (2001).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stats.intervals import (
    COEFFICIENT,
    DIFFERENCE_OF_COEFFICIENTS,
    DIFFERENCE_OF_SHARES,
    SHARE,
    SIGNED,
    UNBOUNDED,
    Estimate,
    Range,
    Sample,
    effective_number,
    interval,
    undefined,
)
from stats.ratings import CountPatterns, FloatArray, PairPatterns, RowPatterns, quotient

__all__ = [
    "COEFFICIENT",
    "DIFFERENCE_OF_COEFFICIENTS",
    "DIFFERENCE_OF_SHARES",
    "SHARE",
    "SIGNED",
    "UNBOUNDED",
    "Estimate",
    "Range",
    "estimate",
    "estimate_share",
    "leave_out",
    "undefined",
]

REPLICATES = 1_000
SEED = 1971
MOST_LEFT_OUT = 1_000
# How many items of other grades than the commonest a figure beyond chance takes, without topics and with them, or a
# fifth of all.
FEWEST_OTHERS = 5
FEWEST_OTHERS_OVER_TOPICS = 50
FIFTH = 0.2

Patterns = CountPatterns | PairPatterns | RowPatterns
Statistic = Callable[[FloatArray], FloatArray]


def estimate(
    statistics: Mapping[str, Statistic],
    patterns: Patterns,
    *,
    within: Range = COEFFICIENT,
    values: Mapping[str, float] | None = None,
    counted: FloatArray | None = None,
    unit: str = "items",
) -> dict[str, Estimate]:
    """Estimate several statistics with values in one range.

    A statistic maps frequencies of shape (rows, patterns) to values of shape (rows,), NaN where it is undefined.
    `values` are point values from elsewhere, taken in place of our own. `counted`, shape (patterns,), says how much an
    item of each pattern counts; topics without any that counts have no say. `unit` is what the items are. What is
    beyond chance has no interval where `too_rare` says why.
    """
    weights = np.ones(len(patterns.frequencies)) if counted is None else counted
    left = leave_out(patterns, weights)
    sample = _sample(patterns, weights, unit)
    n = float(patterns.frequencies @ weights)
    rare = too_rare(patterns, weights) if within.beyond_chance else ""
    found = {}
    for name, statistic in statistics.items():
        rows = statistic(np.vstack([patterns.frequencies, left.frequencies]))
        value = (values or {}).get(name, float(rows[0]))
        found[name] = interval(value, left.error(rows[1:]), sample, within=within, n=n)
        if rare and not sample.reason:
            found[name] = Estimate(value, se=found[name].se, reason=rare, sample=sample)
    return found


def too_rare(patterns: Patterns, counted: FloatArray) -> str:
    """Return why items of nearly one grade give figures beyond chance no interval; empty where they do.

    Of 30 items one or two of another grade say nothing. Over topics, the few stand in a few of them: where chance drew
    none of the topics that have many, κ is too low and looks certain, and intervals held the truth in 87 of 100
    simulated studies of 6 topics; from 30 of another grade on it was still 92 at 15 topics, from 50 on 93 and more.
    Of a judge and people, or two raters, the one with fewest decides: a judge that says yes to a fifth, where people do
    to 1 in 20, has no interval, which would hold in 88 to 92.
    """
    fewest = FEWEST_OTHERS if patterns.by_topic is None else FEWEST_OTHERS_OVER_TOPICS
    given = patterns.given(patterns.frequencies * counted)
    totals = given.sum(axis=1)
    others = totals - given[:, given.sum(axis=0).argmax()]
    side = int((others - np.minimum(fewest, FIFTH * totals)).argmin())
    if others[side] >= min(fewest, FIFTH * totals[side]) - 1e-9:
        return ""
    by_one = " by one of the two" if len(given) > 1 else ""
    return (
        f"too few items have another grade than the commonest for an interval: {others[side]:.0f} of "
        f"{totals[side]:,.0f}{by_one}, and it takes {fewest} or a fifth"
    )


def estimate_share(
    patterns: Patterns, *, of: Any, among: Any, value: float | None = None, unit: str = "items"
) -> Estimate:
    """Estimate the share of `of` `among` items, both of shape (patterns,): how much an item of each pattern counts."""
    part, whole = (np.asarray(one, dtype=np.float64) for one in (of, among))

    def share(frequencies: FloatArray) -> FloatArray:
        return quotient(frequencies @ part, frequencies @ whole)

    values = {} if value is None else {"share": value}
    return estimate({"share": share}, patterns, within=SHARE, values=values, counted=whole, unit=unit)["share"]


@dataclass(frozen=True)
class LeftOut:
    """The frequencies that remain with each topic (item, group) left out, and how many each row stands for."""

    frequencies: FloatArray
    times: FloatArray

    def error(self, values: FloatArray) -> float | None:
        """Return the standard error from a statistic of each row; None where one of these is undefined."""
        n = self.times.sum()
        if n < 2 or not np.isfinite(values).all():
            return None
        deviations = values - (self.times @ values) / n
        return float(np.sqrt((n - 1) / n * (self.times @ deviations**2)))


def leave_out(patterns: Patterns, counted: FloatArray) -> LeftOut:
    """Leave out each topic that has a say, or each item; groups of them where they are many."""
    frequencies = patterns.frequencies
    if patterns.by_topic is not None:
        units = patterns.by_topic[np.flatnonzero(patterns.by_topic @ counted > 0)]
        if units.shape[0] > MOST_LEFT_OUT:
            units = _grouped(units)
        units = units if isinstance(units, np.ndarray) else units.toarray()
        return LeftOut(frequencies - units, np.ones(len(units)))
    has_a_say = np.flatnonzero(counted > 0)
    if len(has_a_say) <= MOST_LEFT_OUT:
        return LeftOut(frequencies - np.eye(len(frequencies))[has_a_say], frequencies[has_a_say])
    rng = np.random.default_rng(SEED)
    groups = rng.multinomial(frequencies.astype(np.int64), np.full(MOST_LEFT_OUT, 1 / MOST_LEFT_OUT)).T
    return LeftOut(frequencies - groups, np.ones(MOST_LEFT_OUT))


def _grouped(by_topic: Any) -> Any:
    """Sum the topics' rows by groups drawn at random, equally large but for one."""
    from scipy.sparse import csr_array

    n_topics = by_topic.shape[0]
    group = np.random.default_rng(SEED).permutation(n_topics) % MOST_LEFT_OUT
    return csr_array((np.ones(n_topics), (group, np.arange(n_topics))), shape=(MOST_LEFT_OUT, n_topics)) @ by_topic


def _sample(patterns: Patterns, counted: FloatArray, unit: str) -> Sample:
    n_items = int(patterns.frequencies.sum())
    if patterns.by_topic is None:
        return Sample(None, n_items, float(patterns.frequencies @ (counted > 0)), unit)
    sizes = patterns.by_topic @ counted
    sizes = sizes[sizes > 0]
    return Sample(len(sizes), n_items, effective_number(sizes.tolist()), unit)
