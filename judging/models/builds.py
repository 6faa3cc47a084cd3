"""Builds: what a model writes for a collection, call by call, and what people decided about each thing it wrote."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from collection.models import Collection, Passage, Report, RubricElement, Topic
from judging.models.judges import VLLM_QUEUE
from judging.models.leases import Leased
from judging.models.spending import Spending


class BuildQuerySet(models.QuerySet["Build"]):
    def of(self, user: Any) -> BuildQuerySet:
        """Builds for collections that this user may see."""
        return self.filter(collection__in=Collection.objects.of(user))

    def active(self) -> BuildQuerySet:
        """Builds that workers should be at work on."""
        return self.filter(state__in=Build.ACTIVE)


class Build(Spending, Leased):
    """One run of a pipeline over topics of a collection: the calls of its steps that have no reply yet.

    One worker at a time asks for them and does what follows: who has the build's lease.

    `step` is the number of the step that is worked on. `prompts` holds each step's prompt as it is asked, with its
    name, version and hash; `options` what the pipeline was told. A message of an earlier `generation` is void.
    """

    class Engine(models.TextChoices):
        OPENAI = "openai", "OpenAI-compatible server"
        VLLM = "vllm", "vLLM in a worker, without a server"
        EMBEDDED = "embedded", "embedded small model"

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        REVIEW = "review", "waiting for review"
        PAUSED = "paused", "paused"
        DONE = "done", "done"
        CANCELLED = "cancelled", "cancelled"

    class Cause(models.TextChoices):
        """Why a build paused, where nobody paused it."""

        ENGINE = "engine", "the engine cannot write"
        CALLS = "calls", "the limit of calls is reached"
        TOKENS = "tokens", "the token limit is reached"
        COST = "cost", "the cost limit is reached"
        TIME = "time", "the time is over"
        QUOTA = "quota", "this month’s tokens are used"

    ACTIVE = (State.QUEUED, State.RUNNING)

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="builds")
    pipeline = models.SlugField(max_length=50)
    engine = models.CharField(max_length=10, choices=Engine)
    model = models.CharField(max_length=300, blank=True)
    decoding = models.JSONField(default=dict, blank=True, help_text="The endpoint; a step’s sampling is its own.")
    options = models.JSONField(default=dict)
    prompts = models.JSONField(default=dict, help_text="By step: name, version, system text, text, source and hash.")
    seed = models.PositiveIntegerField(default=1)
    step = models.PositiveSmallIntegerField(default=0)
    reviews_steps = models.BooleanField(default=False, help_text="Wait for review after each step.")
    reviewers = models.PositiveSmallIntegerField(default=1, help_text="How many people must agree on a product.")
    state = models.CharField(max_length=9, choices=State, default=State.QUEUED)
    reason = models.TextField(blank=True, help_text="Why it paused, if nobody paused it.")
    pause_cause = models.CharField(max_length=9, choices=Cause, blank=True)
    generation = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField()
    queued_at = models.DateTimeField(help_text="When messages were last sent for it.")
    heartbeat_at = models.DateTimeField(null=True, help_text="When a worker last said it is at work.")
    finished_at = models.DateTimeField(null=True)

    objects = BuildQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.pipeline} of {self.collection}, {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def queue(self) -> str | None:
        """The Celery queue of its work: workers with vLLM in them have one of their own; None is the default one."""
        return VLLM_QUEUE if self.engine == self.Engine.VLLM else None

    @property
    def active(self) -> bool:
        """Whether workers should be at work on it."""
        return self.state in self.ACTIVE


class GenerationCall(models.Model):
    """One call of a step: what the model was asked, its raw reply, the rows read of it and what is wrong with it.

    One without sampling asked no model: its rows followed from what was there.
    `inputs_hash` covers the prompt and the sampling, so no call is made twice in a build. Where a step is done again
    with another prompt, its calls of before are `set_aside`: kept, and of no effect.
    """

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="calls", db_index=False)
    step = models.SlugField(max_length=50)
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="+")
    inputs_hash = models.CharField(max_length=64)
    key: Any = models.JSONField(default=dict, help_text="What it is about: a document, a round, an attempt.")
    kind = models.SlugField(
        max_length=50, blank=True, help_text="Which of the step’s prompts was filled; usually its only one."
    )
    system = models.TextField(blank=True)
    prompt = models.TextField()
    sampling: Any = models.JSONField(default=dict)
    set_aside = models.BooleanField(default=False)
    reply = models.TextField(blank=True)
    rows: Any = models.JSONField(default=list)
    faults: Any = models.JSONField(default=list, help_text="[{kind, detail}]")
    finish_reason = models.CharField(max_length=30, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    seconds = models.FloatField(null=True)
    engine_identity = models.CharField(max_length=300, blank=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["build", "step", "inputs_hash"], name="one_call_per_step_and_inputs")
        ]

    def __str__(self) -> str:
        return f"{self.step} of {self.topic}"


class Product(models.Model):
    """One thing that a model wrote, and what people made of it. `raw` is as it came and never changes.

    Only what is accepted, or edited, counts. `element`, `passage` or `report` is what it became in the collection, or
    `request_of` the topic whose request it is; `became_topic` is the topic that it became, or says something of.
    """

    class State(models.TextChoices):
        PROPOSED = "proposed", "proposed"
        ACCEPTED = "accepted", "accepted"
        EDITED = "edited", "edited"
        REJECTED = "rejected", "rejected"

    COUNTS = (State.ACCEPTED, State.EDITED)
    BECOMES = ("element", "passage", "report", "request_of", "became_topic")

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="products", db_index=False)
    call = models.ForeignKey(GenerationCall, on_delete=models.CASCADE, related_name="products")
    step = models.SlugField(max_length=50)
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="+")
    position = models.PositiveIntegerField(help_text="Counted from 0 within its call.")
    raw = models.TextField()
    text = models.TextField()
    data: Any = models.JSONField(default=dict, help_text="Spans, importance, the originals that it sums up.")
    state = models.CharField(max_length=8, choices=State, default=State.PROPOSED)
    reviewed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    reviewed_at = models.DateTimeField(null=True)
    element = models.ForeignKey(RubricElement, null=True, on_delete=models.SET_NULL, related_name="made_from")
    passage = models.ForeignKey(Passage, null=True, on_delete=models.SET_NULL, related_name="made_from")
    report = models.ForeignKey(Report, null=True, on_delete=models.SET_NULL, related_name="made_from")
    request_of = models.ForeignKey(Topic, null=True, on_delete=models.SET_NULL, related_name="request_made_from")
    became_topic = models.ForeignKey(Topic, null=True, on_delete=models.SET_NULL, related_name="made_from")

    class Meta:
        ordering = ["topic_id", "call_id", "position"]
        constraints = [models.UniqueConstraint(fields=["call", "position"], name="one_product_per_place_of_a_reply")]
        indexes = [models.Index(fields=["build", "step", "state"], name="products_of_a_step")]

    def __str__(self) -> str:
        return self.text

    @property
    def is_added(self) -> bool:
        """Whether it is in the collection."""
        return any(getattr(self, f"{name}_id") for name in self.BECOMES)


class ProductReview(models.Model):
    """What one person decided about a product: their last word. `UNREAD` is the text of what none read."""

    UNREAD = "unread"

    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="reviews")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    decision = models.CharField(max_length=8, choices=Product.State)
    text = models.TextField(blank=True, help_text="What they made of it, where they edited it.")
    decided_at = models.DateTimeField()

    class Meta:
        ordering = ["decided_at"]
        constraints = [
            models.UniqueConstraint(fields=["product", "reviewer"], name="one_review_per_reader_of_a_product")
        ]

    def __str__(self) -> str:
        return f"{self.reviewer}: {self.decision}"
