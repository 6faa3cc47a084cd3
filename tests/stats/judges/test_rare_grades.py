"""Where nearly all items have one grade, nothing that is beyond chance has an interval, at any door."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from stats.agreement.report import measure_agreement
from stats.intervals import Estimate
from stats.judges.comparison import compare
from stats.judges.errors import pairs_of_raters
from stats.judges.side_by_side import compare_judges
from stats.judges.summary import brief_of_items
from stats.judges.text_level import RolledUp, compare_rolled_up
from stats.judges.threshold_choice import choose_threshold, human_ceiling
from stats.ratings import FloatArray, Ratings

TOPICS = np.arange(600) // 30
RATERS = ("ada", "ben", "cleo", "judge")


def graded(yes: float, judge_yes: float | None = None, seed: int = 1) -> FloatArray:
    """Three people and a judge, 600 items × 4: a yes where the item deserves one, but for one in twenty of these."""
    rng = np.random.default_rng(seed)
    deserved = np.zeros(600, dtype=bool)
    deserved[rng.permutation(600)[: round(600 * yes)]] = True
    grades = ((rng.random((600, 4)) < 0.95) & deserved[:, None]).astype(float)
    if judge_yes is not None:
        grades[:, 3] = rng.random(600) < judge_yes
    return grades


def ratings(grades: FloatArray) -> Ratings:
    names = RATERS[: grades.shape[1]] if grades.shape[1] > 1 else ("judge",)
    codes = np.asfortranarray(grades.astype(np.int16))
    return Ratings(codes, (0.0, 1.0), "nominal", range(len(codes)), names, topics=TOPICS)


def of_people(grades: FloatArray) -> dict[str, Estimate]:
    found = measure_agreement(ratings(grades[:, :3]))
    pair = found.pairs[0]
    return {
        "Fleiss": found.statistics["fleiss_kappa"],
        "alpha": found.statistics["krippendorff_alpha"],
        "Cohen": pair.kappa,
        "quadratic": pair.quadratic,
        "errors": pairs_of_raters([*grades[:, :2].astype(np.int16).T], 2, TOPICS)[0].kappa,
    }


def beside_people(grades: FloatArray) -> dict[str, Estimate]:
    people, judge = ratings(grades[:, :3]), ratings(grades[:, 3:])
    brief = brief_of_items(people, judge, at=1, people_at=1, same_scale=True)
    compared = compare(people, judge, at=1, people_at=1, same_scale=True)
    none = np.zeros(600, dtype=np.int64)
    rolled = compare_rolled_up(
        RolledUp("highest", grades[:, 3], none + 1, none), people, at=1, people_at=1, thresholds=[1]
    )
    majority = grades[:, :3].sum(axis=1) >= 2
    several = compare_judges(majority, [grades[:, 3], 1 - grades[:, 3]], TOPICS)
    ceilings = {"brief": brief.ceiling, "rolled up": rolled.ceiling}
    chosen = choose_threshold(majority, grades[:, 3], TOPICS, thresholds=[1], people_at=1)
    assert chosen.reported is not None
    return {
        "κ": brief.kappa,
        "α": brief.alpha,
        "compared α": compared.krippendorff_alpha,
        "compared κ": compared.kappa,
        "κ at the threshold": compared.threshold.kappa,
        "κ of the half": chosen.reported.kappa,
        "rolled-up κ": rolled.threshold.kappa,
        "the best": several.corrected,
        **{
            f"{name}, {of}": getattr(one, of)
            for name, one in ceilings.items()
            for of in ("people", "judge", "difference")
        },
    }


@pytest.mark.parametrize("figures", [of_people, beside_people])
@pytest.mark.parametrize("yes", [0.02, 0.05])
def test_rare_grades_have_a_reason_in_the_place_of_every_interval(
    figures: Callable[[FloatArray], dict[str, Estimate]], yes: float
) -> None:
    found = figures(graded(yes))

    assert {name for name, one in found.items() if one.low is not None or one.high is not None} == set()
    assert {name for name, one in found.items() if "another grade" not in one.reason} == set()
    assert {name for name, one in found.items() if "low" in one.as_dict() and "reason" not in one.as_dict()} == set()


@pytest.mark.parametrize("figures", [of_people, beside_people])
def test_a_fifth_of_another_grade_is_enough(figures: Callable[[FloatArray], dict[str, Estimate]]) -> None:
    found = figures(graded(0.4))

    assert {name for name, one in found.items() if one.low is None} == set()


@pytest.mark.parametrize(("yes", "judge_yes"), [(0.02, 0.5), (0.4, 0.01)])
def test_the_side_with_the_fewest_decides(yes: float, judge_yes: float) -> None:
    """A judge that says yes to half makes nothing of people’s twelve yeses more certain, nor people of its six."""
    found = beside_people(graded(yes, judge_yes))
    found = {name: one for name, one in found.items() if not name.endswith(", people")}

    assert {name for name, one in found.items() if one.low is not None} == set()


@pytest.mark.parametrize("first", [0, 2])
def test_a_judge_with_the_highest_kappa_but_no_interval_is_not_passed_over(first: int) -> None:
    """People say 50 yes; one judge finds 41 of them and nothing else, the others many more and many that are none."""
    people = np.arange(600) % 12 == 0
    judges = [np.zeros(600) for _ in range(3)]
    judges[first][np.flatnonzero(people)[:41]] = 1.0
    others = [place for place in range(3) if place != first]
    for place, n_wrong in zip(others, (40, 60), strict=True):
        judges[place][people] = 1.0
        judges[place][np.random.default_rng(place).choice(np.flatnonzero(~people), n_wrong, replace=False)] = 1.0

    found = compare_judges(people, judges, np.arange(600) // 40)

    assert (found.best, found.reference, found.known) == (first, others[0], tuple(others))
    assert (found.corrected.value, found.corrected.reason) == (None, found.kappas[first].reason)
    assert found.difference(*others) is not None


def test_items_that_one_person_graded_lend_alpha_no_other_grades() -> None:
    grades = graded(0.02)[:, :3]
    codes = np.asfortranarray(grades.astype(np.int16))
    codes[300:, 1:] = -1
    codes[300:450, 0] = 1

    found = measure_agreement(Ratings(codes, (0.0, 1.0), "nominal", range(600), RATERS[:3], topics=TOPICS))

    assert found.statistics["krippendorff_alpha"].low is None
    assert "another grade" in found.statistics["krippendorff_alpha"].reason


def test_the_ceiling_counts_people_and_judge_as_two_sides() -> None:
    grades = graded(0.02, 0.3)

    found = human_ceiling(ratings(grades[:, :3]), grades[:, 3], at=1, people_at=1)

    assert "by one" in found.difference.reason
    assert found.difference.value is not None
