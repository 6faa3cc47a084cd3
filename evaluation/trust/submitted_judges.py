"""Judges as submissions: grades that were handed in as qrels, and evaluation files, beside people. None is kept.

Qrels name texts (`topic 0 docno grade`, or `topic 0 run grade` where reports are judged): they are compared like the
judges of the study. An evaluation file has no grades, so it has an order of systems alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collection.formats.problems import BrokenFile, InputFile, Problem
from collection.formats.scores.evaluation_files import ALL, GRADE, EvaluationRow, read_evaluation
from collection.models import Criterion, Item, Rater
from collection.web.tables import Column, Table
from evaluation.leaderboards.evaluation_files.correlate import board_of
from evaluation.leaderboards.evaluation_files.values import (
    EvaluationsCompared,
    compare_evaluations,
    evaluation_of,
    rows_of_leaderboard,
)
from evaluation.leaderboards.serializers import CorrelateChoice
from evaluation.trust.compared_judges import JudgeComparison
from evaluation.trust.comparison import compare_judges_of
from stats.intervals import Estimate, undefined
from stats.plurals import counted
from stats.refusals import Refused

NO_ITEMS = "an evaluation file has scores of systems, and no grades of items"
UNGRADED = -1.0
Grades = dict[int, float | None]


class NothingSubmitted(Refused):
    """No file holds anything that can be held against people."""


@dataclass(frozen=True)
class Submission:
    """A submission beside people: κ and α of its grades, and how far its order of systems is people's.

    `n_items` is None for an evaluation file; `is_file`: it was handed in, and is no judge of the study.
    """

    name: str
    n_items: int | None
    n_ungraded: int
    kappa: Estimate
    alpha: Estimate
    kendall: Estimate
    tau_ap: Estimate
    is_file: bool
    mark: str = ""
    simulated: bool = False

    def as_dict(self) -> dict[str, Any]:
        return {
            "judge": self.name,
            "submitted": self.is_file,
            "mark": self.mark or None,
            "simulated": self.simulated,
            "n_items": self.n_items,
            "n_ungraded": self.n_ungraded,
            "kappa": self.kappa.as_dict(),
            "krippendorff_alpha": self.alpha.as_dict(),
            "kendall": self.kendall.as_dict(),
            "tau_ap": self.tau_ap.as_dict(),
        }


@dataclass(frozen=True)
class SubmittedJudges:
    """All submissions of a criterion, those with the highest κ first, and what there is to know about the files.

    `comparison` is that of the submissions with grades, None where there are none; `n_topics` are those over which
    systems are ordered by it.
    """

    criterion: Criterion
    measure: str
    submissions: tuple[Submission, ...]
    comparison: JudgeComparison | None
    notes: tuple[str, ...]

    @property
    def answer(self) -> list[str]:
        return self.comparison.answer if self.comparison else []

    @property
    def simulated(self) -> bool:
        return bool(self.comparison and self.comparison.simulated)

    def as_dict(self) -> dict[str, Any]:
        found = self.comparison
        return {
            "study": self.criterion.study.name,
            "criterion": self.criterion.name,
            "figure": "Cohen’s κ of yes and no at the thresholds; Krippendorff’s α of the grades",
            "measure": self.measure or None,
            "answer": self.answer,
            "n_items": found.n_items if found else None,
            "n_topics": found.n_topics if found else None,
            "n_topics_of_systems": found.orders.n_topics if found and found.orders else None,
            "part": "development" if found and found.development else "all",
            "simulated": self.simulated,
            "judges": [one.as_dict() for one in self.submissions],
            "notes": list(self.notes),
        }

    def tables(self) -> dict[str, Table]:
        rows = (
            (
                *(one.name, one.mark or None, "yes" if one.is_file else None, one.kappa, one.alpha),
                *(None if one.n_items is None else one.n_ungraded, one.kendall, one.tau_ap),
            )
            for one in self.submissions
        )
        return {"judges": Table.of("Submitted judges", COLUMNS, rows)}


COLUMNS = (
    *(Column("judge", "Judge"), Column("mark", "Mark"), Column("submitted", "Submitted")),
    *(Column("kappa", "κ at η", "estimate"), Column("alpha", "α", "estimate"), Column("ungraded", "Ungraded", "count")),
    *(Column("kendall", "τ_b", "estimate"), Column("tau_ap", "τ_AP", "estimate")),
)


def compare_submissions(
    criterion: Criterion,
    files: Iterable[tuple[str, Path]],
    *,
    form: str = "",
    measure: str = "",
    stored: bool = False,
) -> SubmittedJudges:
    """Hold each file against the people of the criterion, and with `stored` the study's own judges beside them.

    All judges with grades are compared on the items that each of them was asked about, systems by `measure` (default:
    the first that the judgments allow). Raises BrokenFile and Refused.
    """
    items = _Items(criterion)
    graded: dict[str, Grades] = {}
    scored: dict[str, Sequence[EvaluationRow]] = {}
    notes: list[str] = []
    taken = set(Rater.objects.filter(judgments__criterion=criterion).distinct().values_list("name", flat=True))
    for file_name, path in files:
        name = _free(Path(file_name).stem or file_name, {*taken, *graded, *scored})
        opened = InputFile(path, name=file_name)
        rows = read_evaluation(opened, form=form)
        if _are_grades(rows):
            graded[name], unknown = items.grades(opened, rows)
            if unknown:
                notes.append(f"{name}: {counted(unknown, 'lines')} about texts that the study does not ask about.")
        else:
            scored[name] = rows
    if not graded and not scored:
        raise NothingSubmitted("Choose the files of at least one judge.")
    found = None
    if graded:
        found = compare_judges_of(
            criterion, judge=() if stored else list(graded), every=stored, measure=measure, submitted=graded
        )
        notes += [f"There is no comparison: {found.reason}."] if found.reason and not found.judges else []
    orders = _orders(criterion, scored, _measure(found, measure, criterion)) if scored else {}
    submissions = [*_of_grades(found, set(graded)), *(_of_scores(name, orders[name]) for name in scored)]
    notes += [f"{name}: {note}" for name, one in orders.items() for note in (one.notes if one else ())]
    return SubmittedJudges(criterion, _measure(found, measure, criterion), tuple(submissions), found, tuple(notes))


def _free(name: str, taken: set[str]) -> str:
    """Return the name, numbered where a judge is called so already."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name} ({number})"
    return found


