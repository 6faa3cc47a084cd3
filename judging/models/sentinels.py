"""Anchor items: a fixed few that are judged again when a judge may have changed."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from collection.models import Criterion, Item
from judging.models.jobs import GradingJob
from judging.models.judges import Judge


class SentinelSet(models.Model):
    """The items of a criterion on which every change of a judge is measured. Chosen once, by chance."""

    criterion = models.OneToOneField(Criterion, on_delete=models.CASCADE, related_name="sentinels")
    items = models.ManyToManyField(Item, related_name="+")
    seed = models.PositiveBigIntegerField(help_text="Of the draw.")
    chosen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"anchor items of {self.criterion}"


class SentinelRound(models.Model):
    """One look at a judge that may have changed: its grades of the anchor items now, beside those of before.

    `before` and `after` map an item's primary key to a grade, or to null where the reply was ungraded.
    """

    sentinels = models.ForeignKey(SentinelSet, on_delete=models.CASCADE, related_name="rounds")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+", help_text="Who judged now.")
    earlier_judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+", help_text="Who judged before.")
    job = models.ForeignKey(GradingJob, null=True, on_delete=models.SET_NULL, related_name="sentinel_rounds")
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
        return f"{self.judge} on {self.sentinels}, {self.judged_at:%Y-%m-%d %H:%M}"
