"""A researcher's account at a crowd site, and what was asked of the site by it.

No id of a participant or a submission stands here: erasing a person leaves nothing behind.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotate.models.crowd import CrowdEntry


class SiteToken(models.Model):
    """A researcher's token for Prolific's API, encrypted with a key that follows from the site's SECRET_KEY."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="site_token")
    sealed = models.TextField(editable=False)
    set_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"token of {self.user}"


class SiteRequest(models.Model):
    """One request to the crowd site: stored before it is sent, and with its answer after that.

    `amounts` are top-ups by the session's key; other requests name their sessions with an amount of 0. `unknown`: the
    site may or may not have done it, because no answer came.
    """

    class Kind(models.TextChoices):
        STUDY = "study", "create the study"
        PLACES = "places", "set the places"
        APPROVALS = "approvals", "approve submissions"
        TOP_UPS = "top_ups", "pay top-ups"
        RETURNS = "returns", "ask for returns"

    class State(models.TextChoices):
        SENT = "sent", "sent"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        UNKNOWN = "unknown", "unknown"

    entry = models.ForeignKey(CrowdEntry, on_delete=models.CASCADE, related_name="site_requests")
    kind = models.CharField(max_length=9, choices=Kind)
    state = models.CharField(max_length=7, choices=State, default=State.SENT)
    amounts = models.JSONField(default=dict)
    cost = models.DecimalField(max_digits=12, decimal_places=2, null=True, help_text="Without the site's fees.")
    remote_id = models.CharField(max_length=64, blank=True)
    said = models.TextField(blank=True, help_text="What the site answered, or why there is no answer.")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    asked_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-asked_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["entry"],
                condition=Q(kind="top_ups", state__in=["sent", "unknown"]),
                name="one_payment_under_way_per_entry",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}, {self.entry}"

    @property
    def is_open_payment(self) -> bool:
        """Whether somebody must say if it was paid before anything else is."""
        return self.kind == self.Kind.TOP_UPS and self.state in (self.State.SENT, self.State.UNKNOWN)
