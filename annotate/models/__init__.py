"""How people get their work and what they did with it."""

from annotate.models.crowd import CrowdEntry, CrowdIdentity, CrowdSession, Erasure, Invitation, Participant, ReturnLink
from annotate.models.notices import Notice
from annotate.models.quality import (
    AttentionAnswer,
    AttentionCheck,
    ConsentAnswer,
    ConsentText,
    GoldGrade,
    Pasting,
    QualityRules,
    ScreenOut,
    SpotCheck,
    SurveyAnswer,
    SurveyQuestion,
    SurveyReply,
    TrainingAnswer,
    TrainingAttempt,
)
from annotate.models.site_account import SiteRequest, SiteToken
from annotate.models.work import (
    Assignment,
    AssignmentItem,
    Draft,
    Enrolment,
    GuidelineReading,
    Place,
    PlannedClosing,
    SkippedWork,
    Task,
    TaskItem,
    TopicShare,
)
