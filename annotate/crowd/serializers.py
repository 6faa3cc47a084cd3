"""What the API tells of people from outside."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.models import CrowdEntry, CrowdSession
from collection.api_tools import WholeField


class CrowdSessionSerializer(serializers.ModelSerializer[CrowdSession]):
    """A session under its pseudonym. The site's ids are included only on request."""

    site = serializers.ChoiceField(CrowdEntry.Site.choices, source="entry.site")
    pseudonym = serializers.CharField(source="participant.user.username")
    session_id = serializers.CharField(required=False)
    crowd_id = serializers.CharField(source="participant.identity.crowd_id", default="", required=False)

    class Meta:
        model = CrowdSession
        fields = [
            "id", "site", "pseudonym", "cohort", "state", "ended_because", "site_status", "arrived_at", "finished_at",
            "bonus", "session_id", "crowd_id",
        ]  # fmt: skip

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        if not self.context.get("with_crowd_ids"):
            del fields["session_id"], fields["crowd_id"]
        return fields


class ReturnedSerializer(serializers.Serializer[Any]):
    """The returned session, by the site's id or by ours."""

    session_id = serializers.CharField(max_length=64, required=False)
    id = WholeField(min_value=1, max_value=2**63 - 1, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            raise serializers.ValidationError("Name the session by its session_id or by its id.")
        return attrs


class SessionStateSerializer(serializers.Serializer[Any]):
    state = serializers.CharField()
    changed = serializers.BooleanField(help_text="Whether this changed anything.")
