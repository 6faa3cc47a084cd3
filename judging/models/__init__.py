"""Judges and what they did: templates, judges and their servers, ensembles, jobs, completions, sentinel items."""

from judging.models.completions import Completion
from judging.models.ensembles import Combination, EnsembleGrade, EnsembleMember
from judging.models.jobs import GradingChunk, GradingJob
from judging.models.judges import Judge
from judging.models.probes import ServerProbe
from judging.models.sentinels import SentinelRound, SentinelSet
from judging.models.templates import PromptTemplate

__all__ = [
    "Combination",
    "Completion",
    "EnsembleGrade",
    "EnsembleMember",
    "GradingChunk",
    "GradingJob",
    "Judge",
    "PromptTemplate",
    "SentinelRound",
    "SentinelSet",
    "ServerProbe",
]
