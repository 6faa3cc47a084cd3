"""Signs that a judged text tries to talk a judge round."""

from __future__ import annotations

from django.db import models

from collection.models.studies import Item


class TextFlag(models.Model):
    """A sign in an item's text, found when a judge was to grade it. It changes no grade."""

    class Kind(models.TextChoices):
        ADDRESSES = "addresses", "addresses the judge"
        MARKUP = "markup", "contains prompt markup"
        STUFFED = "stuffed", "repeats the question"

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="text_flags")
    kind = models.CharField(max_length=9, choices=Kind)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "kind"], name="one_flag_of_a_kind")]

    def __str__(self) -> str:
        return f"{self.item}: {self.get_kind_display()}"
