"""Leaderboards as evaluation files, and the scores of a run that is posted."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from collection.accounts.views import SignedInRequest
from collection.api_tools import study_of
from collection.web.api import answers, chosen_by, shows
from collection.web.downloads import as_file
from collection.web.pages import refused_is_not_found
from collection.web.report_views import result_of
from collection.web.reports import reports
from evaluation.leaderboards.reports import LeaderboardReport
from evaluation.leaderboards.serializers import (
    WRITTEN_FORMS,
    EvaluationChoice,
    PostedRunChoice,
)


@require_safe
@login_required
def leaderboard_evaluation(request: SignedInRequest, name: str) -> HttpResponse:
    """The page's scores as an evaluation file for each source: `form` says in which of the exchanged forms."""
    from evaluation.leaderboards.evaluation_files.values import evaluation_download

    form = request.GET.get("form", "")
    if form not in dict(WRITTEN_FORMS):
        raise Http404("There is no such form.")
    with refused_is_not_found():
        filename, content = evaluation_download(result_of(LeaderboardReport, request, name), form=form)
    return as_file(content, filename.replace("/", "-"), "application/octet-stream")


@shows(
    "studies_leaderboard_evaluation",
    "The leaderboard as evaluation files: one file, or a zip of one for each source of judgments.",
    EvaluationChoice,
    responses=OpenApiTypes.BINARY,
)
def evaluation_in_api(request: Request, name: str) -> HttpResponse:
    from evaluation.leaderboards.evaluation_files.values import evaluation_download

    study = study_of(request, name)
    chosen = chosen_by(request, EvaluationChoice)
    form = chosen.pop("form")
    board = reports()["leaderboard"].result(study, chosen, shown=request.query_params.getlist("shown"))
    filename, content = evaluation_download(board, form=form)
    return as_file(content, filename.replace("/", "-"), "application/octet-stream")


@extend_schema(
    operation_id="studies_posted_run",
    description=(
        "A run’s scores by people, by judges, and by judges as people’s drawn labels correct them. The run is not kept."
    ),
    request=PostedRunChoice,
    responses=OpenApiTypes.OBJECT,
)
@answers("POST")
def posted_run(request: Request, name: str) -> Response:
    from evaluation.leaderboards.corrected.posted_run import score_posted_run

    return Response(score_posted_run(study_of(request, name), **chosen_by(request, PostedRunChoice)).as_dict())
