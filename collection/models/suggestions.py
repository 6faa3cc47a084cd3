"""A judge's grade that an assessor may be shown: by which arm of a study's design, and what they had said before.

The arm is drawn for each assignment and stored with its probability, so what a suggestion does to labels is measured
and labels that it touched are known for ever.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from collection.models.people import Rater
from collection.models.studies import Criterion, Item, Study


class Arm(models.TextChoices):
    """How the judge's grade comes before the assessor."""

    NONE = "none", "none"
    AFTER = "after", "after"
    VERIFY = "verify", "verify"
    POST_EDIT = "post_edit", "post-edit"


class SuggestionDesign(models.Model):
    """Which judge a study suggests grades of, and with which probability an assignment draws each arm.

    A study without a row suggests nothing. Changing it changes what is drawn from then on.
    """

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="suggestion_design")
    judge = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="+")
    none_percent = models.PositiveSmallIntegerField("None")
    after_percent = models.PositiveSmallIntegerField("After")
    verify_percent = models.PositiveSmallIntegerField("Verify")
    post_edit_percent = models.PositiveSmallIntegerField("Post-edit")
    changed_at = models.DateTimeField()
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(none_percent=100 - F("after_percent") - F("verify_percent") - F("post_edit_percent")),
                name="the_arms_probabilities_add_up",
            ),
            models.CheckConstraint(condition=Q(none_percent__gte=1), name="some_assignments_get_no_suggestion"),
        ]

    def __str__(self) -> str:
        return f"suggestions of {self.judge} in {self.study}"

    @property
    def probabilities(self) -> dict[Arm, float]:
        """The arms that may be drawn, each with its probability."""
        percents = {arm: getattr(self, f"{arm.value}_percent") for arm in Arm}
        return {arm: percent / 100 for arm, percent in percents.items() if percent}


class Suggestion(models.Model):
    """What one assessor was, or in the arm *none* was not, shown of a judge's grade of an item under a criterion.

    Copied when the assignment came into their hands, so it tells what stood there whatever the judge says later.
    `spans` are `{"start", "end", "quote"}`, in code points of the judged text. In the arm *after* `own_grade` is what
    the assessor had said when they were shown it, at `shown_at`; `decided_at` is when they then kept or changed it.
    The judgment as it stands is in Judgment, what it was before in EarlierJudgment.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="suggestions")
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="+", db_index=False)
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="suggestions")
    arm = models.CharField(max_length=9, choices=Arm)
    probability = models.FloatField()
    judge = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="+", db_index=False)
    grade = models.FloatField(help_text="The judge's.")
    reason = models.TextField(blank=True, help_text="The judge's, without its grade.")
    spans = models.JSONField(default=list)
    drawn_at = models.DateTimeField()
    own_grade = models.FloatField(null=True)
    own_seconds = models.FloatField(null=True)
    shown_at = models.DateTimeField(null=True)
    decided_at = models.DateTimeField(null=True)
    decided_seconds = models.FloatField(null=True, help_text="Active time spent on the question until then, in all.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["criterion", "item", "rater"], name="one_suggestion_per_rater"),
            models.CheckConstraint(
                condition=Q(probability__gt=0, probability__lte=1), name="an_arms_probability_is_in_0_1"
            ),
            models.CheckConstraint(
                condition=Q(own_grade__isnull=True) | Q(shown_at__isnull=False, arm=Arm.AFTER),
                name="an_own_grade_comes_before_what_is_shown",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.arm} for {self.rater} on {self.item}"

    @property
    def is_seen(self) -> bool:
        """Whether it may stand in its assessor's page: after their own grade, where the arm wants that first."""
        return self.arm != Arm.NONE and self.shown_at is not None

    @property
    def point(self) -> dict[str, Any]:
        """The point of the scale that the judge chose."""
        return self.criterion.scale.point(self.grade) or {"value": self.grade, "name": f"{self.grade:g}", "text": ""}
