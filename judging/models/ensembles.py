"""Ensembles: judges whose grades are combined of other judges' grades."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from collection.models import Criterion, Item, Rater
from judging.models.judges import Judge


class EnsembleMember(models.Model):
    """That a judge's grades go into an ensemble's. Samples of one judge are judges that differ in their seed.

    It is a judge of this installation, or (`rater`) one whose grades came in from elsewhere.
    """

    ensemble = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="members")
    judge = models.ForeignKey(Judge, null=True, on_delete=models.PROTECT, related_name="memberships")
    rater = models.ForeignKey(
        Rater, null=True, on_delete=models.PROTECT, related_name="+", help_text="The imported judge, if it is one."
    )
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["ensemble_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["ensemble", "judge"], name="a_judge_is_one_member"),
            models.UniqueConstraint(fields=["ensemble", "rater"], name="an_imported_judge_is_one_member"),
            models.CheckConstraint(
                condition=Q(judge__isnull=True, rater__isnull=False) | Q(judge__isnull=False, rater__isnull=True),
                name="a_member_is_a_judge_or_an_imported_one",
            ),
        ]

    def __str__(self) -> str:
        return str(self.judge or self.rater)

    @property
    def voter(self) -> Rater:
        """Whose judgments it brings."""
        voter = self.judge.rater if self.judge else self.rater
        assert voter is not None  # the database says so
        return voter


class EnsembleGrade(models.Model):
    """How an ensemble came to its grade of an item, beside the narrow judgment."""

    ensemble = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="+", db_index=False)
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="+", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="+")
    value = models.FloatField(null=True, help_text="The mean or the median before it became a grade of the scale.")
    graded_members = models.PositiveSmallIntegerField()
    ungraded_members = models.PositiveSmallIntegerField()
    agreeing_members = models.PositiveSmallIntegerField(help_text="How many gave the grade that the ensemble gives.")
    reason = models.CharField(max_length=200, blank=True, help_text="Why there is no grade.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ensemble", "criterion", "item"], name="one_ensemble_grade_per_item")
        ]

    def __str__(self) -> str:
        return f"{self.ensemble} on {self.item}"


class Combination(models.Model):
    """That an ensemble's grades were made from its members' as they stood then, and what came of it."""

    ensemble = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="combinations")
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="+")
    graded = models.PositiveIntegerField()
    ungraded = models.PositiveIntegerField()
    waiting = models.PositiveIntegerField(help_text="Items that some member has not judged yet.")
    changed = models.PositiveIntegerField(help_text="Judgments that are new or other than before.")
    combined_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    combined_at = models.DateTimeField()

    class Meta:
        ordering = ["-combined_at", "-id"]

    def __str__(self) -> str:
        return f"{self.ensemble} on {self.criterion}"
