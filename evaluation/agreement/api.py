"""How far people agree, and judges with them."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from collection.web.api import CRITERION, criterion_of, figures_of, shows


@shows(
    "studies_agreement",
    "Agreement between a study's assessors: coefficients with 95 % intervals, or why there is none.",
    CRITERION,
)
def agreement(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    found = figures_of(request, "evaluation.computations:agreement", criterion.study, criterion=criterion.pk)
    written = {"written_answers": found.written.as_dict()} if found.written else {}
    return Response(found.agreement.as_dict() | written)


@shows(
    "studies_comparison",
    "All figures of the agreement page: assessors with one another, and with each judge.",
    CRITERION,
)
def comparison(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    return Response(
        figures_of(request, "evaluation.computations:agreement", criterion.study, criterion=criterion.pk).as_dict()
    )


@shows(
    "studies_agreement_details",
    "Agreement by topic, topic attribute, wave, guideline version, grade and assessor; disputed items.",
    CRITERION,
)
def agreement_details(request: Request, name: str) -> Response:
    criterion = criterion_of(request, name)
    return Response(
        figures_of(request, "evaluation.computations:breakdowns", criterion.study, criterion=criterion.pk).as_dict()
    )
