"""How people get their work and what they did with it."""

from annotate.models.crowd import CrowdEntry, CrowdIdentity, CrowdSession, Erasure, Invitation, Participant, ReturnLink
from annotate.models.quality import (
    AttentionAnswer,
    AttentionCheck,
    ConsentAnswer,
    ConsentText,
    GoldGrade,
    QualityRules,
    ScreenOut,
    SurveyAnswer,
    SurveyQuestion,
    SurveyReply,
    TrainingAnswer,
    TrainingAttempt,
)
from annotate.models.review import SpotCheck
from annotate.models.work import Assignment, AssignmentItem, Draft, Enrolment, GuidelineReading, Place, Task, TaskItem

__all__ = [
    "Assignment",
    "AssignmentItem",
    "AttentionAnswer",
    "AttentionCheck",
    "ConsentAnswer",
    "ConsentText",
    "CrowdEntry",
    "CrowdIdentity",
    "CrowdSession",
    "Draft",
    "Enrolment",
    "Erasure",
    "GoldGrade",
    "GuidelineReading",
    "Invitation",
    "Participant",
    "Place",
    "QualityRules",
    "ReturnLink",
    "ScreenOut",
    "SpotCheck",
    "SurveyAnswer",
    "SurveyQuestion",
    "SurveyReply",
    "Task",
    "TaskItem",
    "TrainingAnswer",
    "TrainingAttempt",
]
