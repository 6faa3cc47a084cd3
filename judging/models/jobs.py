"""Grading jobs, their chunks, and the anchor items that are judged again when a judge may have changed."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from collection.models import Criterion, Item, Study
from judging.models.builds import Build
from judging.models.judges import Judge
from judging.models.leases import Leased
from judging.models.spending import Spending


class GradingJobQuerySet(models.QuerySet["GradingJob"]):
    def of(self, user: Any) -> GradingJobQuerySet:
        """Jobs on studies that this user researches."""
        return self.filter(study__in=Study.objects.of(user))

    def active(self) -> GradingJobQuerySet:
        """Jobs that workers should be at work on."""
        return self.filter(state__in=GradingJob.ACTIVE)


class GradingJob(Spending):
    """One execution of a judge over items of a study: the pairs that miss a completion of this attempt.

    Its messages in the broker only say "there is work"; what the work is stands here and in its
    chunks. A message of an earlier `generation` is void.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        PAUSED = "paused", "paused"
        AWAY = "away", "in a batch file"
        DONE = "done", "done"
        CANCELLED = "cancelled", "cancelled"

    class Cause(models.TextChoices):
        """Why a job paused, where nobody paused it."""

        ENGINE = "engine", "the engine cannot grade"
        UNGRADED = "ungraded", "most replies are ungraded"
        CALLS = "calls", "the limit of calls is reached"
        TOKENS = "tokens", "the token limit is reached"
        COST = "cost", "the cost limit is reached"
        TIME = "time", "the time is over"
        DRIFT = "drift", "the judge may have changed"
        QUOTA = "quota", "this month’s tokens are used"

    ACTIVE = (State.QUEUED, State.RUNNING)
    OVER = (State.DONE, State.CANCELLED)

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="grading_jobs")
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="grading_jobs")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="grading_jobs")
    build = models.ForeignKey(
        Build, null=True, on_delete=models.SET_NULL, related_name="grading_jobs",
        help_text="Which it follows, and whose limits hold for both.",
    )  # fmt: skip
    attempt = models.PositiveSmallIntegerField(default=1, help_text="1, or more where ungraded items are graded again.")
    state = models.CharField(max_length=9, choices=State, default=State.QUEUED)
    reason = models.TextField(blank=True, help_text="Why it paused, if nobody paused it.")
    pause_cause = models.CharField(max_length=9, choices=Cause, blank=True)
    selection = models.JSONField(
        default=dict, help_text="Which items were asked for: topics, runs, a sample with its seed and probability."
    )
    total = models.PositiveIntegerField()
    graded = models.PositiveIntegerField(default=0)
    ungraded = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(
        default=0, help_text="Items without a text, which the judge is not asked about."
    )
    by_grade = models.JSONField(default=dict, help_text="How many completions have each grade, written as “2.0”.")
    by_kind = models.JSONField(default=dict, help_text="How many completions are ungraded, by kind.")
    cached_tokens = models.PositiveBigIntegerField(default=0, help_text="Prompt tokens that came from a prefix cache.")
    cacheable_tokens = models.PositiveBigIntegerField(
        default=0, help_text="Prompt tokens of the replies that say how many came from a cache."
    )
    goes_on_ungraded = models.BooleanField(default=False, help_text="Continue although most replies are ungraded.")
    engine_identity = models.CharField(
        max_length=300, blank=True, help_text="What graded when the anchor items were last checked."
    )
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
                condition=models.Q(state__in=["queued", "running", "paused", "away"]),
                name="one_unfinished_job_per_judge_and_criterion",
            )
        ]

    def __str__(self) -> str:
        return f"{self.judge} on {self.study} / {self.criterion}"

    @property
    def bounds(self) -> Spending:
        return self.build or self

    @property
    def done(self) -> int:
        """Pairs with a completion, graded or not."""
        return self.graded + self.ungraded

    @property
    def cache_share(self) -> float | None:
        """The share of prompt tokens that came from a prefix cache; None where the server does not say."""
        return self.cached_tokens / self.cacheable_tokens if self.cacheable_tokens else None

    @property
    def active(self) -> bool:
        """Whether workers should be at work on it."""
        return self.state in self.ACTIVE

    @property
    def over(self) -> bool:
        """Whether nothing will ever be added to it."""
        return self.state in self.OVER


class GradingChunk(Leased):
    """Some hundred of a job's items, in the hands of one worker at a time."""

    job = models.ForeignKey(GradingJob, on_delete=models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    item_ids = models.JSONField(help_text="Primary keys, items with the same text together.")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["job_id", "number"]
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="one_chunk_per_number")]

    def __str__(self) -> str:
        return f"chunk {self.number} of {self.job}"


class AnchorSet(models.Model):
    """The items of a criterion on which every change of a judge is measured. Chosen once, by chance."""

    criterion = models.OneToOneField(Criterion, on_delete=models.CASCADE, related_name="anchor_set")
    items = models.ManyToManyField(Item, related_name="+")
    seed = models.PositiveBigIntegerField(help_text="Of the draw.")
    chosen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"anchor items of {self.criterion}"


class AnchorCheck(models.Model):
    """One look at a judge that may have changed: its grades of the anchor items now, beside those of before.

    `before` and `after` map an item's primary key to a grade, or to null where the reply was ungraded.
    """

    anchors = models.ForeignKey(AnchorSet, on_delete=models.CASCADE, related_name="rounds")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+", help_text="Who judged now.")
    earlier_judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+", help_text="Who judged before.")
    job = models.ForeignKey(GradingJob, null=True, on_delete=models.SET_NULL, related_name="anchor_checks")
    identity = models.CharField(max_length=300, help_text="Server, version and model now.")
    earlier_identity = models.CharField(max_length=300)
    before = models.JSONField()
    after = models.JSONField()
    judged_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, help_text="When a researcher accepted the new model's grades.")
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-judged_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.judge} on {self.anchors}, {self.judged_at:%Y-%m-%d %H:%M}"
