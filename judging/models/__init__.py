"""Judges and what they did: templates, judges, servers, jobs, errands, completions, anchors, quotas, builds."""

from judging.models.builds import Build, GenerationCall, Product, ProductReview
from judging.models.completions import Completion
from judging.models.ensembles import Combination, EnsembleGrade, EnsembleMember
from judging.models.errands import Errand, ServerProbe
from judging.models.gullibility import GullibilityAudit, PlantedReply
from judging.models.jobs import AnchorCheck, AnchorSet, GradingChunk, GradingJob
from judging.models.judges import Judge
from judging.models.quotas import TokenQuota, TokenUse
from judging.models.servers import ModelServer
from judging.models.templates import PromptTemplate
