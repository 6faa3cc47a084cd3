"""Decisions: that a rubric element is no longer asked, or is again, and which grade counts where people disagree."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from collection.models.people import Rater
from collection.models.studies import Criterion, Item
from collection.models.texts import RubricElement


class Masking(models.Model):
    """That an element was masked, or unmasked, by whom, when and why. Never changed, never deleted by a service.

    `criterion` is the one whose grades it follows from, where it follows from grades: its own statistics keep the
    element, or they would be of what they themselves chose. `basis` tells these grades: study, criterion, source, η.
    """

    element = models.ForeignKey(RubricElement, on_delete=models.CASCADE, related_name="maskings")
    masked = models.BooleanField(help_text="Whether it was masked; else it was unmasked.")
    reason = models.TextField()
    criterion = models.ForeignKey(Criterion, null=True, on_delete=models.SET_NULL, related_name="maskings")
    basis = models.JSONField(default=dict, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    decided_at = models.DateTimeField()

    class Meta:
        ordering = ["-decided_at", "-id"]
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="a_masking_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.element} {'masked' if self.masked else 'unmasked'}: {self.reason}"


class Adjudication(models.Model):
    """The grade that counts as people's where they disagreed. Their judgments stay as they are.

    It is no judgment: whoever adjudicates has seen what the others said, so it must not enter agreement.
    A change supersedes the earlier row and keeps it.
    """

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="adjudications")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="adjudications")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="adjudications")
    grade = models.FloatField()
    note = models.TextField(blank=True)
    decided_at = models.DateTimeField()
    superseded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-decided_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "criterion"], condition=Q(superseded_at__isnull=True), name="one_adjudication_in_force"
            )
        ]

    def __str__(self) -> str:
        return f"{self.item} / {self.criterion}: {self.grade:g}"
