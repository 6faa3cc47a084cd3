"""Judges and what they did: prompt templates, judges, grading jobs and completions."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from collection.models import Criterion, Item, Judgment, Rater, Scale, Study
from collection.models.studies import TaskType


class PromptTemplate(models.Model):
    """One version of a prompt. Immutable: a change is a new version, known by its hash."""

    class ReplyWith(models.TextChoices):
        VALUE = "value", "the grade's number"
        NAME = "name", "the grade's name"

    name = models.SlugField(max_length=100)
    version = models.PositiveSmallIntegerField()
    task_type = models.CharField(max_length=20, choices=TaskType)
    criterion_name = models.SlugField(max_length=50, help_text="The criterion it grades.")
    system_text = models.TextField(blank=True)
    text = models.TextField(help_text="With placeholders: {request}, {question}, {text}, {grades}, …")
    reply_with = models.CharField(max_length=5, choices=ReplyWith, default=ReplyWith.VALUE)
    source = models.TextField(blank=True, help_text="The method it follows, and where that is described.")
    content_hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [models.UniqueConstraint(fields=["name", "version"], name="one_template_per_version")]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class JudgeQuerySet(models.QuerySet["Judge"]):
    def fitting(self, criterion: Criterion) -> JudgeQuerySet:
        """Judges that were made for this task type and grade on this criterion's scale."""
        return self.filter(task_type=criterion.task_type, scale=criterion.scale_id)


class Judge(models.Model):
    """An engine, a model, a prompt template, a scale and decoding settings. Immutable, known by its hash.

    `task_type` and `criterion_name` say what it was made to grade: they decide which texts it compares.
    """

    class Engine(models.TextChoices):
        LEXICAL = "lexical", "lexical overlap (no model)"
        EMBEDDED = "embedded", "embedded small model"
        OPENAI = "openai", "OpenAI-compatible server"

    rater = models.OneToOneField(Rater, on_delete=models.PROTECT, related_name="judge")
    name = models.SlugField(max_length=150, unique=True)
    engine = models.CharField(max_length=10, choices=Engine)
    model = models.CharField(max_length=300, blank=True)
    template = models.ForeignKey(PromptTemplate, null=True, on_delete=models.PROTECT, related_name="judges")
    task_type = models.CharField(max_length=20, choices=TaskType)
    criterion_name = models.SlugField(max_length=50)
    scale = models.ForeignKey(Scale, on_delete=models.PROTECT, related_name="+")
    decoding = models.JSONField(default=dict, help_text="Temperature, seed, the cut-points of its score, …")
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
    def weak(self) -> bool:
        """Whether it is a baseline for trying things out; every page that shows its grades says so."""
        return self.engine in {self.Engine.LEXICAL, self.Engine.EMBEDDED}


class GradingJobQuerySet(models.QuerySet["GradingJob"]):
    def of(self, user: Any) -> GradingJobQuerySet:
        """Jobs on studies that this user researches."""
        return self.filter(study__in=Study.objects.of(user))

    def active(self) -> GradingJobQuerySet:
        """Jobs that workers should be at work on."""
        return self.filter(state__in=GradingJob.ACTIVE)


class GradingJob(models.Model):
    """One execution of a judge over items of a study: the pairs that miss a completion of this attempt.

    Its messages in the broker only say "there is work"; what the work is stands here and in its
    chunks. A message of an earlier `generation` is void.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        PAUSED = "paused", "paused"
        DONE = "done", "done"
        CANCELLED = "cancelled", "cancelled"

    ACTIVE = (State.QUEUED, State.RUNNING)
    OVER = (State.DONE, State.CANCELLED)

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="grading_jobs")
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="grading_jobs")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="grading_jobs")
    attempt = models.PositiveSmallIntegerField(default=1, help_text="1, or more where ungraded items are graded again.")
    state = models.CharField(max_length=9, choices=State, default=State.QUEUED)
    reason = models.TextField(blank=True, help_text="Why it paused, if nobody paused it.")
    total = models.PositiveIntegerField()
    graded = models.PositiveIntegerField(default=0)
    ungraded = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0, help_text="Items without a text: the judge never sees them.")
    generation = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField()
    queued_at = models.DateTimeField(help_text="When messages were last sent for it.")
    started_at = models.DateTimeField(null=True, help_text="When work began, or began again after a pause.")
    done_at_start = models.PositiveIntegerField(default=0, help_text="Pairs that were done at `started_at`.")
    heartbeat_at = models.DateTimeField(null=True, help_text="When a worker last said it is at work.")
    finished_at = models.DateTimeField(null=True)

    objects = GradingJobQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["judge", "criterion"],
                condition=models.Q(state__in=["queued", "running", "paused"]),
                name="one_unfinished_job_per_judge_and_criterion",
            )
        ]

    def __str__(self) -> str:
        return f"{self.judge} on {self.study} / {self.criterion}"

    @property
    def done(self) -> int:
        """Pairs with a completion, graded or not."""
        return self.graded + self.ungraded

    @property
    def active(self) -> bool:
        """Whether workers should be at work on it."""
        return self.state in self.ACTIVE

    @property
    def over(self) -> bool:
        """Whether nothing will ever be added to it."""
        return self.state in self.OVER


class GradingChunk(models.Model):
    """Some hundred of a job's items, in the hands of one worker at a time.

    `holder` names the worker while its lease lasts. A worker that lives renews the lease; the chunk of
    one that was killed is free again when the lease is over.
    """

    job = models.ForeignKey(GradingJob, on_delete=models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    item_ids = models.JSONField(help_text="Primary keys, items with the same text together.")
    holder = models.CharField(max_length=200, blank=True)
    leased_until = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["job_id", "number"]
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="one_chunk_per_number")]

    def __str__(self) -> str:
        return f"chunk {self.number} of {self.job}"


class Completion(models.Model):
    """What a judge replied about an item: raw, with everything needed to read it again."""

    job = models.ForeignKey(GradingJob, on_delete=models.CASCADE, related_name="completions", db_index=False)
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="completions")
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="+", db_index=False)
    attempt = models.PositiveSmallIntegerField(default=1)
    grade = models.FloatField(null=True)
    ungraded = models.CharField(max_length=12, choices=Judgment.Ungraded, blank=True)
    reply = models.TextField(blank=True)
    error = models.TextField(blank=True, help_text="Why there is no grade.")
    finish_reason = models.CharField(max_length=30, blank=True)
    score = models.FloatField(null=True, help_text="What a baseline measured before it was cut into grades.")
    log_probabilities = models.JSONField(
        null=True, help_text="Of each reply that was allowed, as the server gave them."
    )
    expected_grade = models.FloatField(null=True)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    seconds = models.FloatField(null=True)
    engine_identity = models.CharField(max_length=300, blank=True, help_text="Server, version and model that answered.")
    completed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["judge", "criterion", "item", "attempt"], name="one_completion_per_pair_and_attempt"
            ),
        ]
        indexes = [models.Index(fields=["job", "ungraded", "grade"], name="completions_of_a_job")]

    def __str__(self) -> str:
        return f"{self.judge} on {self.item}"
