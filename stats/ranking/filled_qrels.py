"""Qrels with holes filled: people's lines as they are, and a judge's grades where no person judged.

So UMBRELA is used (Upadhyay, Pradeep, Thakur, Campos, Craswell, Soboroff, Dang and Lin, 2024). The judge's grades are
put on people's scale first: from which of its grades up which label stands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from stats.ratings import FloatArray
from stats.refusals import Refused

# A topic and a docno.
Pair = tuple[str, str]
STEP = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*:\s*(-?\d+(?:\.\d+)?)\s*")


class NotFilled(Refused):
    """These labels cannot be filled like this; the message says why and what to change."""


@dataclass(frozen=True)
class GradeMap:
    """From which of a judge's grades up which label stands, lowest first; below the first it is the `lowest` label."""

    steps: tuple[tuple[float, float], ...]
    lowest: float

    def labels(self, grades: FloatArray) -> FloatArray:
        """Return the labels of grades of any shape; NaN where there is no grade."""
        froms = np.array([at for at, _ in self.steps])
        labels = np.array([self.lowest, *(label for _, label in self.steps)])
        found = labels[np.searchsorted(froms, grades, side="right")]
        return np.asarray(np.where(np.isnan(grades), np.nan, found), dtype=np.float64)

    @property
    def in_words(self) -> str:
        """Return “label 1 from the judge’s 2 up, 2 from 4 up; else 0”."""
        steps = ", ".join(
            f"{'label ' * (not place)}{label:g} from {'the judge’s ' * (not place)}{at:g} up"
            for place, (at, label) in enumerate(self.steps)
        )
        return f"{steps}; else {self.lowest:g}"

    def as_dict(self) -> dict[str, Any]:
        steps = [{"from": at, "label": label} for at, label in self.steps]
        return {"steps": steps, "lowest": self.lowest, "in_words": self.in_words}


def grade_map(
    text: str, *, judge_scale: Sequence[float], scale: Sequence[float], judge_at: float, people_at: float | None = None
) -> GradeMap:
    """Return how the judge's grades become people's, as the text says: “2:1, 4:2”. Raises NotFilled.

    Without a text: grade by grade where the scales are the same; where people's labels are a yes or a no (on a scale of
    two, or from `people_at` up), yes from `judge_at` up.
    """
    lowest, highest = min(scale), max(scale)
    if text.strip():
        return _parsed(text, judge_scale, scale)
    if set(scale) == set(judge_scale):
        return GradeMap(tuple((grade, grade) for grade in sorted(scale)[1:]), lowest)
    if len(set(scale)) == 2 or people_at is not None:
        return GradeMap(((judge_at, highest),), lowest)
    grades = (
        f"The judge grades from {min(judge_scale):g} to {max(judge_scale):g}, people from {lowest:g} to {highest:g}"
    )
    example = _example(judge_scale, scale)
    raise NotFilled(
        f"{grades}. Say from which of the judge’s grades up which label stands, for example “{example}”, or make all "
        "labels 0 and 1."
    )


def _example(judge_scale: Sequence[float], scale: Sequence[float]) -> str:
    above, labels = sorted(judge_scale)[1:], sorted(scale)[1:]
    n = min(len(above), len(labels))
    return ", ".join(f"{at:g}:{label:g}" for at, label in zip(above[-n:], labels[-n:], strict=True))


def _parsed(text: str, judge_scale: Sequence[float], scale: Sequence[float]) -> GradeMap:
    steps = []
    for part in text.split(","):
        found = STEP.fullmatch(part)
        if found is None:
            raise NotFilled(f"“{part.strip()}” is not a step of a mapping. Write steps as “2:1, 4:2”: grade:label.")
        steps.append((float(found[1]), float(found[2])))
    for name, numbers in (("judge’s grades", [at for at, _ in steps]), ("labels", [label for _, label in steps])):
        if numbers != sorted(set(numbers)):
            raise NotFilled(f"The {name} of a mapping must rise from step to step; these do not: {text.strip()}.")
    lowest, highest = min(judge_scale), max(judge_scale)
    for at, label in steps:
        if not lowest < at <= highest:
            raise NotFilled(f"The judge grades from {lowest:g} to {highest:g}, so {at:g} does not divide its grades.")
        if label not in scale or label == min(scale):
            listed = ", ".join(f"{grade:g}" for grade in sorted(scale)[1:])
            raise NotFilled(f"{label:g} is not a label above the lowest of people’s scale. Choose from: {listed}.")
    return GradeMap(tuple(steps), min(scale))


@dataclass(frozen=True)
class Filled:
    """Filled qrels: `labels` by topic and docno, of which the `filled` ones are the judge's.

    Of the judge's grades that are not used: `n_judged_too` are of pairs that people judged, with a line or without;
    `n_outside` of pairs outside the pool; `n_other_topics` of topics that no person judged. `holes`: pairs of the pool
    that have no line even so.
    """

    labels: Mapping[Pair, int]
    filled: Set[Pair]
    holes: Set[Pair]
    n_judged_too: int
    n_outside: int
    n_other_topics: int

    @property
    def lines(self) -> list[tuple[str, str, int, bool]]:
        """Topic, docno, label and whether it is the judge's, in the order of qrels."""
        return [(*pair, self.labels[pair], pair in self.filled) for pair in sorted(self.labels)]

    def counts(self) -> dict[str, Any]:
        """Return what the provenance says of it."""
        return {
            "lines": len(self.labels),
            "topics": len({topic for topic, _ in self.labels}),
            "human_lines": len(self.labels) - len(self.filled),
            "filled_lines": len(self.filled),
            "human_lines_by_grade": _by_grade(self.labels[pair] for pair in self.labels if pair not in self.filled),
            "filled_lines_by_grade": _by_grade(self.labels[pair] for pair in self.filled),
            "left_unjudged_in_pool": len(self.holes),
            "judged_by_both": self.n_judged_too,
            "judged_outside_the_pool": self.n_outside,
            "judged_in_other_topics": self.n_other_topics,
        }


def _by_grade(labels: Iterable[int]) -> dict[str, int]:
    return {str(grade): n for grade, n in sorted(Counter(labels).items())}


def fill(
    people: Mapping[Pair, int],
    judge: Mapping[Pair, int],
    *,
    judged: Set[Pair],
    pool: Set[Pair] | None = None,
    all_topics: bool = False,
) -> Filled:
    """Return people's labels with the judge's where no person judged.

    `judged`: pairs that any person judged, which are people's even where the rule leaves them without a line; `pool`:
    the pairs that may be filled, None for all that the judge graded; only those of topics that people labelled unless
    `all_topics`.
    """
    topics = {topic for topic, _ in people}
    unused: Counter[str] = Counter()
    labels, filled = dict(people), set()
    for pair, label in judge.items():
        if pair in judged or pair in people:
            unused["judged too"] += 1
        elif pool is not None and pair not in pool:
            unused["outside"] += 1
        elif not all_topics and pair[0] not in topics:
            unused["other topics"] += 1
        else:
            labels[pair] = label
            filled.add(pair)
    holes = {pair for pair in pool or () if pair not in labels and (all_topics or pair[0] in topics)}
    return Filled(labels, filled, holes, unused["judged too"], unused["outside"], unused["other topics"])
