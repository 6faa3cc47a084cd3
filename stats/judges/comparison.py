"""People against a judge on the same items: by grade, at a threshold, and by the coverage of texts.

Ungraded replies of the judge stay in the denominators: at the threshold they are neither yes nor no
(see `thresholds`), and in coverage they count as not answered. Figures on the grades themselves (κ,
α, rank correlations) have nowhere to put them and leave them out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from stats.agreement import coefficients
from stats.agreement.pattern_correlations import pairs_of_values, rank_correlations
from stats.agreement.report import ONE_GRADE, cohen_kappas, kappa_as_dict, library_alpha
from stats.judges.accuracy import MeanAccuracy, mean_accuracy
from stats.judges.coverage import coverage
from stats.judges.thresholds import ThresholdFigures, at_threshold
from stats.pattern_intervals import Estimate, estimate, undefined
from stats.ratings import (
    MISSING,
    BoolArray,
    CodeArray,
    CountPatterns,
    FloatArray,
    IntArray,
    Level,
    Ratings,
    grades_of,
    majority,
    n_tied,
    on_scale,
    pairs_of_codes,
    quotient,
)
from stats.votes import RULE_OF_PEOPLE

OTHER_SCALE = "people and judge grade on different scales"
NOTHING_GRADED = "no item was graded by both"
NO_TEXTS = "the tables name no topics"
ONE_ITEM_TEXTS = "each text has one item, so its coverage is a yes or a no"


@dataclass(frozen=True)
class CoverageFigures:
    """Whether people and judge order texts alike by coverage: one share a text, NaN where nothing was asked."""

    spearman: Estimate
    kendall: Estimate
    people: FloatArray = field(default_factory=lambda: np.empty(0))
    judge: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def n_texts(self) -> int:
        """How many texts have a coverage from both."""
        return int((np.isfinite(self.people) & np.isfinite(self.judge)).sum())


@dataclass(frozen=True)
class Comparison:
    """A judge against one person, or against the majority of several; `by_rater` has each of these.

    `n_items` were graded by people and asked of the judge; `n_ungraded` of them the judge left without a
    grade. `mean_coverage` takes the mean of people's coverages in place of their majority's, `mean_accuracy` the mean
    of the judge's accuracies against each. On `n_tied` of the items people tie; `stats.votes` tells how they count.
    """

    n_items: int
    n_ungraded: int
    kappa: Estimate
    kappa_quadratic: Estimate
    krippendorff_alpha: Estimate
    spearman: Estimate
    kendall: Estimate
    threshold: ThresholdFigures
    coverage: CoverageFigures
    mean_coverage: CoverageFigures | None = None
    mean_accuracy: MeanAccuracy | None = None
    n_tied: int = 0
    by_rater: Mapping[str, Comparison] = field(default_factory=dict)

    @property
    def ungraded_share(self) -> float | None:
        """The share of the compared items that the judge left ungraded."""
        return self.n_ungraded / self.n_items if self.n_items else None

    def as_dict(self) -> dict[str, Any]:
        """Return it as the `compare` command prints it. `reasons` tells of every null that cannot say itself."""
        numbers = {"spearman": self.spearman, "kendall": self.kendall}
        shares = {f"threshold.{name}": value for name, value in self.threshold.figures().items()}
        orders = {"coverage.spearman": self.coverage.spearman, "coverage.kendall": self.coverage.kendall}
        answer: dict[str, Any] = {
            "n_items": self.n_items,
            "n_ungraded": self.n_ungraded,
            "kappa": kappa_as_dict(self.kappa, "none"),
            "kappa_quadratic": kappa_as_dict(self.kappa_quadratic, "quadratic"),
            "krippendorff_alpha": self.krippendorff_alpha.as_dict(),
            **{name: figure.value for name, figure in numbers.items()},
            "threshold": self.threshold.as_dict(),
            "coverage": {"spearman": self.coverage.spearman.value, "kendall": self.coverage.kendall.value},
            "reasons": {
                name: figure.reason for name, figure in (numbers | shares | orders).items() if figure.value is None
            },
        }
        if self.mean_accuracy:
            answer["mean_accuracy"] = self.mean_accuracy.as_dict()
        if len(self.by_rater) > 1:
            answer["people"] = {"rule": RULE_OF_PEOPLE, "n_tied": self.n_tied}
            answer["by_rater"] = {name: one.as_dict() for name, one in self.by_rater.items()}
        return answer


def compare(people: Ratings, judge: Ratings, *, at: float, people_at: float, same_scale: bool) -> Comparison:
    """Compare the judge with the majority of people, by the rule of `stats.votes`, and with each person.

    Both hold the same items in the same order, all of them asked of the judge, who is the one column of
    `judge`. Grades are numbers; `same_scale` says whether those of the two may be compared as they are.
    """
    if same_scale:
        scale = tuple(sorted({*people.scale, *judge.scale}, key=float))
        people, judge = on_scale(people, scale), on_scale(judge, scale)
    one = partial(_compare_one, people, judge, at=at, people_at=people_at, same_scale=same_scale)
    by_rater = {str(name): one(column) for name, column in zip(people.raters, people.codes.T, strict=True)}
    together = one(majority(people))
    return replace(
        together,
        by_rater=by_rater,
        mean_coverage=_mean_coverage(people, together, by_rater),
        mean_accuracy=_mean_accuracy(people, judge, at=at, people_at=people_at),
        n_tied=n_tied(people),
    )


def _compare_one(
    people: Ratings, judge: Ratings, graded: CodeArray, *, at: float, people_at: float, same_scale: bool
) -> Comparison:
    """Compare one column of people's grades with the judge's, over the items that have the former."""
    judged = judge.codes[:, 0]
    compared = graded != MISSING
    people_yes = grades_of(graded, people.numbers) >= people_at
    judge_yes = grades_of(judged, judge.numbers) >= at
    topics = None if people.topics is None else people.topics[compared]
    ranked = pairs_of_codes(graded, judged, max(len(people.scale), len(judge.scale)), people.topics)
    by_grade = _agreement(people, graded, judged, same_scale=same_scale)
    by_rank = rank_correlations(ranked)
    return Comparison(
        n_items=int(compared.sum()),
        n_ungraded=int((compared & (judged == MISSING)).sum()),
        kappa=by_grade["kappa"],
        kappa_quadratic=by_grade["kappa_quadratic"],
        krippendorff_alpha=by_grade["krippendorff_alpha"],
        spearman=by_rank["spearman"],
        kendall=by_rank["kendall"],
        threshold=at_threshold(
            people_yes[compared],
            judge_yes[compared],
            judged[compared] == MISSING,
            topics,
            at=at,
            people_at=people_at,
        ),
        coverage=_coverage(people, compared, people_yes, judge_yes),
    )


def _agreement(people: Ratings, graded: CodeArray, judged: CodeArray, *, same_scale: bool) -> dict[str, Estimate]:
    """Return κ, quadratic κ and ordinal α on the grades themselves."""
    names = ("kappa", "kappa_quadratic", "krippendorff_alpha")
    if not same_scale:
        return dict.fromkeys(names, undefined(OTHER_SCALE))
    pairs = pairs_of_codes(graded, judged, len(people.scale), people.topics)
    if not len(pairs.frequencies):
        return dict.fromkeys(names, undefined(NOTHING_GRADED))
    if len({*pairs.first, *pairs.second}) < 2:
        return dict.fromkeys(names, undefined(ONE_GRADE))
    kappas = cohen_kappas(pairs, people.numbers)
    return {
        "kappa": kappas["plain"],
        "kappa_quadratic": kappas["quadratic"],
        "krippendorff_alpha": alpha_of_two(people, graded, judged, level="ordinal"),
    }


def alpha_of_two(ratings: Ratings, graded: CodeArray, judged: CodeArray, *, level: Level) -> Estimate:
    """Return Krippendorff's α of two columns of codes on the scale of `ratings`, over the items that both graded."""
    pairs = pairs_of_codes(graded, judged, len(ratings.scale), ratings.topics)
    if not len(pairs.frequencies):
        return undefined(NOTHING_GRADED)
    if len({*pairs.first, *pairs.second}) < 2:
        return undefined(ONE_GRADE)
    both = np.eye(pairs.n_grades)
    patterns = CountPatterns(both[pairs.first] + both[pairs.second], pairs.frequencies)
    alpha = partial(coefficients.krippendorff_alpha, patterns=patterns, level=level, numbers=ratings.numbers)
    values = library_alpha(patterns, level, ratings.numbers)
    return estimate({"krippendorff_alpha": alpha}, pairs, values=values)["krippendorff_alpha"]


