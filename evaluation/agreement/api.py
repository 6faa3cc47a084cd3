"""How far people agree, and judges with them."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.parameters.api import CRITERION, criterion_of, figures_of


@extend_schema(
    operation_id="studies_agreement",
    description="Agreement between a study's assessors: coefficients with 95 % intervals, or why there is none.",
    parameters=[CRITERION],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def agreement(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    found = figures_of(request, "agreement", criterion.study, criterion=criterion.pk)
    written = {"written_answers": found.written.as_dict()} if found.written else {}
    return Response(found.agreement.as_dict() | written)


@extend_schema(
    operation_id="studies_comparison",
    description="All figures of the agreement page: assessors with one another, and with each judge.",
    parameters=[CRITERION],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def comparison(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    return Response(figures_of(request, "agreement", criterion.study, criterion=criterion.pk).as_dict())


@extend_schema(
    operation_id="studies_agreement_details",
    description="Agreement by topic, topic attribute, wave, guideline version, grade and assessor; disputed items.",
    parameters=[CRITERION],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def agreement_details(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    return Response(figures_of(request, "breakdowns", criterion.study, criterion=criterion.pk).as_dict())
