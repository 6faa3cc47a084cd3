"""Collections that were offered to another researcher, who did not answer yet."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models

from collection.models.texts import Collection

# An offer that nobody took ends: a name that is nobody's today may be somebody's in a year.
LASTS = timedelta(days=30)


class CollectionInvitationQuerySet(models.QuerySet["CollectionInvitation"]):
    def pending(self, *, at: datetime) -> CollectionInvitationQuerySet:
        """As the collection's researchers see it: what was declined is among it, for declining is not told."""
        return self.filter(invited_at__gt=at - LASTS)

    def to(self, user: Any, *, at: datetime) -> CollectionInvitationQuerySet:
        """What this researcher may accept or decline."""
        if not getattr(user, "is_researcher", False):
            return self.none()
        return self.pending(at=at).filter(username=user.username, declined_at=None)


class CollectionInvitation(models.Model):
    """A collection offered to whoever has this username. Whether anybody has it is not looked up."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="invitations")
    username = models.CharField(max_length=150)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    invited_at = models.DateTimeField()
    declined_at = models.DateTimeField(null=True)

    objects = CollectionInvitationQuerySet.as_manager()

    class Meta:
        ordering = ["invited_at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "username"], name="one_invitation_of_a_name_to_a_collection")
        ]
        indexes = [models.Index(fields=["username"], name="invitations_of_a_name")]

    def __str__(self) -> str:
        return f"{self.collection} for {self.username}"

    @property
    def ends_at(self) -> datetime:
        return self.invited_at + LASTS
