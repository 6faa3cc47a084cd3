"""What the charts of a comparison of judges show."""

from __future__ import annotations

from typing import Any

from evaluation.charts.judges import JudgeRow, SystemRanks, forest_chart, ranks_chart
from evaluation.trust.compared_judges import ComparedJudge, JudgeComparison
from stats.plurals import counted

REFERENCE, ALIKE, APART = "the reference", "not told from it", "differs from it"
MARKED, SIMULATED, UNKNOWN = "unfinished or failing", "simulated", "no interval of the difference"
GROUPS = (REFERENCE, ALIKE, APART, MARKED, SIMULATED, UNKNOWN)

Description = dict[str, Any] | None


def agreement_chart(found: JudgeComparison) -> Description:
    """Return κ of each judge that has one, with its interval; None where none has."""
    rows = [
        JudgeRow(one.name, _group(one, found.against), one.kappa.value, one.kappa.low, one.kappa.high)
        for one in found.judges
        if one.kappa.value is not None
    ]
    title = f"Agreement of judges with people under {found.criterion}"
    subtitle = f"κ of yes and no with its 95 % interval over {counted(found.n_topics, 'topics')}; {_reference(found)}"
    return forest_chart(rows, groups=GROUPS, axis="κ (unweighted)", title=title, subtitle=subtitle) if rows else None


def differences_chart(found: JudgeComparison) -> Description:
    """Return each judge's κ minus the reference's, with its simultaneous interval; None where none is known."""
    rows = [
        JudgeRow(one.name, _group(one, found.against), one.difference, one.low, one.high)
        for one in found.judges
        if one.difference is not None
    ]
    subtitle = f"Paired over {counted(found.n_topics, 'topics')}; the 95 % intervals hold for all pairs together"
    return (
        forest_chart(
            rows,
            groups=GROUPS,
            axis=f"κ minus that of {found.against}",
            title=f"Differences to {found.against}",
            subtitle=subtitle,
            zero=True,
        )
        if rows
        else None
    )


def systems_chart(found: JudgeComparison) -> Description:
    """Return systems' ranks by people and by the judge whose ranks are shown; None where no judge ranks them."""
    one, orders = found.ranked, found.orders
    if one is None or one.order is None or orders is None:
        return None
    read = one.order.recalibrated.ranks if one.order.recalibrated else {}
    ranks = [
        SystemRanks(system, by_people, one.order.ranks[system], read.get(system))
        for system, by_people in orders.ranks.items()
    ]
    return ranks_chart(ranks, judge=one.name, measure=orders.measure, over=counted(orders.n_topics, "topics"))


def _reference(found: JudgeComparison) -> str:
    best = " (the best)" if found.against == found.best and found.best_is_named else ""
    return f"the reference is {found.against}{best}" if found.against else "there is no reference"


def _group(one: ComparedJudge, against: str) -> str:
    if one.rater.simulated:
        return SIMULATED
    if one.completeness.mark:
        return MARKED
    if one.name == against:
        return REFERENCE
    if one.difference is None:
        return UNKNOWN
    return APART if one.told_apart else ALIKE
