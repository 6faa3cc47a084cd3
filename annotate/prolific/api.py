"""The part of /api/v1/ by which a researcher asks Prolific for something: a preview first, then the same."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.timezone import now
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotate.models import CrowdEntry
from annotate.prolific.plans import MOST_AT_ONCE, MOST_PLACES, Kind, NotAsPlanned, plan_of
from annotate.prolific.requests import NotDone, carry_out
from annotate.prolific.tokens import NoToken
from annotate.prolific.unattended import leave_alone, look_after
from collection.api_tools import WholeField, checked, conflict_on, study_to_set_up, user_of


class SiteRequestSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(Kind.choices)
    places = WholeField(min_value=1, max_value=MOST_PLACES, required=False, help_text="In all; for the kind places.")
    chosen = serializers.ListField(
        child=serializers.CharField(max_length=150),
        max_length=MOST_AT_ONCE,
        required=False,
        help_text="For the kind approvals: the pseudonyms to approve, of those shown. Without it those without a flag.",
    )
    digest = serializers.CharField(
        max_length=64, required=False, help_text="Of the preview. Without one nothing is sent: this is the preview."
    )


class SitePlanSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    what = serializers.CharField()
    refusal = serializers.CharField(help_text="Why there is nothing to ask for; empty if there is.")
    cost = serializers.DecimalField(max_digits=12, decimal_places=2, allow_null=True, help_text="Without fees.")
    currency = serializers.CharField()
    people = serializers.DictField(child=serializers.CharField(), help_text="By pseudonym, what they are paid.")
    flags = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="For the kind approvals, by pseudonym: why somebody is not approved unless you name them.",
    )
    digest = serializers.CharField()
    done = serializers.CharField(help_text="What was done; empty for a preview.")
    problems = serializers.ListField(child=serializers.CharField())


class ProlificRequest(APIView):
    """Preview a request to Prolific with its cost; sent again with the preview's digest, it is carried out."""

    @extend_schema(request=SiteRequestSerializer, responses=SitePlanSerializer)
    def post(self, request: Request, name: str) -> Response:
        entry = _entry_of(request, name)
        sent = checked(SiteRequestSerializer(data=request.data))
        options = {"places": sent.get("places"), "url": request.build_absolute_uri(f"/p/{entry.token}/")}
        plan = plan_of(entry, sent["kind"], by=user_of(request), **options)
        done, problems = "", []
        if "digest" in sent:
            with conflict_on(NoToken, NotAsPlanned, NotDone):
                outcome = carry_out(
                    entry=entry,
                    kind=sent["kind"],
                    digest=sent["digest"],
                    by=user_of(request),
                    at=now(),
                    chosen=plan.of_people(sent["chosen"]) if "chosen" in sent else None,
                    **options,
                )
                done, problems = outcome.said, outcome.problems
        people: dict[str, Decimal] = defaultdict(Decimal)
        flags: dict[str, list[str]] = defaultdict(list)
        for pk, session in plan.sessions.items():
            people[str(session.participant)] += plan.amounts[pk]
            for flag in plan.flags.get(pk, ()):
                flags[str(session.participant)].append(f"{flag.title}: {flag.evidence}")
        answer = {"currency": entry.currency, "people": people, "flags": flags, "done": done, "problems": problems}
        answer |= {name: getattr(plan, name) for name in ("kind", "what", "refusal", "cost", "digest")}
        return Response(SitePlanSerializer(answer).data)


class UnattendedSerializer(serializers.Serializer[Any]):
    by = serializers.CharField(source="unattended_by.username", default=None, help_text="Whose token is used.")
    looked_at = serializers.DateTimeField(allow_null=True)
    look_failed = serializers.CharField(help_text="Why the last look failed; empty if it did not.")


class ProlificUnattended(APIView):
    """Statuses are read and returns asked for twice an hour without a click, under the token of whoever wants it."""

    @extend_schema(responses=UnattendedSerializer)
    def get(self, request: Request, name: str) -> Response:
        return Response(UnattendedSerializer(_entry_of(request, name)).data)

    @extend_schema(request=None, responses=UnattendedSerializer)
    def put(self, request: Request, name: str) -> Response:
        with conflict_on(NoToken):
            look_after(entry=_entry_of(request, name), by=user_of(request))
        return self.get(request, name)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        leave_alone(entry=_entry_of(request, name))
        return Response(status=204)


def _entry_of(request: Request, name: str) -> CrowdEntry:
    entries = study_to_set_up(request, name).crowd_entries.select_related("study", "unattended_by")
    return get_object_or_404(entries, site=CrowdEntry.Site.PROLIFIC)


prolific_api_urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/crowd/prolific/", ProlificRequest.as_view(), name="prolific_request"),
    path("studies/<slug:name>/crowd/prolific/unattended/", ProlificUnattended.as_view(), name="prolific_unattended"),
]
