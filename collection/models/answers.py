"""Written answers between their two rounds."""

from __future__ import annotations

from django.db import models

from collection.models.people import Rater
from collection.models.studies import Item


class AnswerToRevise(models.Model):
    """An answer of round 1 as its second reader sees it, whatever becomes of it later.

    `item` is what the second reader judges; `answered` is the item that the writer answered. `spans` are the
    sentences that the answer is made of: `{"start", "end", "quote"}`, in code points of the passage.
    """

    item = models.OneToOneField(Item, on_delete=models.CASCADE, related_name="answer_to_revise")
    answered = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="answers_to_revise")
    writer = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    spans = models.JSONField(default=list)
    handed_on_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "answers to revise"
        constraints = [models.UniqueConstraint(fields=["answered", "writer"], name="an_answer_is_revised_as_one_item")]

    def __str__(self) -> str:
        return self.text
