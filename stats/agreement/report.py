"""How far raters agree: all coefficients of one table of ratings, with intervals, or why there is none.

Point values come from statsmodels and krippendorff where their conditions hold (no missing ratings
for Fleiss and Randolph, a table that fits into memory for α), and are ours elsewhere; tests hold the
two together to 1e-12. The libraries are imported where they are used: statsmodels brings 100 MB with
it, and a web process that only serves assessors never needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np

from stats.agreement import coefficients
from stats.pattern_intervals import COEFFICIENT, SHARE, SIGNED, Estimate, Range, Statistic, estimate, undefined
from stats.ratings import (
    MISSING,
    CountPatterns,
    FloatArray,
    Grade,
    Level,
    PairPatterns,
    Ratings,
    count_patterns,
    pair_patterns,
)

# Larger than this a library's table of items would fill the memory; ours needs only the patterns.
LARGEST_LIBRARY_TABLE = 5_000_000

ONE_RATER = "one rater only"
NO_ITEM_TWICE = "no item has two ratings"
ONE_GRADE = "only one grade was given, so chance alone would agree as much"


Weights = Literal["none", "linear", "quadratic"]


@dataclass(frozen=True)
class PairAgreement:
    """Cohen's κ of two raters: plain, and with linear and quadratic weights."""

    raters: tuple[str, str]
    n_items: int
    kappa: Estimate
    linear: Estimate
    quadratic: Estimate

    def as_dict(self) -> dict[str, Any]:
        """Return it as the `agreement` command prints it."""
        return {
            "raters": list(self.raters),
            **kappa_as_dict(self.kappa, "none"),
            "linear": kappa_as_dict(self.linear, "linear"),
            "quadratic": kappa_as_dict(self.quadratic, "quadratic"),
        }


