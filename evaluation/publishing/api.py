"""Qrels and bundles."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import NumberField, WholeField
from evaluation.parameters.api import chosen_by, criterion_of, figures_of, refused_as_bad_request, study_of
from evaluation.publishing.views import bundle_file
from stats.qrels import COMBINES, Rule
from stats.votes import TIES


class QrelsChoice(serializers.Serializer[Any]):
    """Which judgments become qrels, and how."""

    criterion = serializers.CharField()
    rater = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="Names; all assessors if empty."
    )
    with_simulated = serializers.BooleanField(default=False, help_text="Whether all assessors include simulated ones.")
    combine = serializers.ChoiceField(choices=list(COMBINES), default=Rule.combine)
    ties = serializers.ChoiceField(choices=list(TIES), default=Rule.ties, help_text="undecided: left out.")
    fewest_raters = WholeField(
        default=Rule.fewest_raters, min_value=1, help_text="Items with fewer grades are left out."
    )
    binary_at = NumberField(required=False, help_text="1 from this grade up, else 0 (default: the grades).")
    per_element = serializers.BooleanField(default=Rule.per_element)
    adjudicated = serializers.BooleanField(default=Rule.adjudicated, help_text="Use adjudicated grades instead.")
    holes_at = WholeField(required=False, min_value=1, max_value=1_000, help_text="k of judged@k.")
    names = serializers.BooleanField(default=False, help_text="Assessors' names instead of numbers.")


@extend_schema(
    operation_id="studies_qrels",
    description="A study's judgments as the text of a qrels file, with its provenance.",
    parameters=[QrelsChoice],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def qrels(request: Request, name: str) -> Response:
    chosen = chosen_by(request, QrelsChoice)
    with refused_as_bad_request():
        criterion = criterion_of(request, name)
        compiled = figures_of(
            request,
            "qrels",
            criterion.study,
            criterion=criterion.pk,
            raters=chosen["rater"],
            with_simulated=chosen["with_simulated"],
            rule=asdict(Rule.chosen_by(chosen)),
            names=chosen["names"],
            holes_at=chosen.get("holes_at"),
            hashed=True,
        )
    unjudged = {found.run: [list(one) for one in found.unjudged] for found in compiled.holes}
    answer = {"qrels": compiled.text, "provenance": compiled.provenance}
    return Response(answer | ({"unjudged": unjudged} if "holes_at" in chosen else {}))


class BundleChoice(serializers.Serializer[Any]):
    """What is in a bundle."""

    names = serializers.BooleanField(default=False, help_text="Assessors' names instead of numbers.")
    with_simulated = serializers.BooleanField(default=False, help_text="Include simulated assessors in the qrels.")


@extend_schema(
    operation_id="studies_bundle",
    description="The audit bundle: a zip file from which a study's figures can be recomputed.",
    parameters=[BundleChoice],
    responses={(200, "application/zip"): OpenApiTypes.BINARY},
)
@api_view(["GET"])
def bundle(request: Request, name: str) -> HttpResponse:
    study = study_of(request, name)
    chosen = chosen_by(request, BundleChoice)
    return bundle_file(study, figures_of(request, "bundle", study, **chosen))
