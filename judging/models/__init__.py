"""Judges and what they did: templates, judges and their servers, jobs, errands, completions, sentinels, quotas."""

from judging.models.completions import Completion
from judging.models.ensembles import Combination, EnsembleGrade, EnsembleMember
from judging.models.errands import Errand
from judging.models.gullibility import GullibilityAudit, PlantedReply
from judging.models.jobs import GradingChunk, GradingJob
from judging.models.judges import Judge
from judging.models.probes import ServerProbe
from judging.models.quotas import TokenQuota, TokenUse
from judging.models.sentinels import SentinelRound, SentinelSet
from judging.models.templates import PromptTemplate

__all__ = [
    "Combination",
    "Completion",
    "EnsembleGrade",
    "EnsembleMember",
    "Errand",
    "GradingChunk",
    "GradingJob",
    "GullibilityAudit",
    "Judge",
    "PlantedReply",
    "PromptTemplate",
    "SentinelRound",
    "SentinelSet",
    "ServerProbe",
    "TokenQuota",
    "TokenUse",
]
