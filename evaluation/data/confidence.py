"""How confident people were when they evaluated answers (CLAPNQ), and the labels of those who were confident enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from collection.models import Criterion, Rater
from collection.models.studies import TaskType
from evaluation.data.judgments import CriterionRatings
from stats.plurals import counted
from stats.ranking.measure_names import NoLeaderboard
from stats.ratings import MISSING, grades_of

# What is judged with the question's passages or beside one another, by people who said how confident they are.
OF_ANSWERS = (TaskType.ANSWER_EVALUATION, TaskType.QUESTION_PASSAGE, TaskType.PASSAGE_USE, TaskType.PREFERENCE)
NOT_ASKED = "This study did not ask people how confident they are: leave out the confidence."


@dataclass(frozen=True)
class Confidence:
    """What people said of their confidence: `counts` are how often, by the name of the grade, from the lowest up.

    `at_least` is the grade from which labels count, or None: all do.
    """

    counts: Mapping[str, int]
    mean: float
    at_least: float | None
    n_below: int

    @property
    def n(self) -> int:
        """How often somebody said it: once a question and person."""
        return sum(self.counts.values())

    def __str__(self) -> str:
        spread = ", ".join(f"{name} {n}" for name, n in self.counts.items())
        said = f"People’s confidence: mean {self.mean:.2f} of {counted(self.n, 'answers')} ({spread})."
        if self.at_least is None:
            return said
        return (
            f"{said} Only grades of people who said at least {self.at_least:g} of the question count: "
            f"{self.n_below} of {self.n} are below."
        )

    def as_dict(self) -> dict[str, Any]:
        return {"n": self.n, "mean": self.mean, "counts": dict(self.counts)} | {
            "at_least": self.at_least,
            "n_below": self.n_below,
        }


def confidence_said(said: CriterionRatings, *, at_least: float | None) -> Confidence | None:
    """Return what people said of their confidence; None where nobody did."""
    columns = said.columns(Rater.Kind.ASSESSOR)
    grades = grades_of(said.ratings.codes[:, columns], said.ratings.numbers)
    given = grades[~np.isnan(grades)]
    if not given.size:
        return None
    points = said.criterion.scale.points
    counts = {f"{one['value']:g} {one['name']}": int((given == one["value"]).sum()) for one in points}
    n_below = 0 if at_least is None else int((given < at_least).sum())
    return Confidence(counts, float(given.mean()), at_least, n_below)


def of_the_confident(judged: CriterionRatings, said: CriterionRatings, *, at_least: float) -> CriterionRatings:
    """Return the judgments of answers without those of people who were less confident of the question, or did not say.

    Judges, who are not asked, stay as they are; so do judgments of anything but answers.
    """
    if judged.criterion.task_type not in OF_ANSWERS:
        return judged
    assert judged.ratings.topics is not None  # load_criterion
    assert said.ratings.topics is not None
    grades = grades_of(said.ratings.codes, said.ratings.numbers)
    sure = {
        (int(said.topic_ids[said.ratings.topics[row]]), said.raters[column].pk)
        for row, column in zip(*np.nonzero(grades >= at_least), strict=True)
    }
    topics = judged.topic_ids[judged.ratings.topics].tolist()
    kept = np.array(
        [[rater.kind == Rater.Kind.JUDGE or (topic, rater.pk) in sure for rater in judged.raters] for topic in topics],
        dtype=bool,
    ).reshape(judged.asked.shape)
    codes = np.where(kept, judged.ratings.codes, MISSING).astype(judged.ratings.codes.dtype)
    asked = judged.asked & kept
    n_ungraded = int(asked.sum() - (codes != MISSING).sum())
    found = replace(judged, ratings=replace(judged.ratings, codes=codes, n_ungraded=n_ungraded), asked=asked)
    rows = asked.any(axis=1)
    return replace(found, ratings=found.ratings.of_items(rows), asked=asked[rows])


def confidence_asked(criteria: list[Criterion]) -> Criterion:
    """Return the criterion under which people said how confident they are. Raises NoLeaderboard."""
    found = next((one for one in criteria if one.task_type == TaskType.CONFIDENCE), None)
    if found is None:
        raise NoLeaderboard(NOT_ASKED)
    return found
