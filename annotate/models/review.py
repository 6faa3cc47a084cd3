"""What a researcher found when looking over an assessor's work."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotate.models.work import Assignment


class SpotCheck(models.Model):
    """A submitted assignment that was drawn to be looked over, and what was found.

    It was drawn at random from those that its assessor had submitted, with the probability that stands here.
    """

    class Verdict(models.TextChoices):
        OPEN = "", "not checked yet"
        GOOD = "good", "correct"
        FLAWED = "flawed", "some answers are wrong"
        BAD = "bad", "careless"

    assignment = models.OneToOneField(Assignment, on_delete=models.CASCADE, related_name="spot_check")
    inclusion_probability = models.FloatField()
    drawn_at = models.DateTimeField()
    verdict = models.CharField(max_length=6, choices=Verdict, default=Verdict.OPEN, blank=True)
    note = models.TextField(blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    checked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["drawn_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
                name="a_spot_checks_probability_is_in_0_1",
            )
        ]

    def __str__(self) -> str:
        return f"spot check of {self.assignment}"
