"""What may be spent on a model, and what was: of a grading job and of a build alike."""

from __future__ import annotations

from django.db import models


class Spending(models.Model):
    """Tokens used so far, their prices, and the limits at which the work pauses."""

    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    price_in = models.FloatField(null=True, help_text="For a million prompt tokens.")
    price_out = models.FloatField(null=True, help_text="For a million tokens of replies.")
    token_limit = models.PositiveBigIntegerField(null=True, help_text="Prompts and replies together.")
    cost_limit = models.FloatField(null=True)

    class Meta:
        abstract = True

    @property
    def tokens(self) -> int:
        """Tokens of prompts and replies so far, as far as the server counts them."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def cost(self) -> float | None:
        """What it has cost so far; None where no price was given."""
        if self.price_in is None and self.price_out is None:
            return None
        return (self.prompt_tokens * (self.price_in or 0) + self.completion_tokens * (self.price_out or 0)) / 1_000_000
