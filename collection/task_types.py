"""What each task type is made of: which texts, which rubric elements, which criteria on which scales.

The descriptions of the grades are ours; the scales are the papers': CRUX's T1 (answerable or not)
and T2 (a rubric from 0 to 5), LONG²RAG's verification of key points (grounded or not, then agree,
neutral or disagree).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from collection.models import RubricElement, Scale
from collection.models.studies import TaskType


@dataclass(frozen=True)
class ScaleShape:
    """A scale before it is stored."""

    name: str
    level: Scale.Level
    points: tuple[tuple[float, str, str], ...]

    def stored(self) -> Scale:
        """Return the stored scale of this shape, made if it is new."""
        points = [{"value": value, "name": name, "text": text} for value, name, text in self.points]
        scale, _ = Scale.objects.get_or_create(
            content_hash=scale_hash(self.name, self.level, points),
            defaults={"name": self.name, "level": self.level, "points": points},
        )
        return scale


def scale_hash(name: str, level: str, points: list[dict[str, Any]]) -> str:
    """Return the SHA-256 over all that a scale is."""
    canonical = json.dumps([name, level, points], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


@dataclass(frozen=True)
class CriterionShape:
    """A criterion that a task type asks, with the scale it comes with."""

    name: str
    question: str
    scale: ScaleShape
    threshold: float


@dataclass(frozen=True)
class TaskTypeShape:
    """A task type: one task is a text with the rubric elements asked about it."""

    task_type: TaskType
    text: Literal["report", "passage"]
    element_kind: RubricElement.Kind
    criteria: tuple[CriterionShape, ...]


ANSWERABLE = ScaleShape(
    "answerability",
    Scale.Level.NOMINAL,
    (
        (0, "unanswerable", "The text says nothing that answers the question."),
        (1, "answerable", "The text says enough to answer the question."),
    ),
)
RUBRIC_0_5 = ScaleShape(
    "rubric 0–5",
    Scale.Level.ORDINAL,
    (
        (0, "none", "Says nothing about it."),
        (1, "touches", "Barely touches it, or is mostly wrong about it."),
        (2, "little", "Answers a small part; much is missing or inexact."),
        (3, "partly", "Answers the main part; gaps or inaccuracies stand out."),
        (4, "mostly", "Answers nearly all of it; only small gaps."),
        (5, "fully", "Answers all of it, exactly."),
    ),
)
GROUNDED = ScaleShape(
    "grounded",
    Scale.Level.NOMINAL,
    ((0, "no", "The document does not say this."), (1, "yes", "The document says this.")),
)
UTILITY = ScaleShape(
    "utility",
    Scale.Level.ORDINAL,
    (
        (-1, "disagree", "It has no place in an answer to this question."),
        (0, "neutral", "It belongs to the subject but does not answer; an answer may leave it out."),
        (1, "agree", "It answers the question, or a part of it, directly."),
    ),
)

TASK_TYPES: dict[str, TaskTypeShape] = {
    shape.task_type.value: shape
    for shape in (
        TaskTypeShape(
            TaskType.ANSWERABILITY,
            "report",
            RubricElement.Kind.SUB_QUESTION,
            (CriterionShape("answerability", "Does the report answer this question?", ANSWERABLE, threshold=1),),
        ),
        TaskTypeShape(
            TaskType.RATING,
            "passage",
            RubricElement.Kind.SUB_QUESTION,
            (CriterionShape("rating", "How well does the passage answer this question?", RUBRIC_0_5, threshold=3),),
        ),
        TaskTypeShape(
            TaskType.KEY_POINT,
            "passage",
            RubricElement.Kind.KEY_POINT,
            (
                CriterionShape("grounded", "Does the document say this?", GROUNDED, threshold=1),
                CriterionShape("utility", "Is it a key point for the question?", UTILITY, threshold=1),
            ),
        ),
    )
}
