"""What files say of systems, and leaderboards as evaluation files."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import parser_classes
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import checked, study_of
from collection.web.api import answers, chosen_by, shows
from collection.web.downloads import as_file
from collection.web.reports import reports
from evaluation.leaderboards.forms import MOST_MB
from evaluation.leaderboards.serializers import (
    CorrelateChoice,
    EvaluationChoice,
    PostedRunChoice,
)


@shows(
    "studies_leaderboard_evaluation",
    "The leaderboard as evaluation files: one file, or a zip of one for each source of judgments.",
    EvaluationChoice,
    responses=OpenApiTypes.BINARY,
)
def leaderboard_evaluation(request: Request, name: str) -> HttpResponse:
    from evaluation.leaderboards.evaluation_files.values import evaluation_download

    study = study_of(request, name)
    chosen = chosen_by(request, EvaluationChoice)
    form = chosen.pop("form")
    board = reports()["leaderboard"].result(study, chosen, shown=request.query_params.getlist("shown"))
    filename, content = evaluation_download(board, form=form)
    return as_file(content, filename.replace("/", "-"), "application/octet-stream")


class CorrelatedFiles(CorrelateChoice):
    """Evaluation files, in the order in which they are sent, and what they are held against."""

    file = serializers.ListField(child=serializers.FileField(), allow_empty=False, max_length=50)


@extend_schema(
    operation_id="studies_correlate",
    description="How far evaluation files rank runs as a leaderboard of the study, or the first file, does.",
    request={"multipart/form-data": CorrelatedFiles},
    responses=OpenApiTypes.OBJECT,
)
@answers("POST")
@parser_classes([MultiPartParser])
def correlate(request: Request, name: str) -> Response:
    from evaluation.leaderboards.evaluation_files.values import answer_of
    from evaluation.leaderboards.evaluation_files.views import correlated

    study = study_of(request, name)
    sent = dict(checked(CorrelatedFiles(data=request.data)))
    files = sent.pop("file")
    if sum(file.size for file in files) > MOST_MB * 1024**2:
        raise ValidationError({"file": [f"Files of more than {MOST_MB} MB are for the command correlate."]})
    found = correlated(study, files, sent)
    return Response({"answer": answer_of(found), "comparisons": [one.as_dict() for one in found]})


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
