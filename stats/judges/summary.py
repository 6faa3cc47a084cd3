"""A judge beside people in a handful of figures, for a page that holds many judges together.

They are those of `comparison` and `threshold_choice`, without what that page has no room for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stats.judges.comparison import OTHER_SCALE, alpha_of_two
from stats.judges.text_level import RolledUp
from stats.judges.threshold_choice import Ceiling, human_ceiling
from stats.judges.thresholds import kappa_at_threshold
from stats.pattern_intervals import Estimate, undefined
from stats.ratings import MISSING, Ratings, grades_of, majority, on_scale


@dataclass(frozen=True)
class Brief:
    """How far a judge agrees with people, who are one by majority, ties to the lower grade.

    - `n_items` are compared; `n_ungraded` lack a readable grade of the judge. On the same items these are among the
      compared, and agree with nobody at the threshold; texts rolled up without a grade are left out of them;
    - `kappa` of yes and no at both thresholds; `alpha` (Krippendorff) on the grades, at the scale's level, where both
      grade on one scale; `ceiling`: people with one another beside the judge with the same people.
    """

    n_people: int
    n_items: int
    n_ungraded: int
    kappa: Estimate
    alpha: Estimate
    ceiling: Ceiling


def brief_of_items(people: Ratings, judge: Ratings, *, at: float, people_at: float, same_scale: bool) -> Brief:
    """Return the figures of people and one judge over the same items, all of which people graded."""
    graded, judged = majority(people), judge.codes[:, 0]
    yes, grades = grades_of(graded, people.numbers) >= people_at, grades_of(judged, judge.numbers)
    return Brief(
        n_people=_n_people(people),
        n_items=len(judged),
        n_ungraded=int((judged == MISSING).sum()),
        kappa=kappa_at_threshold(yes, grades >= at, np.isnan(grades), people.topics),
        alpha=alpha_of_items(people, judge) if same_scale else undefined(OTHER_SCALE),
        ceiling=human_ceiling(people, grades, at=at, people_at=people_at),
    )


def brief_of_texts(people: Ratings, rolled: RolledUp, *, at: float, people_at: float) -> Brief:
    """Return the figures of people and a judge's rolled-up grades of the same texts, all of which people graded."""
    known = ~np.isnan(rolled.grades)
    people, grades = people.of_items(known), rolled.grades[known]
    yes = grades_of(majority(people), people.numbers) >= people_at
    return Brief(
        n_people=_n_people(people),
        n_items=len(grades),
        n_ungraded=int((~known).sum()),
        kappa=kappa_at_threshold(yes, grades >= at, None, people.topics),
        alpha=undefined(OTHER_SCALE),
        ceiling=human_ceiling(people, grades, at=at, people_at=people_at),
    )


def _n_people(people: Ratings) -> int:
    """Return how many people graded any of the items."""
    return int((people.codes != MISSING).any(axis=0).sum())


def alpha_of_items(people: Ratings, judge: Ratings) -> Estimate:
    """Return Krippendorff's α at the scale's level of people's majority and one judge over the same items."""
    scale = tuple(sorted({*people.scale, *judge.scale}, key=float))
    people, judge = on_scale(people, scale), on_scale(judge, scale)
    return alpha_of_two(people, majority(people), judge.codes[:, 0], level=people.level)
