"""Judges examined one by one, and all of them side by side."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from collection.models import Study
from evaluation.data.population import JudgeNotFound
from evaluation.parameters.api import chosen_by, criterion_of, figures_of, refused_as_bad_request, user_of
from evaluation.trust.comparison import JudgeNotCompared
from evaluation.trust.overview import kept_trust_in_judges
from evaluation.trust.overview_rows import SORTS
from evaluation.trust.page import RollUpNotFound
from stats.judges.alt_test import EPSILONS
from stats.judges.text_level import RULES


class TrustChoice(serializers.Serializer[Any]):
    """Which judge is examined, whom it would stand in for, and how its grades of a text become one."""

    criterion = serializers.CharField()
    judge = serializers.CharField(required=False, help_text="Default: the first by name.")
    people = serializers.ChoiceField(choices=list(EPSILONS), default="skilled")
    part = serializers.ChoiceField(
        choices=["development", "test"], default="development", help_text="If the study is split."
    )
    rule = serializers.ChoiceField(choices=list(RULES), default="highest", help_text="At text level.")
    against = serializers.CharField(
        default="",
        help_text="Which text-level comparison: the judge’s and the human criterion, each as study.criterion.",
    )


@extend_schema(
    operation_id="studies_trust",
    description=(
        "A judge’s threshold chosen on one half, human ceiling, alternative-annotator test and bias audits; if it "
        "graded texts’ elements and assessors the texts, `rolled_up` compares them."
    ),
    parameters=[TrustChoice],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def trust(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    chosen = chosen_by(request, TrustChoice)
    with refused_as_bad_request(RollUpNotFound):
        found = figures_of(
            request,
            "examination",
            criterion.study,
            criterion=criterion.pk,
            judge=chosen.get("judge"),
            people_are=chosen["people"],
            on_test=chosen["part"] == "test",
            against=chosen["against"],
            rule=chosen["rule"],
        )
        if not found.name:
            raise JudgeNotFound("No judge can be compared with humans under this criterion yet.")
    return Response(found.as_dict())


class JudgesChoice(serializers.Serializer[Any]):
    """In which order judges are listed."""

    sort = serializers.ChoiceField(
        choices=[*SORTS, *(f"-{name}" for name in SORTS)],
        required=False,
        help_text="Largest first; with a minus, smallest first. Default: by study, criterion and judge.",
    )


@extend_schema(
    operation_id="trust_in_judges",
    description="Every judge compared with humans, in all studies of the user.",
    parameters=[JudgesChoice],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def trust_in_judges(request: Request) -> Response:
    user = user_of(request)
    if not user.is_researcher:
        raise NotFound("Only researchers have studies.")
    chosen = chosen_by(request, JudgesChoice)
    return Response(kept_trust_in_judges(Study.objects.of(user), sort=chosen.get("sort", "")).as_dict())


class JudgeComparisonChoice(serializers.Serializer[Any]):
    """Under which criterion judges are compared, and to which of them differences are."""

    criterion = serializers.CharField()
    against = serializers.CharField(default="", help_text="Reference judge, by name; default: the best.")


@extend_schema(
    operation_id="studies_judge_comparison",
    description=(
        "All judges of a criterion on the same items: the best by κ, corrected for the choice, and differences with "
        "simultaneous 95 % intervals; on the development topics if the study is split."
    ),
    parameters=[JudgeComparisonChoice],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def judge_comparison(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    chosen = chosen_by(request, JudgeComparisonChoice)
    with refused_as_bad_request(JudgeNotCompared):
        found = figures_of(
            request, "judge_comparison", criterion.study, criterion=criterion.pk, against=chosen["against"]
        )
    return Response(found.as_dict())
