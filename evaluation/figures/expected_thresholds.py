"""A yes from an expected grade on: how a judge agrees with people by the threshold θ on its expected grade.

A judge whose reply begins with its grade has a probability of each grade; its expected grade is their mean, on a scale
of 0 and 1 the probability of yes. What the chosen θ does on labels that had no say in it is shown beside the curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from collection.judgments.judged_criteria import judged_criteria
from collection.models import Criterion, Study
from evaluation.charts.reliability import threshold_chart
from evaluation.data.judge_pairs import PairedJudge, is_graded_version, pair_judges
from evaluation.data.judgments import load_criterion
from evaluation.data.visibility import parts_of, visibility_of
from evaluation.figures.figure import StudyFigure, chosen_of
from judging.data.reasons import expected_grades_of, with_expected_grades
from stats.answers_in_words import shown
from stats.judges.threshold_choice import Choice, NoHalves, choose_threshold, threshold_curve
from stats.judges.thresholds import ThresholdFigures
from stats.plurals import counted
from stats.ratings import BoolArray, FloatArray, grades_of, majority

NAME = "expected-thresholds"
TITLE = "A threshold on a judge’s expected grade"
STEPS = 20
HEAD = ["threshold", "judge_yes", "precision", "recall", "f1", "kappa", "kappa_low", "kappa_high"]


def expected_thresholds(study: Study, *, criterion: str = "", judge: str = "") -> StudyFigure:
    """Return the figure of a judge beside people under a criterion. Raises NoFigure."""
    graders = with_expected_grades(study)
    there = {one.name: one for one in _criteria(study, graders)}
    name = chosen_of(criterion, [(one, one) for one in there], "criterion with expected grades beside people’s")
    pairs = [
        one for one in pair_judges(load_criterion(there[name])).pairs if (one.criterion.pk, one.judge.pk) in graders
    ]
    judges = [(one.name, one.completeness.after(one.name)) for one in pairs]
    by = chosen_of(judge, judges, "judge with expected grades of what people judged")
    pair = next(one for one in pairs if one.name == by)
    people_yes, expected = _paired(pair)
    known = ~np.isnan(expected)
    if not known.any():
        chosen_of("", [], "expected grade of what people judged")
    topics = pair.paired.people.topics
    known_topics = None if topics is None else topics[known]
    scale = [float(value) for value in pair.criterion.scale.values]
    thresholds = [round(at, 6) for at in np.linspace(min(scale), max(scale), STEPS + 1)[1:].tolist()]
    asked: dict[str, Any] = {"thresholds": thresholds, "people_at": pair.people_at}
    curve = threshold_curve(people_yes[known], expected[known], known_topics, **asked)
    choice, reason = _choice(people_yes[known], expected[known], known_topics, asked)
    return StudyFigure(
        name=NAME,
        title=f"Expected grades by {by} under {name}, by threshold",
        visibility=visibility_of(parts_of(study), [pair.judge], part="development"),
        simulated=pair.judge.simulated or pair.people_simulated,
        description=threshold_chart(
            {
                "precision of yes": [(one.at, one.positive.precision.value) for one in curve],
                "recall of yes": [(one.at, one.positive.recall.value) for one in curve],
                "κ (unweighted)": [(one.at, one.kappa.value) for one in curve],
            },
            chosen=choice.at if choice else None,
            judge=by,
            sign="θ",
            of="expected grade",
        ),
        head=HEAD,
        rows=[_row(one) for one in curve],
        notes=[
            *_notes(pair, int(known.sum()), int((~known).sum()), choice, reason),
            *(f"κ has no interval: {without}." for without in _reasons(curve)),
        ],
        choices={"criterion": [(one, one) for one in there], "judge": judges},
        chosen={"criterion": name, "judge": by},
    )


def offers(study: Study) -> bool:
    return bool(_criteria(study, with_expected_grades(study)))


def _criteria(study: Study, graders: set[tuple[int, int]]) -> list[Criterion]:
    """Return the criteria under which people judged what a judge has expected grades of."""
    criteria = list(study.criteria.select_related("study__collection", "scale")) if graders else []
    keys = {criterion for criterion, _ in graders}
    graded = [one for one in criteria if one.pk in keys]
    there = (one for one in criteria if any(of == one or is_graded_version(of, of=one) for of in graded))
    return judged_criteria(there)


def _paired(pair: PairedJudge) -> tuple[BoolArray, FloatArray]:
    """Return people's majority as yes or no, and the judge's expected grades of the same items, NaN without one."""
    by_item = expected_grades_of(pair.judge, pair.criterion)
    people = pair.paired.people
    yes = np.asarray(grades_of(majority(people), people.numbers) >= pair.people_at)
    return yes, np.array([by_item.get(int(item), np.nan) for item in people.items], dtype=np.float64)


def _choice(
    people_yes: BoolArray, expected: FloatArray, topics: Any, asked: dict[str, Any]
) -> tuple[Choice | None, str]:
    try:
        return choose_threshold(people_yes, expected, topics, **asked), ""
    except NoHalves as none:
        return None, str(none)


def _row(one: ThresholdFigures) -> list[float | int | None]:
    both, judge, _, _ = one.cells
    positive = one.positive
    of_yes = [positive.precision.value, positive.recall.value, positive.f1.value]
    return [one.at, both + judge, *of_yes, one.kappa.value, one.kappa.low, one.kappa.high]


def _reasons(curve: Sequence[ThresholdFigures]) -> list[str]:
    """Return why κ has no interval, where it has none at any threshold."""
    without = [one.kappa.reason.rstrip(".") for one in curve if one.kappa.low is None and one.kappa.value is not None]
    return list(dict.fromkeys(filter(None, without))) if all(one.kappa.low is None for one in curve) else []


def _notes(pair: PairedJudge, n: int, n_without: int, choice: Choice | None, reason: str) -> list[str]:
    without = f" {counted(n_without, 'items')} without one are left out." if n_without else ""
    notes = [
        f"{counted(n, 'items')} have people’s grade and an expected grade.{without} A person’s yes is "
        f"{pair.people_at:g} or more; of several people the majority counts.",
    ]
    if choice is None:
        notes.append(f"No threshold was chosen on one half and tried on the other: {reason}")
    else:
        notes.append(
            f"Chosen for the highest κ on one half of the topics: θ = {choice.at:g}{_on_halves(choice)}. A threshold "
            "chosen on the labels that it is reported on looks better than it is."
        )
    notes.append(
        "To count it as a judge of its own, on leaderboards too: New ensemble, with the rule “expected”, this judge as "
        f"its one member and θ (manage.py judge ensemble {pair.judge} --rule expected --at θ)."
    )
    return notes


def _on_halves(choice: Choice) -> str:
    on = next(one for one in choice.chosen_on if one.at == choice.at).kappa
    off = choice.reported.kappa if choice.reported else None
    if on.value is None or off is None or off.value is None:
        return ""
    return (
        f", κ {shown(on.value)} there ({counted(choice.n_chosen, 'items')}) and {shown(off.value)} on the other half "
        f"({counted(choice.n_reported, 'items')})"
    )
