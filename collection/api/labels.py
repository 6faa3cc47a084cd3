"""A study's labels as other tools and papers write them, out and in."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.utils.timezone import now
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from collection.api_tools import checked, invalid_on, study_of
from collection.exporting.labels import FORMS as LABEL_FORMS
from collection.exporting.labels import LabelsRefused, exported_labels, label_files, labels_file
from collection.exporting.scores import exported_scores, score_file
from collection.formats.problems import BrokenFile, InputFile
from collection.formats.scores.tools import LABELS, READ, SeveralCriteria
from collection.importing.datasets.scores import RATER_KINDS, import_scores
from collection.page_tools import download


class ScoreFile(serializers.Serializer[Any]):
    """Another tool's scores."""

    file = serializers.FileField()
    form = serializers.ChoiceField(
        choices=READ, default="", help_text="The tool whose form the file has; told from the file where left out."
    )
    criterion = serializers.CharField(
        default="", max_length=100, help_text="Instead of the file's; of Ragas's metrics, this one."
    )
    rater = serializers.CharField(default="", max_length=200, help_text="Of scores that do not say whose they are.")
    kind = serializers.ChoiceField(
        choices=list(RATER_KINDS),
        default="",
        help_text="Of raters of whom the file does not say it: usually human in AltTest's files, LLM in others.",
    )


class StudyScores(APIView):
    """A study's judgments as scores of another tool."""

    parser_classes = [MultiPartParser]

    @extend_schema(
        parameters=[
            OpenApiParameter("as", str, enum=list(LABELS), required=True),
            OpenApiParameter("criterion", str, description="Only this one."),
        ],
        responses={200: OpenApiTypes.BINARY},
    )
    def get(self, request: Request, name: str) -> HttpResponseBase:
        """Stream the file."""
        study = study_of(request, name)
        form = request.query_params.get("as", "")
        if form not in LABELS:
            raise serializers.ValidationError({"as": f"Choose one of {', '.join(LABELS)}."})
        with invalid_on(SeveralCriteria, field="criterion"):
            lines = exported_scores(study, form, criterion=request.query_params.get("criterion", ""))
        return download(lines, score_file(study, form))

    @extend_schema(request={"multipart/form-data": ScoreFile}, responses={200: OpenApiTypes.OBJECT})
    def post(self, request: Request, name: str) -> Response:
        """Import a file's scores as judgments of imported raters, all or nothing; the same again changes nothing."""
        study = study_of(request, name)
        sent = dict(checked(ScoreFile(data=request.data)))
        uploaded = sent.pop("file")
        with tempfile.TemporaryDirectory() as folder, invalid_on(BrokenFile, field="file"):
            scores = Path(folder) / "scores"
            with scores.open("wb") as kept:
                kept.writelines(uploaded.chunks())
            imported = import_scores(file=InputFile(scores, name=str(uploaded.name)), study=study, at=now(), **sent)
        return Response({"new": dict(imported.new), "known": dict(imported.known), "remarks": imported.remarks})


class StudyLabels(APIView):
    """A study's labels as a paper's tool writes them."""

    @extend_schema(
        parameters=[
            OpenApiParameter("as", str, enum=list(LABEL_FORMS), description="Without it, which files there are."),
            OpenApiParameter("rater", str, description="Whose labels, where several have some; people as numbered."),
            OpenApiParameter("criterion", str, description="Only this one; otherwise the first of its task type."),
        ],
        responses={200: OpenApiTypes.BINARY},
    )
    def get(self, request: Request, name: str) -> HttpResponseBase:
        """Stream the file, or say which files there are, whose, and what their readers must know."""
        study = study_of(request, name)
        form, rater, criterion = (request.query_params.get(one, "") for one in ("as", "rater", "criterion"))
        if not form:
            return Response([asdict(one) for one in label_files(study)])
        if form not in LABEL_FORMS:
            raise serializers.ValidationError({"as": f"Choose one of {', '.join(LABEL_FORMS)}."})
        with invalid_on(LabelsRefused, field="rater"):
            lines = exported_labels(study, form, rater=rater, criterion=criterion)
        return download(lines, labels_file(study, form))


labels_urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/labels/", StudyLabels.as_view(), name="labels"),
    path("studies/<slug:name>/scores/", StudyScores.as_view(), name="scores"),
]
