"""Audits of how easily a judge is talked round."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from collection.models import Criterion, Item
from judging.models.judges import Judge


class GullibilityAudit(models.Model):
    """One look at what a judge says of planted texts. `pairs` are its texts: `[item, item whose text it gets]`.

    It is a set of missing replies, as a grading job is: whoever goes on asks for what is not there.
    """

    class State(models.TextChoices):
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="gullibility_audits")
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="gullibility_audits")
    pairs: Any = models.JSONField()
    foreign = models.BooleanField(help_text="Whether each question is asked of a text of another topic.")
    seed = models.PositiveBigIntegerField()
    state = models.CharField(max_length=7, choices=State, default=State.RUNNING)
    reason = models.TextField(blank=True, help_text="Why it failed.")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    started_at = models.DateTimeField()
    heard_of_at = models.DateTimeField(help_text="When a worker was last at it.")

    class Meta:
        ordering = ["-started_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.judge} on {self.criterion}, {self.started_at:%Y-%m-%d %H:%M}"


class PlantedReply(models.Model):
    """What the judge said of one text with one thing planted in it; `kind` is empty for the text as it is."""

    audit = models.ForeignKey(GullibilityAudit, on_delete=models.CASCADE, related_name="replies")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=20, blank=True)
    grade = models.FloatField(null=True)
    ungraded = models.CharField(max_length=20, blank=True)
    reply = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["audit", "item", "kind"], name="one_reply_to_a_planted_text")]

    def __str__(self) -> str:
        return f"{self.item}, {self.kind or 'as it is'}"
