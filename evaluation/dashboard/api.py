"""The figures of a study's first screen."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import study_of
from collection.web.api import figures_of, shows


@shows(
    "studies_dashboard",
    "Who judged how much of a study, how far people agree, and judges beside them, with 95 % intervals.",
)
def dashboard(request: Request, name: str) -> Response:
    return Response(
        figures_of(request, "evaluation.dashboard.figures:measure_dashboard", study_of(request, name)).as_dict()
    )
