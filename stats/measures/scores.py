"""A measure's value for one topic, or the reason why it has none, and averages over topics."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean, stdev

Setting = str | int | float | bool
Bounds = tuple[float, float]


@dataclass(frozen=True)
class Score:
    """What a measure gives one topic, or one answer to it.

    - `value`: None where the measure is undefined; `reason` says why. None is never 0.
    - `ungraded`: how many judgments that it rests on have no readable grade. They count as not answered.
    - `settings`: what must be known to compute the value again.
    - `bounds`: the least and the most that the value can be, whatever the grades of what is ungraded; None where all
      is graded, or where the measure does not know them.
    """

    value: float | None
    reason: str = ""
    ungraded: int = 0
    settings: Mapping[str, Setting] = field(default_factory=dict)
    bounds: Bounds | None = None


@dataclass(frozen=True)
class TopicMean:
    """A measure averaged over topics, each topic counting once.

    - `standard_error`: sd with ddof 1 over √n; None for fewer than two topics.
    - `n`: the topics averaged; `undefined`: the others, with the reason of each.
    - `ungraded`: the sum over the topics averaged.
    """

    value: float | None
    standard_error: float | None
    n: int
    undefined: Mapping[str, str]
    ungraded: int = 0
    reason: str = ""


def mean_over_topics(scores: Mapping[str, Score]) -> TopicMean:
    """Return the macro mean and its standard error; topics where the measure is undefined are left out and named.

    Source: the RUBRIC paper (Farzi and Dietz, TREC RAG 2024), section 6.3.3.
    """
    undefined = {topic: score.reason for topic, score in scores.items() if score.value is None}
    values = [score.value for score in scores.values() if score.value is not None]
    ungraded = sum(score.ungraded for score in scores.values() if score.value is not None)
    if not values:
        reason = "There is no topic." if not scores else "The measure is undefined for every topic."
        return TopicMean(None, None, 0, undefined, reason=reason)
    error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
    return TopicMean(fmean(values), error, len(values), undefined, ungraded)


def mean_by_attribute(scores: Mapping[str, Score], attribute: Mapping[str, str]) -> dict[str, TopicMean]:
    """Return the mean for each value of an attribute of the topics (category, domain, length), sorted by value.

    Topics without the attribute are averaged under the empty string.
    """
    groups: dict[str, dict[str, Score]] = {}
    for topic, score in scores.items():
        groups.setdefault(attribute.get(topic, ""), {})[topic] = score
    return {value: mean_over_topics(groups[value]) for value in sorted(groups)}


def length_bins(lengths: Mapping[str, float], edges: Sequence[float]) -> dict[str, str]:
    """Return for each topic the bin of its length, as an attribute to average by.

    `edges` rise; a length on an edge belongs to the bin above it. Bins sort in their order as text.
    """
    names = _bin_names(edges)
    return {topic: names[bisect_right(edges, length)] for topic, length in lengths.items()}


def _bin_names(edges: Sequence[float]) -> list[str]:
    if list(edges) != sorted(set(edges)):
        raise ValueError(f"Bin edges must rise strictly; these do not: {list(edges)}.")
    between = [f"{low:g} to under {high:g}" for low, high in pairwise(edges)]
    spans = [f"under {edges[0]:g}", *between, f"{edges[-1]:g} and more"] if edges else ["any"]
    width = len(str(len(spans)))
    return [f"{number:0{width}}: {span}" for number, span in enumerate(spans, start=1)]


def f1(one: float, other: float) -> float:
    """Return the harmonic mean of two shares; 0 where both are."""
    return 2 * one * other / (one + other) if one + other else 0.0


def share(flags: Iterable[bool | None], *, nothing: str, settings: Mapping[str, Setting] | None = None) -> Score:
    """Return the share of true flags. None is ungraded: it stays in the denominator and is counted.

    `nothing` is the reason when there are no flags at all.
    """
    judged = list(flags)
    if not judged:
        return Score(None, nothing, settings=settings or {})
    ungraded = sum(flag is None for flag in judged)
    least, most = (sum(flag in counted for flag in judged) / len(judged) for counted in ((True,), (True, None)))
    bounds = (least, most) if ungraded else None
    return Score(least, ungraded=ungraded, settings=settings or {}, bounds=bounds)
