"""Judges of a criterion on the same items: who is best, what that is worth, and how each orders the systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collection.models import Criterion
from evaluation.data.judge_pairs import JudgePairs, PairedJudge, pair_judges
from evaluation.leaderboards.sources import Scorer
from evaluation.trust.compared_judges import Choice, ComparedJudge, Cost, JudgeComparison
from evaluation.trust.system_orders import measure_orders
from judging.data.reasons import spent_by_judges
from stats.completeness import complete_first
from stats.intervals import Estimate, undefined
from stats.judges.comparison import OTHER_SCALE
from stats.judges.side_by_side import SeveralJudges, compare_judges
from stats.judges.summary import alpha_of_items
from stats.plurals import counted
from stats.ratings import MISSING, FloatArray, Ratings, grades_of, majority
from stats.refusals import Refused

# A judge that was asked about fewer of the items than this share of the most would take items from all others.
FEWEST_ASKED = 0.5
# So many are compared where nobody chose any: all, or the best.
MOST = 50


class JudgeNotCompared(Refused):
    """No judge of this name is compared."""


def compare_judges_of(
    criterion: Criterion,
    *,
    judge: Sequence[str] = (),
    every: bool = False,
    against: str = "",
    measure: str = "",
    submitted: Mapping[str, Mapping[int, float | None]] | None = None,
) -> JudgeComparison:
    """Compare judges that graded what people judged under the criterion, on the items that all were asked about.

    They are those named, or else all that were asked about enough: of more than 50 those with the highest κ of their
    own, unless `every` one is asked for. Where the study is split, items are of its development part. `submitted` are
    grades of items by further judges, who are not stored, by name; None is ungraded. `measure` orders systems, by
    default the first that the judgments allow. Raises JudgeNotCompared where a name is no judge's that can be compared,
    and Refused where the measure is none.
    """
    scorer = Scorer.of(criterion.study)
    if submitted:
        scorer.loader.submit(criterion, submitted)
    pairs = pair_judges(scorer.loader.judgments(criterion))
    names = _names(pairs.pairs)
    chosen, left_out = _chosen(pairs, names, () if every else judge, every=every)
    common = _common([pairs.pairs[place] for place in chosen])
    choices = [
        Choice(names[place], one.completeness.after(names[place]), _asked(one), place in chosen)
        for place, one in sorted(enumerate(pairs.pairs), key=lambda each: _coverage(each[1], names[each[0]]))
    ]
    if not chosen or not common:
        reason = "no item was asked of all judges" if chosen else "no judge can be compared with humans"
        return JudgeComparison(
            criterion, (), tuple(choices), "", "", undefined(reason), 0, 0, left_out,
            development=bool(pairs.parts), people_simulated=False, reason=reason,
        )  # fmt: skip
    compared, their = [pairs.pairs[place] for place in chosen], [names[place] for place in chosen]
    if against and against not in their:
        raise JudgeNotCompared(f"“{against}” is not compared here. Choose one of: {', '.join(their)}.")
    people = compared[0].paired.people.of_items(_rows(compared[0], common))
    grades = [_grades(one, common) for one in compared]
    assert people.topics is not None  # load_criterion
    found = compare_judges(_yes(people, compared[0]), _yes_by(compared, grades), people.topics)
    held = their.index(against) if against else found.reference
    measured = measure_orders(scorer, criterion, compared, measure=measure)
    spent = _spent({one.criterion for one in compared})
    judges = [
        ComparedJudge(
            rater=one.judge,
            name=their[place],
            completeness=one.completeness,
            n_ungraded=int((grades[place].codes[:, 0] == MISSING).sum()),
            kappa=found.kappas[place],
            alpha=_alpha(people, grades[place], one),
            **_difference(found, place, held),
            cost=spent.get((one.criterion.pk, one.judge.pk)),
            order=measured.by_judge.get(place),
            no_order=measured.without.get(place, ""),
            moved=measured.moved_by(place),
        )
        for place, one in enumerate(compared)
    ]
    return JudgeComparison(
        criterion=criterion,
        judges=tuple(complete_first(sorted(judges, key=_best_first), of=lambda one: one.completeness)),
        choices=tuple(choices),
        best="" if found.best is None else their[found.best],
        against="" if held is None else their[held],
        corrected=found.corrected,
        n_items=len(common),
        n_topics=len(np.unique(people.topics)),
        left_out=left_out,
        development=pairs.parts is not None,
        people_simulated=any(one.people_simulated for one in compared),
        reason=found.reason,
        orders=measured.orders,
    )


def _best_first(one: ComparedJudge) -> tuple[bool, float, str]:
    return one.kappa.value is None, -(one.kappa.value or 0.0), one.name


def _names(pairs: Sequence[PairedJudge]) -> list[str]:
    """Return each judge's name, with its criterion where one judge graded under several."""
    names = [one.name for one in pairs]
    return [
        name if names.count(name) == 1 else f"{name} ({one.criterion})" for one, name in zip(pairs, names, strict=True)
    ]


