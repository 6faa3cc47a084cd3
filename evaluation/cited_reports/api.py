"""Cited reports and their runs, by one source's judgments."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import study_of
from collection.web.api import chosen_by, figures_of, shows
from evaluation.cited_reports.serializers import CitedReportsChoice


@shows(
    "studies_reports",
    "Cited reports by the support of their citations, and ARGUE’s figures of each run, micro and macro.",
    CitedReportsChoice,
)
def reports(request: Request, name: str) -> Response:
    found = figures_of(
        request,
        "evaluation.computations:cited_reports",
        study_of(request, name),
        **chosen_by(request, CitedReportsChoice),
    )
    return Response(found.as_dict())
