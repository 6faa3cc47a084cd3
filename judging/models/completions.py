"""What judges replied."""

from __future__ import annotations

from django.db import models

from collection.models import Criterion, Item, Judgment
from judging.models.jobs import GradingJob
from judging.models.judges import Judge


class Completion(models.Model):
    """What a judge replied about an item: raw, with everything needed to read it again.

    Only `judging.grading.completions` adds rows.
    """

    job = models.ForeignKey(GradingJob, on_delete=models.CASCADE, related_name="completions", db_index=False)
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="completions")
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="+", db_index=False)
    attempt = models.PositiveSmallIntegerField(default=1)
    grade = models.FloatField(null=True)
    ungraded = models.CharField(max_length=12, choices=Judgment.Ungraded, blank=True)
    reply = models.TextField(blank=True)
    thinking = models.TextField(blank=True, db_default="", help_text="What the model thought before its reply.")
    error = models.TextField(blank=True, help_text="Why there is no grade.")
    finish_reason = models.CharField(max_length=30, blank=True)
    score = models.FloatField(null=True, help_text="What a baseline measured before it was cut into grades.")
    log_probabilities = models.JSONField(
        null=True, help_text="Of each reply that was allowed, as the server gave them."
    )
    expected_grade = models.FloatField(null=True)
    entropy = models.FloatField(
        null=True, help_text="Of the grades' probabilities, in bits: 0 where the judge is sure."
    )
    other_order = models.JSONField(
        null=True, help_text="The reply with the two texts changed over: raw, with its grade turned back."
    )
    cut_texts = models.JSONField(null=True, help_text="Texts that were cut, with the code points that the judge read.")
    prompt_tokens = models.PositiveIntegerField(null=True)
    cached_tokens = models.PositiveIntegerField(
        null=True, help_text="Prompt tokens that the server had in its prefix cache; null where it does not say."
    )
    completion_tokens = models.PositiveIntegerField(null=True)
    thinking_tokens = models.PositiveIntegerField(
        null=True, help_text="Those of the reply that were thinking; null where the server does not say."
    )
    sent = models.JSONField(null=True, help_text="The parameters of the request, without its texts.")
    seconds = models.FloatField(null=True)
    engine_identity = models.CharField(max_length=300, blank=True, help_text="Server, version and model that answered.")
    completed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["judge", "criterion", "item", "attempt"], name="one_completion_per_pair_and_attempt"
            ),
        ]
        indexes = [
            models.Index(fields=["job", "id"], name="newest_replies_of_a_job"),
            models.Index(fields=["job", "ungraded", "grade", "id"], name="completions_of_a_job"),
        ]

    def __str__(self) -> str:
        return f"{self.judge} on {self.item}"