def _are_grades(rows: Sequence[EvaluationRow]) -> bool:
    return bool(rows) and all(row.measure == GRADE and row.topic != ALL for row in rows)


class _Items:
    """The criterion's items by topic and text: a passage by its docno, a report by its run."""

    def __init__(self, criterion: Criterion) -> None:
        self.criterion = criterion
        items = Item.objects.filter(
            study=criterion.study_id, task_type=criterion.task_type, element=None, other_report=None
        )
        rows = items.values_list("topic__topic_id", "passage__passage_id", "report__run__name", "pk")
        keys = Counter((topic, docno or run) for topic, docno, run, _ in rows)
        self.by_text = {(t, docno or run): pk for t, docno, run, pk in rows if keys[t, docno or run] == 1}

    def grades(self, file: InputFile, rows: Sequence[EvaluationRow]) -> tuple[Grades, int]:
        """Return the grade of each item, None where it is ungraded (−1), and how many lines are about other texts.

        Raises BrokenFile for grades that are not on the scale, and where no line is about an item.
        """
        scale = self.criterion.scale.values
        found: Grades = {}
        for row in rows:
            item = self.by_text.get((row.topic, row.run))
            if item is None:
                continue
            ungraded = row.value == UNGRADED and UNGRADED not in scale
            if not ungraded and row.value not in scale:
                allowed = ", ".join(f"{value:g}" for value in scale)
                said = f"{row.value:g} of “{row.run}” on “{row.topic}” is not a grade of “{self.criterion}”."
                raise BrokenFile(file.name, [Problem(None, said, f"Its grades are {allowed}; −1 is ungraded.")])
            found[item] = None if ungraded else row.value
        if not found:
            said = f"None of its texts is judged as a whole under “{self.criterion}”."
            raise BrokenFile(file.name, [Problem(None, said, "Choose another criterion, or check topics and texts.")])
        return found, len(rows) - len(found)


def _measure(found: JudgeComparison | None, asked: str, criterion: Criterion) -> str:
    """Return the measure that orders the systems: the one asked for, or the first that there is; empty for none."""
    from evaluation.leaderboards.available_measures import measures_under
    from evaluation.leaderboards.sources import JudgmentLoader

    if asked or (found and found.orders):
        return asked or (found.orders.asked if found and found.orders else "")
    return next((one.name for one in measures_under(JudgmentLoader(criterion.study), criterion)), "")


def _orders(
    criterion: Criterion, scored: Mapping[str, Sequence[EvaluationRow]], measure: str
) -> dict[str, EvaluationsCompared | None]:
    """Return how far each evaluation file orders the systems as people's leaderboard does.

    Of several measures that of the leaderboard counts, or else the first.
    """
    if not measure:
        raise NothingSubmitted("No system can be scored by people here, so evaluation files have nothing beside them.")
    choice = CorrelateChoice(data={"board": measure, "source": "people"})
    choice.is_valid(raise_exception=True)
    rows = rows_of_leaderboard(board_of(criterion.study, choice.validated_data), to_compare=True)
    of_people = next(iter(rows.items()), None)
    if of_people is None:
        raise NothingSubmitted(f"No system has a score by people under {measure}.")
    reference = evaluation_of(*of_people)
    return {
        name: next(iter(compare_evaluations([reference, evaluation_of(name, of_file)])), None)
        for name, of_file in scored.items()
    }


def _of_grades(found: JudgeComparison | None, submitted: set[str]) -> list[Submission]:
    nothing = undefined("the systems cannot be ordered by these judgments")
    return [
        Submission(
            one.name,
            found.n_items if found else 0,
            one.n_ungraded,
            one.kappa,
            one.alpha,
            one.order.kendall if one.order else undefined(one.no_order) if one.no_order else nothing,
            one.order.tau_ap if one.order else undefined(one.no_order) if one.no_order else nothing,
            is_file=one.name in submitted,
            mark=one.completeness.mark,
            simulated=one.rater.simulated,
        )
        for one in (found.judges if found else ())
    ]


def _of_scores(name: str, compared: EvaluationsCompared | None) -> Submission:
    nothing = undefined("it has no measure in common with people's leaderboard")
    tau = compared.correlations["kendall"] if compared else nothing
    tau_ap = compared.correlations["tau_ap"] if compared else nothing
    none = undefined(NO_ITEMS)
    return Submission(name, None, 0, none, none, tau, tau_ap, is_file=True)
