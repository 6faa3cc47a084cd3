"""What a third person decided where people disagreed."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from collection.models.people import Rater
from collection.models.studies import Criterion, Item


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
