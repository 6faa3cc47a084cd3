"""What a criterion's trust page shows of one judge: against people on the same items, rolled up to texts, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from collection.models import Criterion, Rater, Study
from collection.splits import AskedPart, TestPartLocked
from collection.web.tables import Column, Table
from evaluation.charts.reliability import threshold_chart
from evaluation.data.judge_pairs import JudgePairs
from evaluation.data.judge_provenance import making_of
from evaluation.data.population import JudgeNotFound
from evaluation.data.text_level import RolledUpJudge, RolledUpJudges, RollUp, roll_ups_of, rolled_up_judges
from evaluation.data.visibility import LOCKED, PartName
from evaluation.trust.reliability import JudgeTrust, examine_judge, paired_judges
from stats.completeness import UNMARKED, Completeness, complete_first
from stats.intervals import CELLS, Estimate
from stats.judges.text_level import RolledUpComparison, Rule
from stats.judges.thresholds import ThresholdFigures
from stats.plurals import times
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
    def whose(self) -> str:
        return self.name

    @property
    def part_in_words(self) -> str:
        """The part that the figures rest on; empty where the study is not split."""
        shown = self.same_items or self.rolled
        if shown is None or not shown.parts:
            return ""
        return f"{shown.part} topics (test topics unlocked {times(shown.readings)})"

    @property
    def answer(self) -> str:
        return self.same_items.answer if self.same_items else ""

    @property
    def simulated(self) -> bool:
        """Whether a simulation made some of the grades, the judge's or people's."""
        same = self.same_items
        return bool((same and (same.simulated or same.one.people_simulated)) or (self.rolled and self.rolled.simulated))

    @property
    def weak(self) -> bool:
        """Whether the judge whose grades are rolled up is a baseline for trying things out."""
        return self.rolled is not None and making_of(self.rolled.judge).weak

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

    def tables(self) -> dict[str, Table]:
        tables = self.same_items.tables() if self.same_items else {}
        return tables | (rolled_up_tables(self.comparison) if self.comparison else {})


def rolled_up_tables(comparison: RolledUpComparison) -> dict[str, Table]:
    """Return passages by both grades, κ at every pair of thresholds, figures at the judge's, and by assessor."""
    people = (Column(f"human {grade:g}", f"human {grade:g}", "count") for grade in comparison.contingency.people)
    kappas = ((at, people_at, kappa) for (at, people_at), kappa in comparison.kappas.items())
    curve = ((one.at, *one.cells, *_figures(one), one.positive.f1) for one in comparison.curve)
    by_rater = ((name, *_figures(one)) for name, one in comparison.by_rater.items())
    contingency = ((grade, *counts) for grade, counts in comparison.contingency.rows)
    return {
        "contingency": Table.of(
            "Passages by both grades",
            (Column("judge", "Judge", "grade"), *people),
            contingency,
            note="Passages by the judge’s passage-level grade (rows) and the human grade (columns).",
        ),
        "rolled_up": Table.of("κ at all thresholds", ROLLED_UP, kappas),
        "curve": Table.of("Figures at the judge’s thresholds", CURVE, curve),
        "by_rater": Table.of("The judge compared with each assessor", BY_RATER, by_rater),
    }


def _figures(one: ThresholdFigures) -> tuple[Estimate, Estimate, Estimate]:
    return one.positive.precision, one.positive.recall, one.kappa


FIGURES = (
    *(Column("precision", "Precision", "estimate"), Column("recall", "Recall", "estimate")),
    Column("kappa_unweighted", "κ (unweighted)", "estimate"),
)
ROLLED_UP = (
    *(Column("judge_from", kind="grade"), Column("people_from", kind="grade")),
    Column("kappa", kind="estimate", parts=CELLS, names=("kappa_unweighted", *CELLS[1:])),
)
CURVE = (
    *(Column("judge_from", "Judge’s yes from", "grade"), Column("both_yes", "both yes", "count")),
    *(Column("judge_only", "judge only", "count"), Column("human_only", "human only", "count")),
    *(Column("both_no", "both no", "count"), *FIGURES, Column("f1", "F1", "estimate")),
)
BY_RATER = (Column("assessor", "Assessor"), *FIGURES)


def thresholds_chart(examined: Examination) -> dict[str, Any] | None:
    """Return precision, recall, F1 and κ over the thresholds, on the part that had no say, or if locked the other."""
    choice = examined.same_items.choice if examined.same_items else None
    if choice is None:
        return None
    shown = choice.reported_on or choice.chosen_on
    curves = {
        "precision of yes": [(one.at, one.positive.precision.value) for one in shown],
        "recall of yes": [(one.at, one.positive.recall.value) for one in shown],
        "F1 of yes": [(one.at, one.positive.f1.value) for one in shown],
        "κ (unweighted)": [(one.at, one.kappa.value) for one in shown],
    }
    if choice.reported_on:
        curves["κ (unweighted) on the topics used to choose"] = [(one.at, one.kappa.value) for one in choice.chosen_on]
    return threshold_chart(curves, chosen=choice.at, judge=examined.name)


def examine(
    criterion: Criterion,
    *,
    judge: str | None = None,
    people: str = "skilled",
    part: AskedPart = "development",
    against: str = "",
    rule: Rule = "highest",
) -> Examination:
    """Examine the judge of this name under the criterion; without a name, the first one there is.

    `people` would be replaced, a key of EPSILONS; `against` is the key of the roll-up, the first if left empty. Where
    no judge graded anything that people judged, nothing is examined. Raises JudgeNotFound, TestPartLocked and
    RollUpNotFound.
    """
    on_test = part == "test"
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
        same_items = examine_judge(criterion, pairs, judge=wanted, people_are=people, on_test=on_test)
    return Examination(criterion, pairs, roll_ups, rolled_up, same_items, rolled)


def _chosen(roll_ups: Sequence[RollUp], key: str) -> RollUp:
    found = next((one for one in roll_ups if key in ("", one.key)), None)
    if found is None:
        listed = ", ".join(one.key for one in roll_ups) or "none"
        raise RollUpNotFound(f"There is no such text-level comparison under this criterion. Choose one of: {listed}.")
    return found
