"""What was learnt of the servers that a judge's model is asked on."""

from __future__ import annotations

from django.db import models

from judging.models.judges import Judge


class ServerProbe(models.Model):
    """One server as it was when it was last tried out for a judge. A judge never changes; its servers do."""

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="probes", db_index=False)
    address = models.CharField(max_length=500, help_text="Without a password in it.")
    findings = models.JSONField(null=True, help_text="What the server is, and which options it honours.")
    problem = models.TextField(blank=True, help_text="Why it cannot be used.")
    probed_at = models.DateTimeField()

    class Meta:
        ordering = ["address"]
        constraints = [models.UniqueConstraint(fields=["judge", "address"], name="one_probe_per_judge_and_server")]

    def __str__(self) -> str:
        return f"{self.judge} at {self.address}"
