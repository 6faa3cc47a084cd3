"""Judges: an engine with all that shapes its grades."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db import models
from django.db.models import Q

from collection.models import Criterion, Rater, Scale, Study
from judging.models.templates import PromptTemplate

# What workers with vLLM in them listen to.
VLLM_QUEUE = "vllm"
TEXT2TEXT_QUEUE = "text2text"
# Engines that compute a score, from which cut-points make a grade.
BASELINES = ("lexical", "embedded")


class JudgeQuerySet(models.QuerySet["Judge"]):
    def at_home_in(self, study: Study) -> JudgeQuerySet:
        """Leave out judges that show texts of another collection than the study's as examples."""
        return self.filter(Q(examples_from=None) | Q(examples_from__collection=study.collection_id))

    def fitting(self, criterion: Criterion) -> JudgeQuerySet:
        """Judges that were made for this task type, grade on this criterion's scale, and are at home in its study.

        A baseline measures what its criterion asks and nothing else, so it fits no other.
        """
        fitting = self.filter(task_type=criterion.task_type, scale=criterion.scale_id)
        of_others = Q(engine__in=BASELINES) & ~Q(criterion_name=criterion.name)
        return fitting.exclude(of_others).at_home_in(criterion.study)


class Judge(models.Model):
    """An engine, a model, a prompt template, a scale and decoding settings. Immutable, known by its hash.

    `task_type` and `criterion_name` say what it was made to grade: they decide which texts it compares.
    """

    class Engine(models.TextChoices):
        LEXICAL = "lexical", "lexical overlap (no model)"
        EMBEDDED = "embedded", "embedded small model"
        OPENAI = "openai", "OpenAI-compatible server"
        VLLM = "vllm", "vLLM in a worker, without a server"
        TEXT2TEXT = "text2text", "encoder–decoder (T5) in a worker"
        ENSEMBLE = "ensemble", "ensemble of judges"

    rater = models.OneToOneField(Rater, on_delete=models.PROTECT, related_name="judge")
    name = models.SlugField(max_length=150, unique=True)
    engine = models.CharField(max_length=10, choices=Engine)
    model = models.CharField(max_length=300, blank=True)
    template = models.ForeignKey(PromptTemplate, null=True, on_delete=models.PROTECT, related_name="judges")
    task_type = models.CharField(max_length=50, help_text="The name of a task type.")
    criterion_name = models.SlugField(max_length=50)
    scale = models.ForeignKey(Scale, on_delete=models.PROTECT, related_name="+")
    decoding = models.JSONField(default=dict, help_text="Temperature, seed, the cut-points of its score, …")
    examples = models.JSONField(
        default=list,
        blank=True,
        help_text="Items that its prompt shows with people's grades: item, grade, text's hash.",
    )
    examples_from = models.ForeignKey(
        Study,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The study that the examples, or an ensemble's imported members, are from.",
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = JudgeQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def content_hash(self) -> str:
        """The hash over all that shapes its grades."""
        assert self.rater.content_hash is not None  # make_judge gives it
        return self.rater.content_hash

    @property
    def other_names(self) -> list[str]:
        """The names under which its model was seen to reply, other than its own: a gateway's, say."""
        known = self.rater.attributes
        return sorted({*known.get("answers_as", {}), *known.get("answers_as_at", {})})

    def names_at(self, servers: Iterable[int | None]) -> set[str]:
        """The other names that count for who asks these servers: one that somebody saw at their own counts there."""
        at, own = set(servers), self.rater.attributes.get("answers_as_at", {})
        return {*self.rater.attributes.get("answers_as", {}), *(name for name, where in own.items() if at & set(where))}

    @property
    def queue(self) -> str | None:
        """The Celery queue of its jobs: workers with a model in them have one of their own; None is the default one."""
        return {self.Engine.VLLM: VLLM_QUEUE, self.Engine.TEXT2TEXT: TEXT2TEXT_QUEUE}.get(self.Engine(self.engine))

    @property
    def reads_prompts(self) -> bool:
        """Whether it is asked by prompts, which could be sent to a batch service too."""
        return self.template_id is not None and self.engine in {self.Engine.OPENAI, self.Engine.VLLM}

    @property
    def wordless(self) -> bool:
        """Whether its prompts name bare numbers as grades: what each means is then left to the model."""
        return self.template is not None and self.scale.wordless

    @property
    def weak(self) -> bool:
        """Whether it is a baseline for trying things out, or made of such; pages that show its grades say so."""
        if self.engine == self.Engine.ENSEMBLE:
            return bool(self.decoding["weak"])
        return self.engine in BASELINES

    @property
    def not_sent(self) -> list[str]:
        """The decoding parameters that its servers were seen to refuse: its grades cannot be reproduced."""
        return list(self.rater.attributes.get("not_sent", ()))

    def measures_another(self, criterion: Criterion) -> bool:
        """Whether it is a baseline that measures what another criterion asks, though on the same scale."""
        return self.engine in BASELINES and self.criterion_name != criterion.name