@dataclass(frozen=True)
class Agreement:
    """All coefficients of one table of ratings. `n_items` have at least one grade, `n_pairable` two."""

    n_items: int
    n_pairable: int
    n_raters: int
    n_ratings: int
    n_ungraded: int
    level: Level
    scale: tuple[Grade, ...]
    statistics: Mapping[str, Estimate]
    pairs: tuple[PairAgreement, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as the `agreement` command prints it."""
        return {
            "n_items": self.n_items,
            "n_raters": self.n_raters,
            "n_ratings": self.n_ratings,
            "level": self.level,
            "scale": [plain_grade(grade) for grade in self.scale],
            "statistics": {
                **{name: value.as_dict() for name, value in self.statistics.items()},
                "cohen_kappa": [pair.as_dict() for pair in self.pairs],
            },
        }


def kappa_as_dict(kappa: Estimate, weights: Weights) -> dict[str, Any]:
    """Return Cohen's κ with the name of its weights, for a κ without them can be any of three."""
    return kappa.as_dict() | ({} if kappa.value is None else {"weights": weights})


def plain_grade(grade: Grade) -> int | float | str:
    """Return whole numbers as such: 3, not 3.0."""
    return int(grade) if isinstance(grade, float) and grade.is_integer() else grade


def measure_agreement(ratings: Ratings) -> Agreement:
    """Return every coefficient of the ratings, each with its interval or the reason why it has none.

    Intervals are over items, or over topics where the ratings name them.
    """
    patterns = count_patterns(at_least_two_grades(ratings))
    raters = patterns.counts.sum(axis=1)
    return Agreement(
        n_items=int(patterns.frequencies.sum()),
        n_pairable=int(patterns.frequencies[raters >= 2].sum()),
        n_raters=len(ratings.raters),
        n_ratings=ratings.n_ratings,
        n_ungraded=ratings.n_ungraded,
        level=ratings.level,
        scale=ratings.scale,
        statistics=group_statistics(patterns, ratings),
        pairs=tuple(
            pair_agreement(ratings, first, second) for first, second in combinations(range(len(ratings.raters)), 2)
        ),
    )


def at_least_two_grades(ratings: Ratings) -> Ratings:
    """Return the ratings on a scale of two grades or more.

    Where only one grade is known of a scale nobody declared, it has at least one more. How many more
    does not matter to the coefficients that exist then: percent agreement, Randolph's κ, AC1 are all 1.
    """
    if len(ratings.scale) >= 2:
        return ratings
    unused: tuple[Grade, ...] = (max(ratings.numbers, default=0.0) + 1.0, max(ratings.numbers, default=0.0) + 2.0)
    if not ratings.has_numbers:
        unused = ("(another grade)", "(one more)")
    return replace(ratings, scale=(ratings.scale + unused)[:2])


def group_statistics(patterns: CountPatterns, ratings: Ratings) -> dict[str, Estimate]:
    """Return the coefficients over all raters, by name."""
    ratings = at_least_two_grades(ratings)
    weights = coefficients.agreement_weights(ratings.level, ratings.numbers)
    # How often chance alone would agree decides κ and α where a grade is rare, and hardly the others.
    kinds: dict[str, tuple[Range, Statistic]] = {
        "percent_agreement": (SHARE, partial(coefficients.percent_agreement, patterns=patterns)),
        "fleiss_kappa": (COEFFICIENT, partial(coefficients.fleiss_kappa, patterns=patterns)),
        "randolph_kappa": (SIGNED, partial(coefficients.randolph_kappa, patterns=patterns)),
        "gwet_ac1": (SIGNED, partial(coefficients.gwet_ac1, patterns=patterns)),
        "gwet_ac2": (SIGNED, partial(coefficients.gwet_ac2, patterns=patterns, weights=weights)),
        "krippendorff_alpha": (
            COEFFICIENT,
            partial(coefficients.krippendorff_alpha, patterns=patterns, level=ratings.level, numbers=ratings.numbers),
        ),
    }
    reasons = reasons_against(patterns, n_raters=len(ratings.raters))
    if len(reasons) == len(kinds):
        return {name: undefined(reasons[name]) for name in kinds}
    values = library_alpha(patterns, ratings.level, ratings.numbers)
    pairable = (patterns.counts.sum(axis=1) >= 2).astype(np.float64)
    found = {name: undefined(reason) for name, reason in reasons.items()}
    for within in (SHARE, COEFFICIENT, SIGNED):
        of = {name: one for name, (its, one) in kinds.items() if its == within and name not in reasons}
        found |= estimate(of, patterns, within=within, values=values, counted=pairable)
    return {name: found[name] for name in kinds}


def reasons_against(patterns: CountPatterns, *, n_raters: int) -> dict[str, str]:
    """Return, for each coefficient that these patterns leave undefined, why."""
    everything = (
        "percent_agreement",
        "fleiss_kappa",
        "randolph_kappa",
        "gwet_ac1",
        "gwet_ac2",
        "krippendorff_alpha",
    )
    pairable = patterns.counts.sum(axis=1) >= 2
    if not pairable.any():
        return dict.fromkeys(everything, ONE_RATER if n_raters < 2 else NO_ITEM_TWICE)
    reasons = {}
    if (patterns.counts.sum(axis=0) > 0).sum() < 2:
        reasons["fleiss_kappa"] = ONE_GRADE
    if (patterns.counts[pairable].sum(axis=0) > 0).sum() < 2:
        reasons["krippendorff_alpha"] = ONE_GRADE
    return reasons


def library_alpha(patterns: CountPatterns, level: Level, numbers: FloatArray) -> dict[str, float]:
    """Return krippendorff's α, where its table of items × grades × grades fits."""
    counts = patterns.counts
    used = (counts[counts.sum(axis=1) >= 2].sum(axis=0) > 0).sum()
    if used < 2 or patterns.frequencies.sum() * counts.shape[1] ** 2 > LARGEST_LIBRARY_TABLE:
        return {}
    import krippendorff

    table = np.repeat(counts, patterns.frequencies.astype(np.int64), axis=0).astype(np.int64)
    alpha = krippendorff.alpha(value_counts=table, value_domain=numbers, level_of_measurement=level)
    return {"krippendorff_alpha": float(alpha)}


def pair_agreement(ratings: Ratings, first: int, second: int) -> PairAgreement:
    """Return Cohen's κ of two raters, by their columns, over the items both graded."""
    patterns = pair_patterns(ratings, first, second)
    n_items = int(patterns.frequencies.sum())
    names = (str(ratings.raters[first]), str(ratings.raters[second]))
    if not n_items:
        return PairAgreement(names, 0, *[undefined("no item was graded by both")] * 3)
    if len({*patterns.first, *patterns.second}) < 2:
        return PairAgreement(names, n_items, *[undefined(ONE_GRADE)] * 3)
    kappas = cohen_kappas(patterns, ratings.numbers)
    return PairAgreement(names, n_items, kappas["plain"], kappas["linear"], kappas["quadratic"])


def cohen_kappas(patterns: PairPatterns, numbers: FloatArray) -> dict[str, Estimate]:
    """Return Cohen's κ `plain`, `linear` and `quadratic`; two grades at least must be in use."""
    statistics: dict[str, Statistic] = {
        weighting: partial(
            coefficients.cohen_kappa,
            patterns=patterns,
            differences=coefficients.pair_differences(weighting, numbers),
        )
        for weighting in ("plain", "linear", "quadratic")
    }
    return estimate(statistics, patterns)


def rater_counts(ratings: Ratings) -> list[tuple[str, int, dict[Grade, int]]]:
    """Return for each rater the name, the number of grades, and how often each grade of the scale was given."""
    rows = []
    for name, column in zip(ratings.raters, ratings.codes.T, strict=True):
        given = np.bincount(column[column != MISSING], minlength=len(ratings.scale))
        rows.append((str(name), int(given.sum()), dict(zip(ratings.scale, map(int, given), strict=True))))
    return rows