def _coverage(people: Ratings, compared: BoolArray, people_yes: BoolArray, judge_yes: BoolArray) -> CoverageFigures:
    """Return both sides' coverage of each text over the compared items, and how alike the orders are."""
    if people.texts is None:
        return CoverageFigures(undefined(NO_TEXTS), undefined(NO_TEXTS))
    n_texts = int(people.texts.max(initial=-1)) + 1
    if n_texts == len(people.texts):
        return CoverageFigures(undefined(ONE_ITEM_TEXTS), undefined(ONE_ITEM_TEXTS))
    by_people = coverage(people_yes & compared, compared, people.texts, n_texts)
    by_judge = coverage(judge_yes & compared, compared, people.texts, n_texts)
    return _ordered_alike(by_people, by_judge, topics_of_texts(people))


def _ordered_alike(by_people: FloatArray, by_judge: FloatArray, topics: IntArray | None) -> CoverageFigures:
    both = np.isfinite(by_people) & np.isfinite(by_judge)
    patterns = pairs_of_values(by_people[both], by_judge[both], None if topics is None else topics[both])
    alike = rank_correlations(patterns, unit="texts")
    return CoverageFigures(alike["spearman"], alike["kendall"], people=by_people, judge=by_judge)


def _mean_coverage(people: Ratings, together: Comparison, by_rater: Mapping[str, Comparison]) -> CoverageFigures:
    """Return the mean of people's coverages against the judge's."""
    if not len(together.coverage.judge):
        return together.coverage
    shares = np.stack([one.coverage.people for one in by_rater.values()])
    n_raters = np.isfinite(shares).sum(axis=0)
    mean = quotient(np.nansum(shares, axis=0), n_raters)
    return _ordered_alike(mean, together.coverage.judge, topics_of_texts(people))


def _mean_accuracy(people: Ratings, judge: Ratings, *, at: float, people_at: float) -> MeanAccuracy:
    """Return how often the judge says yes or no as a person does, averaged over people."""
    judged = judge.codes[:, :1]
    people_yes, judge_yes = grades_of(people.codes, people.numbers) >= people_at, grades_of(judged, judge.numbers) >= at
    return mean_accuracy((people_yes == judge_yes) & (judged != MISSING), people.codes != MISSING, people.topics)


def topics_of_texts(ratings: Ratings) -> IntArray | None:
    """Return the topic of each text, where topics hold several texts; None where a text is all of its topic."""
    if ratings.texts is None or ratings.topics is None:
        return None
    topics = np.zeros(int(ratings.texts.max(initial=-1)) + 1, dtype=np.int64)
    topics[ratings.texts] = ratings.topics
    return topics
