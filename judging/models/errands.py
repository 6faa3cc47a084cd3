"""What a researcher waits for and a worker does: trial runs of judges, and probes of their servers."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import models
from django.db.models import Q

from collection.models import Criterion
from collection.models.uploads import uploads_folder
from judging.models.judges import Judge
from judging.models.servers import ModelServer


class Errand(models.Model):
    """One trial run of a judge under a criterion, or one probe of its servers, and what came of it.

    A worker takes it up once and no more: it may cost tokens. `result` of a trial run is a list of items, with the
    grades of people and the reply of each; that of a probe stands with the judge's servers. `error` says why nothing
    came of it.
    """

    class Kind(models.TextChoices):
        TRIAL = "trial", "trial run"
        PROBE = "probe", "server probe"

    class State(models.TextChoices):
        AT_WORK = "at work", "at work"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    kind = models.CharField(max_length=5, choices=Kind)
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="errands")
    criterion = models.ForeignKey(Criterion, null=True, on_delete=models.CASCADE, related_name="+")
    seed = models.PositiveIntegerField(null=True, help_text="Seed for sampling items.")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    state = models.CharField(max_length=7, choices=State, default=State.AT_WORK)
    result = models.JSONField(null=True)
    error = models.TextField(blank=True)
    asked_at = models.DateTimeField(db_index=True)
    begun_at = models.DateTimeField(null=True, help_text="When a worker took it up.")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-asked_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.judge}, {self.asked_at:%Y-%m-%d %H:%M}"

    @property
    def is_at_work(self) -> bool:
        """Whether it is worth while to look again."""
        return self.state == self.State.AT_WORK

    @property
    def sign_of_life(self) -> Path:
        """The file by which its worker says that it lives."""
        return uploads_folder() / f"errand-{self.pk}.beat"


class ServerProbe(models.Model):
    """One server as it was when it was last tried out for a judge. A judge never changes; its servers do."""

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="probes", db_index=False)
    address = models.CharField(max_length=500, help_text="Without a password in it.")
    server = models.ForeignKey(
        ModelServer, null=True, on_delete=models.CASCADE, related_name="+", help_text="None: JUDGE_BASE_URL names it."
    )
    findings = models.JSONField(null=True, help_text="What the server is, and which options it honours.")
    problem = models.TextField(blank=True, help_text="Why it cannot be used.")
    probed_at = models.DateTimeField()

    class Meta:
        ordering = ["address"]
        constraints = [
            models.UniqueConstraint(
                fields=["judge", "address"], condition=Q(server=None), name="one_probe_per_judge_and_server"
            ),
            models.UniqueConstraint(fields=["judge", "address", "server"], name="one_probe_per_judge_and_added_server"),
        ]

    def __str__(self) -> str:
        return f"{self.judge} at {self.address}"

    @property
    def place(self) -> tuple[str, int | None]:
        return self.address, self.server_id
