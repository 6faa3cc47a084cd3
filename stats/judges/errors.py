"""Where a rater errs beside what is expected: which cells, which way, how often, and how far two raters agree.

What is expected are people's majority or another rater's grades; nothing here says that they are right. Intervals are
over topics, by the rule of `stats.intervals`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from stats.agreement import coefficients
from stats.agreement.report import ONE_GRADE
from stats.intervals import (
    DIFFERENCE_OF_SHARES,
    SHARE,
    Estimate,
    Range,
    mean_interval,
    ratio_interval,
    share_of_items,
    undefined,
)
from stats.pattern_intervals import estimate
from stats.ratings import MISSING, BoolArray, CodeArray, FloatArray, IntArray, pairs_of_codes


@dataclass(frozen=True)
class Direction:
    """How often a rater errs over `n` items with an expected yes or no, and which way.

    - `wrong`: the share of items with another answer or none;
    - `n_false_yes` of `n_no` items with an expected no have a yes: the share `false_yes`; `false_no` likewise;
    - `surplus`: the share of false yeses minus that of false noes, over the items with an answer. Where its interval
      leaves 0 out, the rater says yes (above 0) or no (below) more often than is expected;
    - `n_ungraded` items have no answer.
    """

    n: int
    n_wrong: int
    n_ungraded: int
    n_no: int
    n_false_yes: int
    n_yes: int
    n_false_no: int
    wrong: Estimate
    false_yes: Estimate
    false_no: Estimate
    surplus: Estimate

    def as_dict(self) -> dict[str, Any]:
        return {
            "n_items": self.n,
            "n_other_answer_or_none": self.n_wrong,
            "n_ungraded": self.n_ungraded,
            "other_answer_or_none": self.wrong.as_dict(),
            "false_yes": {"n": self.n_false_yes, "of": self.n_no, **self.false_yes.as_dict()},
            "false_no": {"n": self.n_false_no, "of": self.n_yes, **self.false_no.as_dict()},
            "surplus_of_yes": self.surplus.as_dict(),
        }


def direction_of(expected_yes: BoolArray, given_yes: BoolArray, ungraded: BoolArray, topics: IntArray) -> Direction:
    """Return how often and which way a rater errs; all of shape (items,). `given_yes` is False where ungraded."""
    false_yes = ~expected_yes & given_yes
    false_no = expected_yes & ~given_yes & ~ungraded
    wrong = false_yes | false_no | ungraded
    signed = false_yes.astype(np.float64) - false_no
    return Direction(
        n=len(wrong),
        n_wrong=int(wrong.sum()),
        n_ungraded=int(ungraded.sum()),
        n_no=int((~expected_yes).sum()),
        n_false_yes=int(false_yes.sum()),
        n_yes=int(expected_yes.sum()),
        n_false_no=int(false_no.sum()),
        wrong=share_over_topics(wrong, topics),
        false_yes=share_over_topics(false_yes[~expected_yes], topics[~expected_yes]),
        false_no=share_over_topics(false_no[expected_yes], topics[expected_yes]),
        surplus=_mean_over_topics(signed[~ungraded], topics[~ungraded], DIFFERENCE_OF_SHARES),
    )


@dataclass(frozen=True)
class ErrorGroup:
    """Some of the items: how many are wrong, and by how much the grades given are above those expected."""

    name: str
    n_items: int
    n_wrong: int
    wrong: Estimate
    difference: Estimate

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "n_items": self.n_items,
            "n_wrong": self.n_wrong,
            "wrong": self.wrong.as_dict(),
            "difference": self.difference.as_dict(),
        }


def error_group(
    name: str, wrong: BoolArray, differences: FloatArray, topics: IntArray, *, width: float, reason: str = ""
) -> ErrorGroup:
    """Return the figures of some items; all arrays of shape (items,), at least one.

    `differences` are given minus expected, NaN without a grade; `width` is how far they can be apart; `reason` says why
    grades have no difference. Items of one topic alone speak for that topic, so they count as independent there.
    """
    graded = np.isfinite(differences)
    within = Range(-width, width)
    one_topic = len(np.unique(topics)) == 1
    if reason or not graded.any():
        difference = undefined(reason or "nothing was graded")
    elif one_topic:
        difference = mean_interval(differences[graded].tolist(), within=within, unit="items")
    else:
        difference = _mean_over_topics(differences[graded], topics[graded], within)
    share = share_of_items(int(wrong.sum()), len(wrong)) if one_topic else share_over_topics(wrong, topics)
    return ErrorGroup(name, len(wrong), int(wrong.sum()), share, difference)


def share_over_topics(of: BoolArray, topics: IntArray) -> Estimate:
    """Return the share of items, both arrays of shape (items,), with its interval over topics."""
    return _mean_over_topics(of.astype(np.float64), topics, SHARE)


def _mean_over_topics(values: FloatArray, topics: IntArray, within: Range) -> Estimate:
    _, places = np.unique(topics, return_inverse=True)
    return ratio_interval(np.bincount(places, values).tolist(), np.bincount(places).tolist(), within=within)


@dataclass(frozen=True)
class RaterPair:
    """Two raters by their places, over the `n` items that both graded: κ and the share of items they grade alike."""

    first: int
    second: int
    n: int
    kappa: Estimate
    same: Estimate


def pairs_of_raters(codes: Sequence[CodeArray], n_grades: int, topics: IntArray) -> list[RaterPair]:
    """Return all pairs of raters, each rater's codes of shape (items,), MISSING where it gave no grade."""
    return [
        _pair(codes, first, second, n_grades, topics)
        for first in range(len(codes))
        for second in range(first + 1, len(codes))
    ]


def _pair(codes: Sequence[CodeArray], first: int, second: int, n_grades: int, topics: IntArray) -> RaterPair:
    both = (codes[first] != MISSING) & (codes[second] != MISSING)
    n = int(both.sum())
    if not n:
        nothing = undefined("no item was graded by both")
        return RaterPair(first, second, 0, nothing, nothing)
    a, b = codes[first][both], codes[second][both]
    same = share_over_topics(a == b, topics[both])
    if len(np.union1d(a, b)) < 2:
        return RaterPair(first, second, n, undefined(ONE_GRADE), same)
    patterns = pairs_of_codes(a, b, n_grades, topics[both])
    differences = coefficients.pair_differences("plain", np.arange(n_grades, dtype=np.float64))
    kappa = partial(coefficients.cohen_kappa, patterns=patterns, differences=differences)
    found = estimate({"kappa": kappa}, patterns)["kappa"]
    return RaterPair(first, second, n, found, same)