def _asked(one: PairedJudge) -> int:
    return len(one.paired.people.items)


def _coverage(one: PairedJudge, name: str) -> tuple[int, int, str]:
    """Return what puts judges in order: complete ones first, then those asked about most, then by name."""
    return one.completeness.rank, -_asked(one), name


def _enough_asked(pairs: JudgePairs, names: Sequence[str]) -> tuple[list[int], dict[int, str]]:
    """Return the places of judges that were asked about enough of the items, and of how many the others were."""
    most = max(map(_asked, pairs.pairs), default=0)
    by_coverage = sorted(range(len(names)), key=lambda place: _coverage(pairs.pairs[place], names[place]))
    few = [place for place in by_coverage if _asked(pairs.pairs[place]) < FEWEST_ASKED * most]
    n_asked = {place: f"{_asked(pairs.pairs[place]):,} of {counted(most, 'items')}" for place in few}
    return sorted(set(by_coverage) - set(few)), n_asked


def _chosen(
    pairs: JudgePairs, names: Sequence[str], asked: Sequence[str], *, every: bool
) -> tuple[list[int], tuple[str, ...]]:
    """Return the places of the judges that are compared, and which others were asked about too few of the items."""
    covered, few = _enough_asked(pairs, names)
    chosen = _named(names, asked) if asked and not every else covered if every else _best(pairs, covered)
    return chosen, tuple(f"{names[place]} ({of})" for place, of in few.items() if place not in chosen)


def _best(pairs: JudgePairs, covered: Sequence[int]) -> list[int]:
    """Return the places of all judges, or of the most that are compared, complete ones with the highest κ first."""

    def order(place: int) -> tuple[int, float]:
        return pairs.pairs[place].completeness.rank, -pairs.pairs[place].kappa()

    return list(covered) if len(covered) <= MOST else sorted(sorted(covered, key=order)[:MOST])


def _named(names: Sequence[str], asked: Sequence[str]) -> list[int]:
    """Return the places of the judges that are asked for."""
    if unknown := next((name for name in asked if name not in names), None):
        listed = ", ".join(names) or "none yet"
        raise JudgeNotCompared(f"“{unknown}” cannot be compared with humans here. Choose from: {listed}.")
    return sorted({names.index(name) for name in asked})


def _common(compared: Sequence[PairedJudge]) -> list[int]:
    """Return the items that people judged and all of these judges were asked about."""
    items = [set(one.paired.people.items) for one in compared]
    return sorted(set.intersection(*items)) if items else []


def _rows(one: PairedJudge, common: Sequence[int]) -> Any:
    items = np.asarray(one.paired.people.items, dtype=np.int64)
    order = np.argsort(items)
    return order[np.searchsorted(items[order], common)]


def _grades(one: PairedJudge, common: Sequence[int]) -> Ratings:
    return one.paired.judge.of_items(_rows(one, common))


def _yes(people: Ratings, one: PairedJudge) -> Any:
    return grades_of(majority(people), people.numbers) >= one.people_at


def _yes_by(compared: Sequence[PairedJudge], grades: Sequence[Ratings]) -> list[FloatArray]:
    """Return yes (1), no (0) and ungraded (NaN) of each judge."""
    numbers = [grades_of(of.codes[:, 0], of.numbers) for of in grades]
    return [np.where(np.isnan(of), np.nan, of >= one.at) for one, of in zip(compared, numbers, strict=True)]


def _alpha(people: Ratings, judge: Ratings, one: PairedJudge) -> Estimate:
    return alpha_of_items(people, judge) if one.same_scale else undefined(OTHER_SCALE)


def _difference(found: SeveralJudges, place: int, held: int | None) -> dict[str, float | None]:
    apart = None if held is None or held == place else found.difference(place, held)
    return dict(zip(("difference", "low", "high"), apart or (None, None, None), strict=True))


def _spent(criteria: set[Criterion]) -> dict[tuple[int, int], Cost]:
    """Return what judges spent, by criterion and rater."""
    return {(one.pk, rater): Cost(**spent) for one in criteria for rater, spent in spent_by_judges(one).items()}
