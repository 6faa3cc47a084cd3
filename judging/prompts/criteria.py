"""Criteria that a judge can be made for: those of the task types, and the rating of whole reports."""

from __future__ import annotations

from dataclasses import dataclass

from collection.models import Criterion, Question
from collection.models.studies import TaskType
from collection.questions.shapes import RUBRIC_0_5, TASK_TYPES, title_of
from collection.scales import ScaleShape

# Task types whose criteria are about what people did themselves: no judge is asked them.
FOR_PEOPLE_ALONE = {TaskType.WRITTEN_ANSWER, TaskType.ANSWER_REVISION, TaskType.CONFIDENCE}


@dataclass(frozen=True)
class JudgedCriterion:
    """What judges are made for: a criterion of a task type, with the scale it comes with."""

    task_type: str
    criterion_name: str
    scale: ScaleShape

    @property
    def label(self) -> str:
        return f"{self.criterion_name.replace('_', ' ')} – {title_of(self.task_type)}, scale “{self.scale.name}”"


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


def judged_criteria() -> list[JudgedCriterion]:
    """Return all that judges can be made for: the shipped criteria, then those of researchers' own questions."""
    own = [TASK_TYPES[name] for name in Question.objects.values_list("name", flat=True)]
    return [
        *JUDGED_CRITERIA,
        *(JudgedCriterion(shape.task_type, one.name, one.scale) for shape in own for one in shape.criteria),
    ]


def judged_criterion_named(name: str) -> JudgedCriterion | None:
    """Return the criterion of this name that judges can be made for, if there is one."""
    return next((asked for asked in judged_criteria() if asked.criterion_name == name), None)


def judged_criterion_of(criterion: Criterion) -> JudgedCriterion | None:
    """Return what a judge is made for that shall grade this criterion; None if its scale is the researcher's own."""
    same = [
        asked
        for asked in _criteria_of(criterion.task_type)
        if (asked.task_type, asked.scale.content_hash) == (criterion.task_type, criterion.scale.content_hash)
    ]
    return next((asked for asked in same if asked.criterion_name == criterion.name), same[0] if same else None)


def _criteria_of(task_type: str) -> list[JudgedCriterion]:
    shape = TASK_TYPES.get(task_type)
    if shape and shape.own:
        return [JudgedCriterion(task_type, one.name, one.scale) for one in shape.criteria]
    return [asked for asked in JUDGED_CRITERIA if asked.task_type == task_type]
