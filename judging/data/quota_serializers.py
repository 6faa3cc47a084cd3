"""What the API tells of a researcher’s tokens."""

from __future__ import annotations

from typing import Any

from django.utils.timezone import now
from rest_framework import serializers

from collection.api_tools import WholeField
from collection.models import User
from judging.engines.servers import serving, usable_by
from judging.engines.token_quotas import quota_of
from judging.models import Judge


class QuotaSerializer(serializers.Serializer[Any]):
    """A researcher's tokens of this month on the site's model servers, or on their own."""

    researcher = serializers.CharField(source="researcher.username")
    limit = WholeField()
    used = WholeField()
    left = WholeField()
    begins = serializers.DateTimeField()
    begins_anew = serializers.DateTimeField()
    own = serializers.BooleanField(help_text="On the researcher’s own servers.")


def quota_in(context: Any, judge: Judge, researcher: User | None, *, own: bool | None = None) -> dict[str, Any] | None:
    """Return the quota that the judge uses for this researcher, summed once for all rows of an answer."""
    if judge.engine != Judge.Engine.OPENAI or researcher is None:
        return None
    quotas, servers = context.setdefault("quotas", {}), context.setdefault("servers", {})
    if own is None:
        if researcher.pk not in servers:
            servers[researcher.pk] = usable_by(researcher)
        own = any(one.owner_id for one in serving(judge.model, researcher, usable=servers[researcher.pk]))
    if (researcher.pk, own) not in quotas:
        quota = quota_of(researcher, at=now(), own=own)
        quotas[researcher.pk, own] = QuotaSerializer(quota).data if quota else None
    found: dict[str, Any] | None = quotas[researcher.pk, own]
    return found
