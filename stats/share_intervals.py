"""How sure a judge's agreement is, and a difference of two over the same items, by the rule of `stats.intervals`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from stats.intervals import DIFFERENCE_OF_SHARES, SHARE, Estimate, Range, ratio_interval, undefined

Interval = tuple[float, float]


@dataclass(frozen=True)
class ShareDifference:
    """By how much one share is above another over the same items; `estimate` is over topics, paired."""

    items: int
    topics: int
    first: float
    second: float
    estimate: Estimate

    @property
    def difference(self) -> float:
        return self.first - self.second

    @property
    def interval(self) -> Interval | None:
        return bounds(self.estimate)

    @property
    def established(self) -> bool:
        """Whether there is an interval, and it leaves zero out."""
        return self.interval is not None and (self.interval[0] > 0 or self.interval[1] < 0)


def bounds(estimate: Estimate) -> Interval | None:
    """Return the interval's ends; None where there is none."""
    return None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)


def share_by_topic(answers: Mapping[int, bool], topics: Mapping[int, int]) -> Estimate:
    """Return the share of yes among items; `topics` maps items to topics."""
    if not answers:
        return undefined("nothing was judged")
    return _by_topic({item: float(answer) for item, answer in answers.items()}, topics, SHARE)


def difference_by_topic(
    first: Mapping[int, bool], second: Mapping[int, bool], topics: Mapping[int, int]
) -> ShareDifference | None:
    """Compare two shares of yes over the items that are in both, paired; None if no item is.

    `topics` maps items to topics.
    """
    items = sorted(first.keys() & second.keys())
    if not items:
        return None
    return ShareDifference(
        items=len(items),
        topics=len({topics[item] for item in items}),
        first=sum(first[item] for item in items) / len(items),
        second=sum(second[item] for item in items) / len(items),
        estimate=_by_topic(
            {item: float(first[item]) - float(second[item]) for item in items}, topics, DIFFERENCE_OF_SHARES
        ),
    )


def _by_topic(values: Mapping[int, float], topics: Mapping[int, int], within: Range) -> Estimate:
    sums: dict[int, float] = defaultdict(float)
    sizes: dict[int, float] = defaultdict(float)
    for item, value in values.items():
        sums[topics[item]] += value
        sizes[topics[item]] += 1
    return ratio_interval(list(sums.values()), list(sizes.values()), within=within)
