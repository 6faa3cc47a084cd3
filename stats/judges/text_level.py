"""A judge's grades of (text, rubric element) rolled up into one grade a text, beside what people said of the text.

People who judge a passage's relevance and a judge that grades how well it answers each of a topic's questions judged
neither the same item nor by the same criterion. Rolled up, the judge has one grade a text too, and the two may be held
against each other at thresholds. Nothing here knows Django.

Sources: the highest grade on any question as a passage's label, Farzi and Dietz, TREMA-UNH at TREC: RAG Systems and
RUBRIC-style Evaluation (2024), section 6.3.2; how many questions it answers at a grade or better, section 6.3.1 of the
same. Cohen's κ of the labels with the official judgments, grades merged into yes and no on either side: Farzi and
Dietz, Pencils Down! Automatic Rubric-based Evaluation of Retrieve/Generate Systems (ICTIR 2024), and its appendix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from stats.agreement.pattern_correlations import pairs_of_values, rank_correlations
from stats.agreement.report import kappa_as_dict, plain_grade
from stats.judges.threshold_choice import Ceiling, human_ceiling, threshold_curve
from stats.judges.thresholds import ThresholdFigures, at_threshold, kappa_at_threshold
from stats.pattern_intervals import Estimate
from stats.ratings import MISSING, BoolArray, FloatArray, IntArray, Ratings, grades_of, majority

Rule = Literal["highest", "answered"]
RULES: dict[Rule, str] = {
    "highest": "its highest grade on the elements of its topic",
    "answered": "the number of elements of its topic graded yes",
}


@dataclass(frozen=True)
class RolledUp:
    """One grade a text, made of one rater's grades of its elements. Arrays of the shape (texts,).

    - `grades`: by `highest` in the unit of the scale, by `answered` a number of elements; NaN where no element has a
      readable grade, for what nobody could read is not 0;
    - `n_asked`: how many of a text's elements the rater was asked about, 0 where none; `n_ungraded` of them have no
      grade. With some of them missing a grade is the least that it can be.
    """

    rule: Rule
    grades: FloatArray
    n_asked: IntArray
    n_ungraded: IntArray

    def of_texts(self, rows: IntArray | BoolArray) -> RolledUp:
        """Return the grades of these texts alone, in this order."""
        return RolledUp(self.rule, self.grades[rows], self.n_asked[rows], self.n_ungraded[rows])


def roll_up(grades: FloatArray, texts: IntArray, *, n_texts: int, rule: Rule, yes_from: float) -> RolledUp:
    """Roll grades of the shape (items,) up; NaN is ungraded, `texts` has each item's text as a number below `n_texts`.

    `yes_from` is the grade from which `answered` counts an element.
    """
    known = ~np.isnan(grades)
    n_asked = np.bincount(texts, minlength=n_texts)
    n_graded = np.bincount(texts[known], minlength=n_texts)
    if rule == "highest":
        rolled = np.full(n_texts, -np.inf)
        np.maximum.at(rolled, texts[known], grades[known])
    else:
        rolled = np.bincount(texts[known & (grades >= yes_from)], minlength=n_texts).astype(np.float64)
    rolled[n_graded == 0] = np.nan
    return RolledUp(rule, rolled, n_asked, n_asked - n_graded)


@dataclass(frozen=True)
class Contingency:
    """How many texts have which rolled-up grade (rows, best first) and which of people's (columns, best first)."""

    judge: tuple[float, ...]
    people: tuple[float, ...]
    counts: IntArray

    @property
    def rows(self) -> list[tuple[float, list[int]]]:
        """Each of the judge's grades with its counts."""
        return list(zip(self.judge, self.counts.tolist(), strict=True))

    def as_dict(self) -> dict[str, Any]:
        """Return it with names for rows and columns."""
        return {
            "judge": [plain_grade(grade) for grade in self.judge],
            "human": [plain_grade(grade) for grade in self.people],
            "texts": self.counts.tolist(),
        }


