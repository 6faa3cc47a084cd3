"""Masking rubric elements that nothing fulfils by a source's grades, and which passages are redundant."""

from __future__ import annotations

from typing import Any

from django.utils.timezone import now
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.parameters.api import chosen_by, figures_of, refused_as_bad_request, study_of, user_of


class MaskingChoice(serializers.Serializer[Any]):
    """Whose grades decide."""

    criterion = serializers.CharField(
        required=False, default="", help_text="Default: the first criterion with grades of passages."
    )
    source = serializers.CharField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        required=False, default="", help_text="people, or a judge; default: the first source."
    )
    run = serializers.CharField(
        required=False, default="", help_text="Run whose passages count; default: all judged passages."
    )


class MaskingSent(MaskingChoice):
    """The same, with the reason."""

    reason = serializers.CharField(required=False, default="", max_length=500, help_text="Default: the rule.")


@extend_schema(
    operation_id="studies_masking",
    methods=["GET"],
    description="Sub-questions that no passage answers, or key points that were not confirmed, by a source's grades.",
    parameters=[MaskingChoice],
    responses=OpenApiTypes.OBJECT,
)
@extend_schema(
    operation_id="studies_masking_apply",
    methods=["POST"],
    description="Mask unfulfilled elements. Undo this with the collection's maskings.",
    request=MaskingSent,
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET", "POST"])
def masking(request: Request, name: str) -> Response:
    # They take pandas, which a web process that serves assessors does without.
    from evaluation.computing.kept import kept_here
    from evaluation.rubrics.masking import mask_unfulfilled
    from stats.ranking.measure_names import NoLeaderboard

    study = study_of(request, name)
    chosen = chosen_by(request, MaskingSent if request.method == "POST" else MaskingChoice)
    asked = {name: chosen[name] for name in ("source", "criterion", "run")}
    with refused_as_bad_request(NoLeaderboard):
        if request.method == "GET":
            return Response(figures_of(request, "masking", study, **asked).as_dict())
        found = kept_here("masking", study, **asked)
    n = mask_unfulfilled(found, reason=chosen["reason"], by=user_of(request), at=now())
    return Response(found.as_dict() | {"masked": n})


class RedundancyChoice(serializers.Serializer[Any]):
    """Whose ratings class the passages, by which rule, and of which run."""

    source = serializers.CharField(  # type: ignore[assignment]  # a parameter's name, and DRF's own
        default="", help_text="people, or a judge; default: the first source."
    )
    order = serializers.ChoiceField(
        choices=["gain", "count"],
        default="gain",
        help_text="How required passages are chosen: by new answers, recounted after each passage, or ranked once.",
    )
    run = serializers.CharField(default="", help_text="Only the passages that this run ranks.")


@extend_schema(
    operation_id="studies_redundancy",
    description="Required and redundant passages of each topic, as in CRUX, and as qrels of 3, 2 and 1.",
    parameters=[RedundancyChoice],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def redundancy(request: Request, name: str) -> Response:
    from stats.ranking.measure_names import NoLeaderboard

    study = study_of(request, name)
    chosen = chosen_by(request, RedundancyChoice)
    with refused_as_bad_request(NoLeaderboard):
        found = figures_of(request, "redundancy", study, **chosen)
    return Response({**found.as_dict(), "qrels": found.qrels})
