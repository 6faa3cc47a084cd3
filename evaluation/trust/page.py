"""What a criterion's trust page shows of one judge: against people on the same items, rolled up to texts, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from collection.models import Criterion, Rater, Study
from collection.splits import TestPartLocked
from evaluation.data.judge_pairs import JudgePairs
from evaluation.data.population import JudgeNotFound
from evaluation.data.text_level import RolledUpJudge, RolledUpJudges, RollUp, roll_ups_of, rolled_up_judges
from evaluation.data.visibility import LOCKED, PartName
from evaluation.trust.reliability import JudgeTrust, examine_judge, paired_judges
from stats.completeness import UNMARKED, Completeness, complete_first
from stats.intervals import CELLS
from stats.judges.text_level import RolledUpComparison, Rule
from stats.refusals import Refused


class RollUpNotFound(Refused):
    """No judge's grades under the named criterion can be rolled up to stand beside people's."""


@dataclass(frozen=True)
class Lock:
    """A judge whose figures on a study's test part nobody has read, with the criterion to come back to."""

    study: Study
    criterion: Criterion
    judge: Rater


@dataclass(frozen=True)
class Examination:
    """One judge under one criterion.

    - `same_items`: what speaks for it and against it where people judged the same items; None where they did not;
    - `rolled`: its grades rolled up, beside people's grades of the same texts; None where there are none;
    - `pairs` and `rolled_up` hold all judges of the two; `roll_ups` what may be chosen in the place of the latter.
    """

    criterion: Criterion
    pairs: JudgePairs
    roll_ups: tuple[RollUp, ...]
    rolled_up: RolledUpJudges | None
    same_items: JudgeTrust | None
    rolled: RolledUpJudge | None

    @property
    def name(self) -> str:
        """The judge's name; empty where there is no judge to examine."""
        if self.same_items:
            return self.same_items.name
        return self.rolled.name if self.rolled else ""

    @property
    def part(self) -> PartName:
        """The part of a split study that the figures rest on."""
        return self.same_items.part if self.same_items else self.rolled.part if self.rolled else "all"

    @property
    def on_test(self) -> bool:
        return self.part == "test"

    @property
    def completeness(self) -> dict[str, Completeness]:
        """How complete all judges are that may be examined, on either part; unfinished and failing ones last."""
        rolled = (*self.rolled_up.tests, *self.rolled_up.judges) if self.rolled_up else ()
        found = {one.name: one.completeness for one in rolled}
        found |= {one.name: one.completeness for one in (*self.pairs.tests, *self.pairs.pairs)}
        return dict(complete_first(sorted(found.items()), of=lambda pair: pair[1]))

    @property
    def names(self) -> list[str]:
        """All judges that may be examined, in that order."""
        return list(self.completeness)

    @property
    def choices(self) -> list[tuple[str, str]]:
        """The same, each as a list to choose from shows it."""
        return [(name, found.after(name)) for name, found in self.completeness.items()]

    @property
    def examined(self) -> Completeness:
        """How complete the judge is that is examined."""
        shown = self.same_items.one if self.same_items else self.rolled
        return shown.completeness if shown else UNMARKED

    @cached_property
    def comparison(self) -> RolledUpComparison | None:
        """The rolled-up grades' figures."""
        return self.rolled.compared() if self.rolled else None

    @property
    def locks(self) -> list[Lock]:
        """The rolled-up judges' locks that the same items' do not show already."""
        if self.rolled_up is None:
            return []
        shown = {(self.criterion.study_id, judge.pk) for judge in self.pairs.locked}
        sides = (self.criterion, self.rolled_up.roll_up.of_judges, self.rolled_up.roll_up.of_people)
        return [
            Lock(
                one.split.study,
                next(side for side in sides if side.study_id == one.split.study_id),
                judge,
            )
            for judge in self.rolled_up.locked
            for one in self.rolled_up.parts
            if not one.readings.get(judge.pk) and (one.split.study_id, judge.pk) not in shown
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything, as the API and the download have it."""
        same = self.same_items.as_dict() if self.same_items else self._head()
        same |= self.examined.as_dict()
        return same | ({"rolled_up": self.rolled.as_dict()} if self.rolled else {})

    def _head(self) -> dict[str, Any]:
        return {"study": self.criterion.study.name, "criterion": self.criterion.name, "judge": self.name}

    def tables(self) -> dict[str, list[list[Any]]]:
        """Return the page's tables by name, each with a first row of names."""
        tables = self.same_items.tables() if self.same_items else {}
        return tables | (rolled_up_tables(self.comparison) if self.comparison else {})


def rolled_up_tables(comparison: RolledUpComparison) -> dict[str, list[list[Any]]]:
    """Return the contingency table and κ at every pair of thresholds."""
    people = [f"human {grade:g}" for grade in comparison.contingency.people]
    return {
        "contingency": [["judge", *people], *([grade, *counts] for grade, counts in comparison.contingency.rows)],
        "rolled_up": [
            ["judge_from", "people_from", *("kappa_unweighted", *CELLS[1:])],
            *([at, people_at, *kappa.cells] for (at, people_at), kappa in comparison.kappas.items()),
        ],
    }


def examine(
    criterion: Criterion,
    *,
    judge: str | None = None,
    people_are: str = "skilled",
    on_test: bool = False,
    against: str = "",
    rule: Rule = "highest",
) -> Examination:
    """Examine the judge of this name under the criterion; without a name, the first one there is.

    `against` is the key of the roll-up, the first if left empty. Where no judge graded anything that people judged,
    nothing is examined. Raises JudgeNotFound, TestPartLocked and RollUpNotFound.
    """
    pairs = paired_judges(criterion)
    roll_ups = tuple(roll_ups_of(criterion))
    rolled_up = rolled_up_judges(_chosen(roll_ups, against), rule=rule) if roll_ups or against else None
    everything = Examination(criterion, pairs, roll_ups, rolled_up, None, None)
    if not everything.names:
        return everything
    if judge is not None and judge not in everything.names:
        raise JudgeNotFound(f"This judge cannot be compared with humans. Choose one of: {', '.join(everything.names)}.")
    same_names = [one.name for one in (pairs.tests if on_test else pairs.pairs)]
    of_texts = (rolled_up.tests if on_test else rolled_up.judges) if rolled_up else ()
    wanted = judge if judge is not None else next(iter([*same_names, *(one.name for one in of_texts)]), None)
    rolled = next((one for one in of_texts if one.name == wanted), None)
    if wanted not in same_names and rolled is None:
        if on_test:
            raise TestPartLocked(LOCKED)
        raise JudgeNotFound("This judge cannot be compared with humans on the development topics.")
    same_items = None
    if wanted in same_names:
        same_items = examine_judge(criterion, pairs, judge=wanted, people_are=people_are, on_test=on_test)
    return Examination(criterion, pairs, roll_ups, rolled_up, same_items, rolled)


def _chosen(roll_ups: Sequence[RollUp], key: str) -> RollUp:
    found = next((one for one in roll_ups if key in ("", one.key)), None)
    if found is None:
        listed = ", ".join(one.key for one in roll_ups) or "none"
        raise RollUpNotFound(f"There is no such text-level comparison under this criterion. Choose one of: {listed}.")
    return found
