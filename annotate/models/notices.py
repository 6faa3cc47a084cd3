"""What assessors are told besides their tasks."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from collection.models import Study


class Notice(models.Model):
    """Something that happened in a person's study and that they should know: once for each kind, the last time counts.

    It is shown until it is dismissed. It was mailed if `mailed_at` is not before `made_at`.
    """

    class Kind(models.TextChoices):
        NEW_WORK = "new_work", _("There is new work for you.")
        REPLY = "reply", _("A researcher replied to your comment.")
        GUIDELINES = "guidelines", _("The guidelines were revised.")
        TASK_TAKEN = "task_taken", _("A task that was left alone for long was taken back. It may go to somebody else.")
        REMOVED = "removed", _("You no longer work in this study. What you submitted is kept.")
        CLOSED = "closed", _("The study is closed. Thank you!")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=10, choices=Kind)
    made_at = models.DateTimeField()
    dismissed_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-made_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["user", "study", "kind"], name="one_notice_of_a_kind")]

    def __str__(self) -> str:
        return f"{self.study}: {self.get_kind_display()}"
