"""People and judge as yes and no: the confusion matrix at a threshold and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from stats.agreement import coefficients
from stats.agreement.report import ONE_GRADE, kappa_as_dict
from stats.pattern_intervals import Estimate, estimate, estimate_share, leave_out, undefined
from stats.ratings import BoolArray, FloatArray, IntArray, PairPatterns, pairs_of_codes

NEGATIVE, POSITIVE, UNGRADED = 0, 1, 2
NAMES = {NEGATIVE: "negative", POSITIVE: "positive"}
JUDGE_NAMES = {NEGATIVE: "judge_negative", POSITIVE: "judge_positive", UNGRADED: "judge_ungraded"}


@dataclass(frozen=True)
class ClassFigures:
    """How well the judge finds one class, with people's grades taken as the truth."""

    precision: Estimate
    recall: Estimate
    f1: Estimate


@dataclass(frozen=True)
class ThresholdFigures:
    """A grade of at least `at` (people: `people_at`) is a yes.

    `confusion[(people, judge)]` counts items: each side NEGATIVE or POSITIVE, the judge also UNGRADED. An
    ungraded reply finds neither class, so it lowers accuracy, recall, F1 and κ, and leaves precision alone.
    `accuracy` is the share of items of which both say the same.
    """

    at: float
    people_at: float
    confusion: Mapping[tuple[int, int], int]
    kappa: Estimate
    accuracy: Estimate
    positive: ClassFigures
    negative: ClassFigures

    @property
    def cells(self) -> tuple[int, int, int, int]:
        """How many items both call a yes, the judge alone, people alone, and neither; ungraded ones are in none."""
        order = ((POSITIVE, POSITIVE), (NEGATIVE, POSITIVE), (POSITIVE, NEGATIVE), (NEGATIVE, NEGATIVE))
        both, judge, people, neither = (self.confusion[cell] for cell in order)
        return both, judge, people, neither

    def figures(self) -> dict[str, Estimate]:
        """Return precision, recall and F1 of both classes by name, `positive.precision` and so on, then accuracy."""
        classes = {"positive": self.positive, "negative": self.negative}
        of_classes = {
            f"{name}.{measure}": getattr(figures, measure)
            for name, figures in classes.items()
            for measure in ("precision", "recall", "f1")
        }
        return {**of_classes, "accuracy": self.accuracy}

    def as_dict(self) -> dict[str, Any]:
        """Return it as the `compare` command prints it."""
        kappa = kappa_as_dict(self.kappa, "none")
        answer: dict[str, Any] = {"at": self.at, "human_at": self.people_at, "kappa": kappa}
        answer["accuracy"] = self.accuracy.as_dict()
        answer["confusion"] = {
            f"human_{NAMES[people]}": {
                JUDGE_NAMES[judge]: self.confusion[people, judge] for judge in (POSITIVE, NEGATIVE, UNGRADED)
            }
            for people in (POSITIVE, NEGATIVE)
        }
        for which, figures in {"positive": self.positive, "negative": self.negative}.items():
            answer[which] = {name: getattr(figures, name).value for name in ("precision", "recall", "f1")}
        return answer


def at_threshold(
    people_yes: BoolArray,
    judge_yes: BoolArray,
    judge_ungraded: BoolArray,
    topics: IntArray | None,
    *,
    at: float,
    people_at: float,
) -> ThresholdFigures:
    """Return the figures over items, all arrays of shape (n,)."""
    patterns = _yes_and_no(people_yes, judge_yes, judge_ungraded, topics)
    cells = zip(patterns.first.tolist(), patterns.second.tolist(), strict=True)
    confusion = dict.fromkeys(((p, j) for p in (NEGATIVE, POSITIVE) for j in (NEGATIVE, POSITIVE, UNGRADED)), 0)
    confusion |= {cell: int(n) for cell, n in zip(cells, patterns.frequencies, strict=True)}
    return ThresholdFigures(
        at=at,
        people_at=people_at,
        confusion=confusion,
        kappa=_kappa(patterns),
        accuracy=_accuracy(patterns),
        positive=_class_figures(patterns, POSITIVE),
        negative=_class_figures(patterns, NEGATIVE),
    )


