"""The answer of a page of numbers in one sentence, with its uncertainty, by rules.

A sentence says no more than the interval does: what the interval holds on both sides of a bound is not settled, and
that no difference is shown is not said to be none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from stats.intervals import Estimate
from stats.plurals import counted

if TYPE_CHECKING:  # both weigh much, and are only passed in
    from stats.judges.threshold_choice import Ceiling
    from stats.ranking.leaderboard import PairedComparison, Standing

# Krippendorff, Content Analysis (2004), chapter 11: rely on α from .8 up, conclude tentatively from .667 up.
RELIABLE, TENTATIVE = 0.8, 2 / 3
# Judge and people agree alike where the whole interval of the difference is nearer to 0 than this.
ALIKE = 0.15
MOST_NAMED = 3


def shown(value: float, *, signed: bool = False) -> str:
    """Return “0.71”, or “+0.03” and “−0.04”."""
    return f"{value:{'+' if signed else ''}.2f}".replace("-", "−")


def in_brackets(name: str, estimate: Estimate, *, signed: bool = False) -> str:
    """Return “(α 0.71, 0.60 to 0.80, 43 topics)”; without an interval the reason stands in its place."""
    assert estimate.value is not None
    value = f"{name} {shown(estimate.value, signed=signed)}"
    if estimate.low is None or estimate.high is None:
        return f"({value}; no interval: {estimate.reason.rstrip('.')})"
    ends = f"{shown(estimate.low, signed=signed)} to {shown(estimate.high, signed=signed)}".replace("+", "")
    return f"({', '.join(filter(None, (value, ends, estimate.over)))})"


def agreement_of_people(alpha: Estimate) -> str:
    """Say how far assessors' labels can be relied on. `alpha` is Krippendorff's over all of them."""
    if alpha.value is None:
        return f"How far assessors agree cannot be told: {alpha.reason}"
    figures = in_brackets("α", alpha)
    if alpha.low is None or alpha.high is None:
        return f"How far assessors agree is uncertain {figures}."
    if alpha.low >= RELIABLE:
        return f"Assessors agree well enough for their labels to be relied on {figures}."
    if alpha.high < TENTATIVE:
        return f"Assessors agree too little for firm conclusions from single labels {figures}."
    if alpha.low >= TENTATIVE and alpha.high < RELIABLE:
        return f"Assessors agree well enough for tentative conclusions {figures}."
    least = "too little" if alpha.low < TENTATIVE else "well enough for tentative conclusions"
    most = "well enough to be relied on" if alpha.high >= RELIABLE else "well enough for tentative conclusions"
    return f"Whether assessors agree {least} or {most} is not settled {figures}."


def judge_beside_people(judge: str, ceiling: Ceiling) -> str:
    """Say whether the judge agrees with people as people do with one another."""
    difference = ceiling.difference
    if difference.value is None:
        return f"{judge} cannot be compared with how people agree with one another: {difference.reason}"
    figures = in_brackets("difference", difference, signed=True)
    if difference.low is None or difference.high is None:
        return f"Whether {judge} agrees with people as they do with one another is uncertain {figures}."
    if difference.low > 0:
        return f"{judge} agrees with people more than people do with one another {figures}."
    if difference.high < 0:
        return f"{judge} agrees with people less than people do with one another {figures}."
    if difference.low >= -ALIKE and difference.high <= ALIKE:
        return f"{judge} agrees with people as well as people do with one another {figures}."
    return f"Whether {judge} agrees with people as well as people do with one another is not settled {figures}."


def first_system(source: str, standings: Sequence[Standing], pairs: Iterable[PairedComparison]) -> str:
    """Say which system is first by this source, and from which others it cannot be told.

    `standings` are best first, `pairs` all comparisons of two systems with Holm's correction.
    """
    ranked = [standing for standing in standings if standing.rank is not None and standing.mean.value is not None]
    if len(ranked) < 2:
        return f"{source}: fewer than two systems can be ranked."
    best = [standing for standing in ranked if standing.rank == 1]
    if len(best) > 1:
        return f"By {source}, {listed([one.system for one in best])} share the first rank."
    (first,) = best
    told_apart = {frozenset((pair.first, pair.second)) for pair in pairs if pair.significant}
    alike = [one.system for one in ranked[1:] if frozenset((first.system, one.system)) not in told_apart]
    figures = in_brackets("mean", first.mean)
    if not alike:
        return f"By {source}, {first.system} is first {figures}, better than every other system."
    if len(alike) == len(ranked) - 1:
        return f"By {source}, {first.system} is first {figures}, but cannot be told from any other system."
    return f"By {source}, {first.system} is first {figures}, but cannot be told from {listed(alike)}."


def listed(names: Sequence[str]) -> str:
    """Return “a”, “a and b”, “a, b, c and 4 others”."""
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])} and {counted(len(names) - MOST_NAMED, 'others')}"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if len(names) > 1 else names[0]
