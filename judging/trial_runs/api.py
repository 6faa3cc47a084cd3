"""Trial runs and probes in the API: what was asked for, how it stands, and what came of it."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils.timezone import now
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from collection.api_tools import WholeField, user_of
from collection.web.api_access import Researches
from judging.engines.servers import places_of, serving
from judging.models import Errand
from judging.trial_runs.errands import errand_of, trials_of
from judging.trial_runs.serializers import ProbeSerializer, TrialSerializer

ASK_AGAIN_SECONDS = "1"


class ErrandSerializer(serializers.Serializer[Any]):
    """A trial run (`trial`) or a server probe (`probe`) that a worker does. Poll while it is *at work*."""

    id = WholeField(source="pk")
    kind = serializers.ChoiceField(choices=Errand.Kind.choices)
    judge = serializers.CharField(source="judge.name")
    state = serializers.ChoiceField(choices=Errand.State.choices)
    begun = serializers.SerializerMethodField(help_text="Whether a worker has started.")
    error = serializers.CharField(help_text="Why it failed, or why it is still waiting.")
    ask_again = serializers.SerializerMethodField(help_text="The address of this errand.")
    trials = serializers.SerializerMethodField(help_text="Of a trial run that is done; else null.")
    probes = serializers.SerializerMethodField(help_text="Of a probe that is done; else null.")

    def get_begun(self, errand: Errand) -> bool:
        return errand.begun_at is not None

    def get_ask_again(self, errand: Errand) -> str:
        return reverse("api:errand", args=[errand.pk])

    @extend_schema(responses=TrialSerializer(many=True))
    def get_trials(self, errand: Errand) -> list[dict[str, Any]] | None:
        if (errand.kind, errand.state) != (Errand.Kind.TRIAL, Errand.State.DONE):
            return None
        return list(TrialSerializer(trials_of(errand), many=True).data)

    @extend_schema(responses=ProbeSerializer(many=True))
    def get_probes(self, errand: Errand) -> list[dict[str, Any]] | None:
        if (errand.kind, errand.state) != (Errand.Kind.PROBE, Errand.State.DONE):
            return None
        asked = set(places_of(serving(errand.judge.model, errand.user)))
        probes = [probe for probe in errand.judge.probes.all() if probe.place in asked]
        return list(ProbeSerializer(probes, many=True).data)


class ErrandView(APIView):
    """A trial run or probe of yours; it is kept for a day."""

    permission_classes = [Researches]

    @extend_schema(responses={200: ErrandSerializer, 202: ErrandSerializer})
    def get(self, request: Request, pk: int) -> Response:
        """Return its state and result: 202 while a worker is at it."""
        errand = errand_of(user_of(request), pk, at=now())
        if errand is None:
            raise Http404
        return told(errand, status.HTTP_202_ACCEPTED if errand.is_at_work else status.HTTP_200_OK)


def told(errand: Errand, status_code: int = status.HTTP_202_ACCEPTED) -> Response:
    """Return the errand, with the address to ask again."""
    response = Response(ErrandSerializer(errand).data, status=status_code)
    response["Location"] = reverse("api:errand", args=[errand.pk])
    if errand.is_at_work:
        response["Retry-After"] = ASK_AGAIN_SECONDS
    return response