def kappa_at_threshold(
    people_yes: BoolArray, judge_yes: BoolArray, judge_ungraded: BoolArray | None, topics: IntArray | None
) -> Estimate:
    """Return Cohen's κ of the two classes alone, as `at_threshold` has it; all arrays of shape (n,)."""
    return _kappa(_yes_and_no(people_yes, judge_yes, judge_ungraded, topics))


def kappa_without_topics(
    people_yes: BoolArray, judge_yes: BoolArray, judge_ungraded: BoolArray | None, topics: IntArray
) -> FloatArray:
    """Return the same κ with each topic left out in turn (groups of them where they are very many)."""
    patterns = _yes_and_no(people_yes, judge_yes, judge_ungraded, topics)
    return kappa_of(leave_out(patterns, np.ones(len(patterns.frequencies))).frequencies, patterns)


def _yes_and_no(
    people_yes: BoolArray, judge_yes: BoolArray, judge_ungraded: BoolArray | None, topics: IntArray | None
) -> PairPatterns:
    ungraded = np.zeros(len(people_yes), dtype=bool) if judge_ungraded is None else judge_ungraded
    judged = np.where(ungraded, UNGRADED, judge_yes.astype(np.int16)).astype(np.int16)
    return pairs_of_codes(people_yes.astype(np.int16), judged, 3, topics)


def _kappa(patterns: PairPatterns) -> Estimate:
    """Cohen's κ of the two classes, an ungraded reply being a class of its own."""
    if not len(patterns.frequencies):
        return undefined("no item was graded by people")
    if len({*patterns.first, *patterns.second}) < 2:
        return undefined(ONE_GRADE)
    return estimate({"kappa": partial(kappa_of, patterns=patterns)}, patterns)["kappa"]


def kappa_of(frequencies: FloatArray, patterns: PairPatterns) -> FloatArray:
    """Return Cohen's κ of each row of frequencies, an ungraded reply being a class of its own."""
    return coefficients.cohen_kappa(frequencies, patterns, coefficients.squared_differences("nominal", np.arange(3.0)))


def _accuracy(patterns: PairPatterns) -> Estimate:
    """The share of items of which both say the same; an ungraded reply says nothing."""
    if not len(patterns.frequencies):
        return undefined("no item was graded by people")
    return estimate_share(patterns, of=patterns.first == patterns.second, among=np.ones(len(patterns.first)))


def _class_figures(patterns: PairPatterns, which: int) -> ClassFigures:
    """Precision, recall and F1 of one class; scikit-learn's values with our intervals."""
    people, judge = (patterns.first == which) * 1.0, (patterns.second == which) * 1.0
    values = _library_figures(patterns, which)
    among = {
        "precision": (judge, f"the judge called nothing {NAMES[which]}"),
        "recall": (people, f"people called nothing {NAMES[which]}"),
        "f1": ((people + judge) / 2, f"nobody called anything {NAMES[which]}"),
    }
    return ClassFigures(
        **{
            name: estimate_share(patterns, of=people * judge, among=whole, value=values.get(name))
            if whole.any()
            else undefined(reason)
            for name, (whole, reason) in among.items()
        }
    )


def _library_figures(patterns: PairPatterns, which: int) -> dict[str, float]:
    if not len(patterns.frequencies):
        return {}
    from sklearn.metrics import precision_recall_fscore_support

    precision, recall, f1, _ = precision_recall_fscore_support(
        patterns.first,
        patterns.second,
        labels=[which],
        sample_weight=patterns.frequencies,
        average=None,
        zero_division=np.nan,
    )
    return {"precision": float(precision[0]), "recall": float(recall[0]), "f1": float(f1[0])}