@dataclass(frozen=True)
class RolledUpComparison:
    """A judge's rolled-up grades against people's of the same texts: their majority, ties to the lower grade.

    - `n_texts` are compared. `n_ungraded` more were graded by people and asked of the judge, and have no readable
      grade of it on any element: they are left out;
    - `n_partly` of the compared have an element without a grade; `n_open` of these lie below the judge's threshold, so
      that the missing grades might have made them a yes;
    - `curve`: the figures at each of the judge's thresholds and people's own; `kappas[(at, people_at)]` at every pair;
    - `by_rater`: against each person, where there are several; `ceiling`: how far these agree with one another.
    """

    rule: Rule
    n_texts: int
    n_ungraded: int
    n_partly: int
    n_open: int
    threshold: ThresholdFigures
    curve: tuple[ThresholdFigures, ...]
    kappas: Mapping[tuple[float, float], Estimate]
    contingency: Contingency
    spearman: Estimate
    kendall: Estimate
    ceiling: Ceiling
    by_rater: Mapping[str, ThresholdFigures]

    @property
    def thresholds(self) -> list[tuple[float, list[Estimate]]]:
        """Each of the judge's thresholds with κ at each of people's."""
        ats = list(dict.fromkeys(at for at, _ in self.kappas))
        return [(at, [self.kappas[at, people_at] for people_at in self.people_thresholds]) for at in ats]

    @property
    def people_thresholds(self) -> list[float]:
        """People's thresholds, the lowest first."""
        return list(dict.fromkeys(people_at for _, people_at in self.kappas))

    def as_dict(self) -> dict[str, Any]:
        """Return it as the `compare` command prints it."""
        answer = {
            "rule": self.rule,
            "n_texts": self.n_texts,
            "n_ungraded": self.n_ungraded,
            "n_partly_ungraded": self.n_partly,
            "n_open": self.n_open,
            "threshold": self.threshold.as_dict(),
            "thresholds": [figures.as_dict() for figures in self.curve],
            "kappas": [
                {"at": at, "human_at": people_at, **kappa_as_dict(kappa, "none")}
                for (at, people_at), kappa in self.kappas.items()
            ],
            "contingency": self.contingency.as_dict(),
            "spearman": self.spearman.as_dict(),
            "kendall": self.kendall.as_dict(),
            "human_ceiling": self.ceiling.as_dict(),
        }
        if self.by_rater:
            answer["by_rater"] = {name: figures.as_dict() for name, figures in self.by_rater.items()}
        return answer


def compare_rolled_up(
    rolled: RolledUp, people: Ratings, *, at: float, people_at: float, thresholds: Sequence[float]
) -> RolledUpComparison:
    """Compare rolled-up grades with people's. Both hold the same texts in the same order; people graded each of them.

    A rolled-up grade from `at` up is the judge's yes, a grade from `people_at` up people's. `thresholds` are those of
    the judge that are swept. Intervals are over topics where `people` has any.
    """
    known = ~np.isnan(rolled.grades)
    n_ungraded = int((~known).sum())
    rolled, people = rolled.of_texts(known), people.of_items(known)
    given = grades_of(majority(people), people.numbers)
    partly = rolled.n_ungraded > 0
    ranks = rank_correlations(pairs_of_values(given, rolled.grades, people.topics), unit="texts")
    curve = threshold_curve(
        given >= people_at, rolled.grades, people.topics, thresholds=thresholds, people_at=people_at
    )
    return RolledUpComparison(
        rule=rolled.rule,
        n_texts=len(given),
        n_ungraded=n_ungraded,
        n_partly=int(partly.sum()),
        n_open=int((partly & (rolled.grades < at)).sum()),
        threshold=_figures(given, rolled.grades, people.topics, at=at, people_at=people_at),
        curve=curve,
        kappas=_kappas(given, rolled.grades, people, curve, people_at),
        contingency=_contingency(given, rolled, people),
        spearman=ranks["spearman"],
        kendall=ranks["kendall"],
        ceiling=human_ceiling(people, rolled.grades, at=at, people_at=people_at),
        by_rater=_by_rater(rolled.grades, people, at=at, people_at=people_at),
    )


def _figures(
    given: FloatArray, rolled: FloatArray, topics: IntArray | None, *, at: float, people_at: float
) -> ThresholdFigures:
    none = np.zeros(len(given), dtype=bool)
    return at_threshold(given >= people_at, rolled >= at, none, topics, at=at, people_at=people_at)


def _by_rater(rolled: FloatArray, people: Ratings, *, at: float, people_at: float) -> dict[str, ThresholdFigures]:
    """Return the figures against each person over what that person graded; none where there is but one."""
    found = {}
    for name, column in zip(people.raters, people.codes.T, strict=True):
        rows = column != MISSING
        if rows.any():
            topics = None if people.topics is None else people.topics[rows]
            given = grades_of(column[rows], people.numbers)
            found[str(name)] = _figures(given, rolled[rows], topics, at=at, people_at=people_at)
    return found if len(found) > 1 else {}


def _kappas(
    given: FloatArray, rolled: FloatArray, people: Ratings, curve: Sequence[ThresholdFigures], people_at: float
) -> dict[tuple[float, float], Estimate]:
    """Return κ at every threshold of either side; at people's own it is the curve's."""
    others = sorted({people_at, *people.numbers[1:].tolist()})
    return {
        (figures.at, other): figures.kappa
        if other == people_at
        else kappa_at_threshold(given >= other, rolled >= figures.at, None, people.topics)
        for figures in curve
        for other in others
    }


def _contingency(given: FloatArray, rolled: RolledUp, people: Ratings) -> Contingency:
    """Count the texts by both grades. Of the judge's grades it has those that occur, of people's the whole scale."""
    judge, rows = np.unique(rolled.grades, return_inverse=True)
    columns = np.searchsorted(people.numbers, given)
    counts = np.zeros((len(judge), len(people.numbers)), dtype=np.int64)
    np.add.at(counts, (rows, columns), 1)
    return Contingency(tuple(judge[::-1].tolist()), tuple(people.numbers[::-1].tolist()), counts[::-1, ::-1])
