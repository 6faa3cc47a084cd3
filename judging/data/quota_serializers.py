"""What the API tells of a researcher’s tokens."""

from __future__ import annotations

from typing import Any

from django.utils.timezone import now
from rest_framework import serializers

from collection.api_tools import WholeField
from collection.models import User
from judging.engines.token_quotas import quota_of
from judging.models import Judge


class QuotaSerializer(serializers.Serializer[Any]):
    """A researcher's tokens of this month on the site's model servers."""

    researcher = serializers.CharField(source="researcher.username")
    limit = WholeField()
    used = WholeField()
    left = WholeField()
    begins = serializers.DateTimeField()
    begins_anew = serializers.DateTimeField()


def quota_in(context: Any, judge: Judge, researcher: User | None) -> dict[str, Any] | None:
    """Return the quota that the judge uses for this researcher, summed once for all rows of an answer."""
    if judge.engine != Judge.Engine.OPENAI or researcher is None:
        return None
    quotas = context.setdefault("quotas", {})
    if researcher.pk not in quotas:
        quota = quota_of(researcher, at=now())
        quotas[researcher.pk] = QuotaSerializer(quota).data if quota else None
    found: dict[str, Any] | None = quotas[researcher.pk]
    return found
