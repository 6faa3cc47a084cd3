"""What may be spent on a model, and what was: of a grading job and of a build alike."""

from __future__ import annotations

from django.db import models


class Spending(models.Model):
    """Calls and tokens used so far, the tokens' prices, and the limits at which the work pauses."""

    n_calls = models.PositiveBigIntegerField(default=0, help_text="Calls with a reply; a pair in both orders is two.")
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    price_in = models.FloatField(null=True, help_text="For a million prompt tokens.")
    price_out = models.FloatField(null=True, help_text="For a million tokens of replies.")
    call_limit = models.PositiveBigIntegerField(null=True)
    token_limit = models.PositiveBigIntegerField(null=True, help_text="Prompts and replies together.")
    cost_limit = models.FloatField(null=True)
    own_servers = models.BooleanField(
        default=False, help_text="It asks its researcher's own servers, whose tokens the site does not pay for."
    )
    minutes_limit = models.FloatField(null=True, help_text="Since the start, pauses included.")
    replied_at = models.DateTimeField(null=True, help_text="When a reply was last stored, errors aside.")

    class Meta:
        abstract = True

    @property
    def bounds(self) -> Spending:
        """Whose limits and prices hold: its own, unless it is a link of a chain."""
        return self

    @property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return any(x is not None for x in (self.call_limit, self.token_limit, self.cost_limit, self.minutes_limit))

    @property
    def tokens(self) -> int:
        """Tokens of prompts and replies so far, as far as the server counts them."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def cost(self) -> float | None:
        """What it has cost so far; None where no price was given."""
        return self.cost_of(self.prompt_tokens, self.completion_tokens)

    def cost_of(self, prompt_tokens: float, completion_tokens: float) -> float | None:
        """What so many tokens cost; None where no price was given."""
        if self.price_in is None and self.price_out is None:
            return None
        return (prompt_tokens * (self.price_in or 0) + completion_tokens * (self.price_out or 0)) / 1_000_000
