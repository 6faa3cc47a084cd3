"""The answer of a page of numbers in one sentence, with its uncertainty, by rules.

A sentence says no more than the interval does: what the interval holds on both sides of a bound is not settled, and
that no difference is shown is not said to be none. Of agreement without an interval it says why there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from stats.intervals import DIFFERENCE_OF_SHARES, Estimate, for_all, furthest_are_apart
from stats.plurals import counted

if TYPE_CHECKING:  # they weigh much, and are only passed in
    from stats.judges.errors import Direction
    from stats.judges.threshold_choice import Ceiling
    from stats.ranking.filled_scores import FilledScores
    from stats.ranking.leaderboard import PairedComparison, Standing
    from stats.ranking.order_verdict import OrderVerdict

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
    return f"({', '.join(filter(None, (value, ends, estimate.resampled * 'resampled', estimate.over)))})"


def agreement_of_people(alpha: Estimate) -> str:
    """Say how far assessors' labels can be relied on. `alpha` is Krippendorff's over all of them."""
    if alpha.low is None or alpha.high is None:
        return f"How far assessors agree is not known: {ended(alpha.reason)}"
    figures = in_brackets("α", alpha)
    if alpha.low >= RELIABLE:
        return f"Assessors agree well enough for their labels to be relied on {figures}."
    if alpha.high < TENTATIVE:
        return f"Assessors agree too little for firm conclusions from single labels {figures}."
    if alpha.low >= TENTATIVE and alpha.high < RELIABLE:
        return f"Assessors agree well enough for tentative conclusions {figures}."
    least = "too little" if alpha.low < TENTATIVE else "well enough for tentative conclusions"
    most = "well enough to be relied on" if alpha.high >= RELIABLE else "well enough for tentative conclusions"
    return f"Whether assessors agree {least} or {most} is not settled {figures}."


def judge_beside_people(judge: str, ceiling: Ceiling, kappa: Estimate) -> str:
    """Say whether the judge agrees with people as people do with one another.

    Where no item has two people's labels, as with one set of qrels, there is nothing to learn of that: then it says how
    `kappa` of judge and people stands to chance.
    """
    if not ceiling.n_items:
        return _beside_one_set(judge, kappa)
    difference = ceiling.difference
    if difference.low is None or difference.high is None:
        why = ended(difference.reason)
        return f"Whether {judge} agrees with people as they do with one another is not known: {why}"
    figures = in_brackets("difference", difference, signed=True)
    if difference.low > 0:
        return f"{judge} agrees with people more than people do with one another {figures}."
    if difference.high < 0:
        return f"{judge} agrees with people less than people do with one another {figures}."
    if difference.low >= -ALIKE and difference.high <= ALIKE:
        return f"{judge} agrees with people as well as people do with one another {figures}."
    return f"Whether {judge} agrees with people as well as people do with one another is not settled {figures}."


def _beside_one_set(judge: str, kappa: Estimate) -> str:
    if kappa.low is None or kappa.high is None:
        return f"How far {judge} agrees with the one set of human labels is not known: {ended(kappa.reason)}"
    figures = in_brackets("κ", kappa)
    if kappa.low > 0:
        return f"{judge} agrees with the one set of human labels more than by chance {figures}."
    if kappa.high < 0:
        return f"{judge} agrees with the one set of human labels less than by chance {figures}."
    return f"Whether {judge} agrees with the one set of human labels more than by chance is not settled {figures}."


def direction_of_errors(rater: str, found: Direction, *, reference: str) -> str:
    """Say whether the rater says yes or no too often beside `reference` (“people”, or a rater's name)."""
    if not found.n:
        return f"{rater} and {reference} have no item in common."
    if not found.n_wrong:
        none = f"in none of {counted(found.n, 'items')} ({in_percent(0, found.wrong)})"
        return f"{rater} gives another answer than {reference} {none}."
    surplus = found.surplus
    settled = surplus.low is not None and surplus.high is not None and not surplus.low <= 0 <= surplus.high
    if settled and surplus.value is not None:
        yes = surplus.value > 0
        n, of, share = (
            (found.n_false_yes, found.n_no, found.false_yes) if yes else (found.n_false_no, found.n_yes, found.false_no)
        )
        answer, other = ("yes", "no") if yes else ("no", "yes")
        items = f"{n:,} of {counted(of, 'items')}"
        return (
            f"{rater} says {answer} too often: in {items} where {reference} said {other} ({in_percent(n / of, share)})."
        )
    items = f"{found.n_wrong:,} of {counted(found.n, 'items')}"
    wrong = f"{rater} gives another answer than {reference}, or none, in {items}"
    figures = in_percent(found.n_wrong / found.n, found.wrong)
    ways = f"yes for no in {found.n_false_yes:,}, no for yes in {found.n_false_no:,}"
    return f"{wrong} ({figures}); whether it says yes or no too often is not settled ({ways})."


def in_percent(value: float, estimate: Estimate) -> str:
    """Return “30 %, 18 to 44 %, 9 topics”; without an interval the reason stands in its place."""
    if estimate.low is None or estimate.high is None:
        return f"{value * 100:.0f} %; no interval: {estimate.reason.rstrip('.')}"
    ends = f"{estimate.low * 100:.0f} to {estimate.high * 100:.0f} %"
    return ", ".join(filter(None, (f"{value * 100:.0f} %", ends, estimate.over)))


def first_system(
    source: str, standings: Sequence[Standing], pairs: Iterable[PairedComparison], *, withheld: str = ""
) -> str:
    """Say which system is first by this source, and from which others it cannot be told.

    `standings` are best first, `pairs` all comparisons of two systems with Holm's correction; `withheld`: why systems
    have no score.
    """
    ranked = [standing for standing in standings if standing.rank is not None and standing.mean.value is not None]
    if len(ranked) < 2:
        why = f", since {withheld}" if withheld else ""
        return f"By {source}, fewer than two systems can be ranked{why}."
    best = [standing for standing in ranked if standing.rank == 1]
    if len(best) > 1:
        return f"By {source}, {listed([one.system for one in best])} share the first rank."
    (first,) = best
    separated = {frozenset((pair.first, pair.second)) for pair in pairs if pair.significant}
    alike = [one.system for one in ranked[1:] if frozenset((first.system, one.system)) not in separated]
    figures = in_brackets("mean", first.mean)
    if not alike:
        return f"By {source}, {first.system} is first {figures}, better than every other system."
    if len(alike) == len(ranked) - 1:
        return f"By {source}, {first.system} is first {figures}, but cannot be told from any other system."
    return f"By {source}, {first.system} is first {figures}, but cannot be told from {listed(alike)}."


def filled_order(judge: str, found: FilledScores, *, n_filled: int) -> str:
    """Say what filling holes with the judge's grades does to the order of systems that can be ranked before and after.

    Where fewer than two can, it says why, and how many can be with the holes filled.
    """
    if not n_filled:
        return f"{judge} fills no hole, so nothing changes."
    (n_before, n_after), n_systems, measure = found.n_ranked, len(found.compared), found.measure
    if n_systems < 2:
        why = f", since {found.withheld}" if found.withheld else ""
        alone = "fewer than two systems" if n_before < 2 else counted(n_before, "systems")
        filled = f"with holes filled by {judge} {n_after:,} of {len(found.systems):,}"
        return f"By people alone, {alone} can be ranked by {measure}{why}; {filled}."
    n_moved, kendall = len(found.moved), found.kendall
    figures = f" {in_brackets('τ', kendall)}" if kendall.value is not None else ""
    systems = counted(n_systems, "systems")
    systems += "" if n_systems == len(found.systems) else " that can be ranked before and after"
    what = f"moves {n_moved} of {systems} to another rank" if n_moved else f"keeps all {systems} in their order"
    return f"With holes filled by {judge}, {measure} {what}{figures}."


def best_judge(
    judge: str, kappa: Estimate, corrected: Estimate, n_judges: int, alike: Sequence[str] | None, *, n_all: int
) -> str:
    """Say which of several judges agrees most with people, and from which others it cannot be told.

    `corrected` is its κ, corrected for having been chosen for being the highest; `alike` is None where not known;
    `n_all`: how many judges there are to compare. The best of a part is not called the best.
    """
    if n_judges == 1:
        if kappa.low is None:
            return f"How far {judge} agrees with people is not known: {ended(kappa.reason)}"
        return f"{judge} is the only judge compared with people {in_brackets('κ', kappa)}."
    if n_judges < n_all:
        return f"Which of {n_all} judges agrees most with people is not known: {n_judges} of them are compared here."
    among = counted(n_judges, "judges")
    if corrected.low is None:
        return f"Which of {among} agrees most with people is not known: {ended(corrected.reason)}"
    said = f"Of {among} {judge} agrees most with people {in_brackets('κ corrected for the choice', corrected)}"
    if alike is None:
        return f"{said}."
    if not alike:
        return f"{said}, more than every other."
    if len(alike) == n_judges - 1:
        return f"{said}, but cannot be told from any other."
    return f"{said}, but cannot be told from {listed(alike)}."


def order_of_judge(judge: str, kendall: Estimate, verdict: OrderVerdict | None) -> str:
    """Say whether the judge keeps people's order of systems. `kendall` is τ_b of the two orders."""
    same = f"{judge} keeps people’s order of systems"
    return _same_order(same, f"{judge} puts the systems in another order than people", "people", kendall, verdict)


def order_of_evaluation(
    evaluation: str, reference: str, kendall: Estimate, verdict: OrderVerdict | None, *, n: int
) -> str:
    """Say whether the evaluation orders runs as the reference does; it was chosen of `n` comparisons.

    `verdict` is corrected for their number.
    """
    same, other = (
        f"{evaluation} orders the runs as {reference} does",
        f"{evaluation} orders the runs unlike {reference}",
    )
    said = _same_order(same, other, reference, kendall, verdict)
    least = f"Of {counted(n, 'comparisons')} these two are the least alike, a choice that the verdict is corrected for."
    return said if n == 1 else f"{said} {least}"


def _same_order(same: str, other: str, reference: str, kendall: Estimate, verdict: OrderVerdict | None) -> str:
    """Say `same` or `other` where the topics settle it; else that it is open, with the pairs that they separate."""
    if kendall.value is None:
        reason = kendall.reason[:1].lower() + kendall.reason[1:].rstrip(".")
        return f"Whether {same} cannot be told: {reason}."
    figures = in_brackets("τ_b", kendall)
    if verdict is None:
        return f"Whether {same} is uncertain {figures}."
    pairs = counted(verdict.n_pairs, "pairs")
    if verdict.verdict == "other":
        return f"{other} {figures}: {verdict.n_opposed:,} of {pairs}, separated by both, the other way round."
    alike = f"of {pairs} of systems these topics separate {verdict.n_separated:,} by {reference}"
    if verdict.verdict == "same":
        return f"{same} {figures}: {alike}, {verdict.n_alike:,} of them the same way round."
    return f"Whether {same} is not settled {figures}: {alike}."


def same_first(first_by_people: Sequence[str], n: int, n_judges: int, *, does: bool) -> str:
    """Say whether the best judge does, and how many of all do, put the same system first as people."""
    first = listed(first_by_people)
    said = f"It puts {first} first, as people do" if does else f"People put {first} first, and it does not"
    if n_judges == 1:
        return f"{said}."
    return f"{said}; {n} of {counted(n_judges, 'judges')} {'does' if n == 1 else 'do'}."


def corrected_score(judge: str, alone: Estimate, corrected: Estimate) -> str:
    """Say whether the judge's own score is off, by the score that people's labels correct (PPI++)."""
    if corrected.value is None:
        return f"Whether {judge} scores too high or too low cannot be told: {ended(corrected.reason)}"
    figures = in_brackets("corrected", corrected)
    if alone.value is None:
        return f"{judge} alone gives no score {figures}."
    if corrected.low is None or corrected.high is None:
        return f"Whether {judge}’s score of {shown(alone.value)} is right is uncertain {figures}."
    if alone.value > corrected.high:
        return f"{judge} alone scores too high, {shown(alone.value)} {figures}."
    if alone.value < corrected.low:
        return f"{judge} alone scores too low, {shown(alone.value)} {figures}."
    return f"Whether {judge}’s score of {shown(alone.value)} is too high or too low is not settled {figures}."


def order_by_coverage(judge: str, unit: str, kendall: Estimate) -> str:
    """Say whether the judge orders texts as people do. `kendall`: of its coverages with people's."""
    if kendall.value is None:
        return f"Whether {judge} orders the {unit}s as people do cannot be told: {ended(kendall.reason)}"
    figures = in_brackets("τ_b", kendall)
    if kendall.low is None or kendall.high is None:
        return f"Whether {judge} orders the {unit}s as people do is uncertain {figures}."
    if kendall.low > 0:
        return f"By coverage, {judge} orders the {unit}s more as people do than by chance {figures}."
    if kendall.high < 0:
        return f"By coverage, {judge} orders the {unit}s against people {figures}."
    return f"Whether {judge} orders the {unit}s as people do, rather than by chance, is not settled {figures}."


def likeness(whose: str, measure: str, found: Estimate) -> str:
    """Say how alike what two people wrote or marked is, 1 being the same; empty where nothing can be compared."""
    if found.value is None:
        return ""
    return f"{whose} are alike to a degree of {shown(found.value)} of 1 {in_brackets(measure, found)}."


def furthest_groups(by: str, groups: Mapping[str, Estimate]) -> str:
    """Say between which two groups of items agreement differs most, and whether the intervals allow it.

    `groups`: Krippendorff's α by the group's name; percent agreement would be highest where nearly all is one grade.
    The two are picked for being furthest apart, and the test is corrected for that.
    """
    known = {name: one for name, one in groups.items() if one.value is not None and one.low is not None}
    if len(known) < 2:
        return ""
    in_order = sorted(known, key=lambda name: (known[name].value or 0.0, name))
    (low, least), (high, most) = ((name, known[name]) for name in (in_order[0], in_order[-1]))
    if least.value == most.value:
        return f"By {by}, assessors agree equally in all {len(known)} groups with an interval."
    beyond = "They differ by more than chance" if furthest_are_apart(least, most, len(known)) else "It may be chance"
    ranked = f"least for {low} {in_brackets('α', least)} and most for {high} {in_brackets('α', most)}"
    these = f"of the {len(known)} groups with an interval these are furthest apart"
    return f"By {by}, assessors agree {ranked}; {these}. {beyond}."


def furthest_orders(coefficient: str, pairs: Mapping[tuple[str, str], Estimate], n_topics: int) -> str:
    """Say which two orders of the systems differ most. `pairs` are of measures; their coefficients have no interval."""
    known = {pair: one.value for pair, one in pairs.items() if one.value is not None}
    if not known:
        reason = next((one.reason for one in pairs.values()), "")
        return f"No two orders of the systems can be compared: {ended(reason)}" if reason else ""
    (first, other), least = min(known.items(), key=lambda found: (found[1], found[0]))
    over = f"over {counted(n_topics, 'topics')}, without an interval"
    said = f"{first} and {other} put the systems in the least alike order ({coefficient} {shown(least)}, {over})"
    return f"{said}; the lowest of {len(known):,} figures is biased downwards." if len(known) > 1 else f"{said}."


def labels_cover(k: int, shares: Mapping[str, float | None], n_topics: int) -> str:
    """Say how much of the runs' first k passages has a label. `shares` by run, None where a run has none to judge."""
    known = {run: share for run, share in shares.items() if share is not None}
    if not known:
        return ""
    over = counted(n_topics, "topics")
    if min(known.values()) == 1:
        return f"All of every run’s top {k} is labelled ({over})."
    worst = min(known, key=lambda run: (known[run], run))
    of_all = sum(known.values()) / len(known)
    return (
        f"{of_all:.0%} of the runs’ top {k} is labelled on average ({over}), least of {worst}, {known[worst]:.0%}; "
        "the rest counts as not relevant."
    )


def passages_needed(source: str, counts: Mapping[str, int], n_topics: int) -> str:
    """Say how many passages answer all that can be answered. `counts`: by class, with what is `unjudged`."""
    rated = sum(n for name, n in counts.items() if name != "unjudged")
    if not rated:
        return ""
    needed, more = counts["required"], counts.get("unjudged", 0)
    unknown = f"; {more:,} more have no ratings" if more else ""
    of_rated = f"{needed:,} of {counted(rated, 'passages')}"
    return f"By {source}, {of_rated} are required ({counted(n_topics, 'topics')}){unknown}."


def summaries_cover(run: str, share: float, n_topics: int, ungraded: int) -> str:
    """Say how much the human summaries answer of what their documents answer. `share`: a mean over topics, 0 to 1."""
    unknown = f"; {counted(ungraded, 'grades')} are missing" if ungraded else ""
    of_topics = counted(n_topics, "topics")
    return f"{run} answers {share:.1%} of the questions that the passages answer (mean of {of_topics}){unknown}."


def citations_supported(source: str, yes: int, of: int, unjudged: int, *, over: str) -> str:
    """Say how many of the judged citations support their sentence in full, and of all how many could.

    `over`: “25 topics”.
    """
    if not of:
        return ""
    if not unjudged:
        return f"By {source}, {yes:,} of all {counted(of, 'citations')} support their sentence in full ({over})."
    return (
        f"By {source}, {yes:,} of {counted(of, 'judged citations')} support their sentence in full ({over}): "
        f"{unjudged:,} more are not judged, so of {of + unjudged:,} at least {yes:,} and at most {yes + unjudged:,} do."
    )


def elements_unfulfilled(source: str, n_not: int, n_unknown: int, n: int) -> str:
    """Say how many rubric elements no passage fulfils, and how many more it could be."""
    if not n:
        return ""
    if not n_unknown and not n_not:
        return f"By {source}, some passage fulfils each of {counted(n, 'elements')}."
    if not n_unknown:
        return f"By {source}, no passage fulfils {n_not:,} of {counted(n, 'elements')}."
    least = f"at least {n_not:,} and at most {n_not + n_unknown:,} of {counted(n, 'elements')}"
    return f"By {source}, no passage fulfils {least}: of {n_unknown:,} grades are missing."


def pull_of_suggestions(judge: str, shifts: Mapping[str, Estimate]) -> str:
    """Say under which arms seeing the judge's grade moves labels. `shifts` by arm, of the share that are its grade.

    Of several arms the intervals are such that they hold for all of them at once.
    """
    known = {arm: one for arm, one in for_all(shifts, within=DIFFERENCE_OF_SHARES).items() if one.low is not None}
    if not known:
        return f"Whether seeing {judge}’s grade moves labels cannot be told yet."
    at_once = f" The intervals hold for all {len(known)} arms at once." if len(known) > 1 else ""
    ways = {
        "towards it": [arm for arm, one in known.items() if (one.low or 0.0) > 0],
        "away from it": [arm for arm, one in known.items() if (one.high or 0.0) < 0],
    }
    figures = {arm: in_brackets("shift", one, signed=True) for arm, one in known.items()}
    moved = [f"{way} under {listed([f'{arm} {figures[arm]}' for arm in arms])}" for way, arms in ways.items() if arms]
    others = [arm for arm in known if arm not in (*ways["towards it"], *ways["away from it"])]
    if not moved:
        under = listed([f"{arm} {figures[arm]}" for arm in others])
        return f"Whether seeing {judge}’s grade moves labels is not settled under {under}.{at_once}"
    open_ = f" Under {listed(others)} it is not settled." if others else ""
    return f"Seeing {judge}’s grade moves labels {' and '.join(moved)}.{open_}{at_once}"


def ended(reason: str) -> str:
    """Return the reason as the end of a sentence."""
    return f"{reason.rstrip('.')}."


def listed(names: Sequence[str]) -> str:
    """Return “a”, “a and b”, “a, b, c and 4 others”."""
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])} and {counted(len(names) - MOST_NAMED, 'others')}"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if len(names) > 1 else names[0]
