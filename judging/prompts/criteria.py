"""Criteria that a judge can be made for: those of the task types, and the rating of whole reports."""

from __future__ import annotations

from dataclasses import dataclass

from collection.models import Criterion
from collection.models.studies import TaskType
from collection.questions.shapes import RUBRIC_0_5, TASK_TYPES
from collection.scales import ScaleShape

# Task types whose criteria are about what people did themselves: no judge is asked them.
FOR_PEOPLE_ALONE = {TaskType.WRITTEN_ANSWER, TaskType.ANSWER_REVISION, TaskType.CONFIDENCE}


@dataclass(frozen=True)
class JudgedCriterion:
    """What judges are made for: a criterion of a task type, with the scale it comes with."""

    task_type: TaskType
    criterion_name: str
    scale: ScaleShape

    @property
    def label(self) -> str:
        return f"{self.criterion_name.replace('_', ' ')} – {self.task_type.label}, scale “{self.scale.name}”"


# The criteria that the task types ask, and the rating of reports, which makes T1 comparable at η.
JUDGED_CRITERIA = (
    *(
        JudgedCriterion(shape.task_type, criterion.name, criterion.scale)
        for shape in TASK_TYPES.values()
        if shape.task_type not in FOR_PEOPLE_ALONE
        for criterion in shape.criteria
    ),
    JudgedCriterion(TaskType.ANSWERABILITY, "report_rating", RUBRIC_0_5),
)


def judged_criterion_of(criterion: Criterion) -> JudgedCriterion | None:
    """Return what a judge is made for that shall grade this criterion; None if its scale is the researcher's own."""
    same = [
        asked
        for asked in JUDGED_CRITERIA
        if (asked.task_type, asked.scale.content_hash) == (criterion.task_type, criterion.scale.content_hash)
    ]
    return next((asked for asked in same if asked.criterion_name == criterion.name), same[0] if same else None)
