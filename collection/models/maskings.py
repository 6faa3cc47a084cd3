"""Decisions, after an import, that a rubric element is no longer asked, or is asked again."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from collection.models.studies import Criterion
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
            models.CheckConstraint(condition=~models.Q(reason=""), name="a_masking_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.element} {'masked' if self.masked else 'unmasked'}: {self.reason}"
