"""What a researcher may use of the operator's key, and what they used of it that no job counts."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class TokenQuota(models.Model):
    """One researcher's tokens a month, where they have others than JUDGE_TOKENS_PER_RESEARCHER gives everybody."""

    researcher = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="token_quota")
    tokens = models.PositiveBigIntegerField(
        help_text="Of prompts and replies together, in each calendar month. 0: without a limit."
    )
    note = models.CharField(max_length=300, blank=True, help_text="Why, for other administrators.")

    class Meta:
        ordering = ["researcher__username"]

    def __str__(self) -> str:
        return f"{self.tokens:,} tokens a month for {self.researcher}"


class TokenUse(models.Model):
    """Tokens that a researcher used beside grading jobs, whose completions count their own. Rows are only added."""

    class For(models.TextChoices):
        TRIAL = "trial", "trial run"
        PROBE = "probe", "server probe"
        AUDIT = "audit", "gullibility audit"
        ANCHOR_CHECK = "anchors", "check of the anchor items"
        WORDING = "wording", "wording of a nugget"

    researcher = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="token_uses", db_index=False
    )
    used_for = models.CharField(max_length=9, choices=For)
    prompt_tokens = models.PositiveBigIntegerField()
    completion_tokens = models.PositiveBigIntegerField()
    own_servers = models.BooleanField(default=False, help_text="Used on the researcher's own servers.")
    used_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["researcher", "used_at"], name="token_uses_of_a_month")]

    def __str__(self) -> str:
        return f"{self.researcher}: {self.prompt_tokens + self.completion_tokens:,} for a {self.get_used_for_display()}"
