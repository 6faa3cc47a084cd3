"""Qrels and bundles."""

from __future__ import annotations

from typing import Any

from django.http import FileResponse
from django.utils.timezone import now
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.asked import chosen_by, criterion_of, refused_as_bad_request, study_of
from evaluation.qrels import COMBINES, TIES, Rule
from evaluation.services.qrels import compile_qrels
from evaluation.views.publish import bundle_file


class QrelsChoice(serializers.Serializer[Any]):
    """Which judgments become qrels, and how."""

    criterion = serializers.CharField()
    rater = serializers.ListField(child=serializers.CharField(), default=list, help_text="Names; all people if empty.")
    with_simulated = serializers.BooleanField(default=False, help_text="Simulated assessors count among all people.")
    combine = serializers.ChoiceField(choices=list(COMBINES), default="majority")
    ties = serializers.ChoiceField(choices=list(TIES), default="lower", help_text="undecided: left out.")
    fewest_raters = serializers.IntegerField(default=1, min_value=1, help_text="Items with fewer grades are left out.")
    binary_at = serializers.FloatField(required=False, help_text="1 from this grade up, else 0; grades if left out.")
    per_element = serializers.BooleanField(default=False)
    adjudicated = serializers.BooleanField(default=False, help_text="What a third person decided counts instead.")
    holes_at = serializers.IntegerField(required=False, min_value=1, max_value=1_000, help_text="k of judged@k.")
    names = serializers.BooleanField(default=False, help_text="People by their names, not by numbers.")


@extend_schema(
    operation_id="studies_qrels",
    description="A study's judgments as the text of a qrels file, with its provenance.",
    parameters=[QrelsChoice],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def qrels(request: Request, name: str) -> Response:
    chosen = chosen_by(request, QrelsChoice)
    rule = Rule(
        combine=chosen["combine"],
        ties=chosen["ties"],
        fewest_raters=chosen["fewest_raters"],
        binary_at=chosen.get("binary_at"),
        per_element=chosen["per_element"],
        adjudicated=chosen["adjudicated"],
    )
    with refused_as_bad_request():
        compiled = compile_qrels(
            criterion_of(request, name),
            raters=chosen["rater"],
            with_simulated=chosen["with_simulated"],
            rule=rule,
            names=chosen["names"],
            holes_at=chosen.get("holes_at"),
            at=now(),
        )
    unjudged = {found.run: [list(one) for one in found.unjudged] for found in compiled.holes}
    answer = {"qrels": compiled.text, "provenance": compiled.provenance}
    return Response(answer | ({"unjudged": unjudged} if "holes_at" in chosen else {}))


class BundleChoice(serializers.Serializer[Any]):
    """What is in a bundle."""

    names = serializers.BooleanField(default=False, help_text="People by their names, not by numbers.")
    with_simulated = serializers.BooleanField(default=False, help_text="Simulated assessors count in the qrels.")


@extend_schema(
    operation_id="studies_bundle",
    description="The audit bundle: a zip from which a study's figures can be computed again.",
    parameters=[BundleChoice],
    responses={(200, "application/zip"): OpenApiTypes.BINARY},
)
@api_view(["GET"])
def bundle(request: Request, name: str) -> FileResponse:
    study = study_of(request, name)
    chosen = chosen_by(request, BundleChoice)
    return bundle_file(study, **chosen)
