"""A study's judgments, read and written."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.utils.timezone import now
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api.pages import ById
from collection.api_tools import study_of, user_of
from collection.exporting.judgments import exported_judgments, exported_parquet
from collection.finished_files import file_response
from collection.judgments.recording import RowsRefused, record_judgments
from collection.models import Judgment, Study
from collection.page_tools import KINDS
from collection.serializers import (
    JudgmentSerializer,
    NewJudgmentSerializer,
    RowErrorsSerializer,
    WrittenSerializer,
    judgment_row,
)

MOST_ROWS = 2_000
FILTERS = {
    "criterion": "criterion__name",
    "rater": "rater__name",
    "rater_kind": "rater__kind",
    "item": "item__item_id",
}


class JudgmentLines(JSONRenderer):
    """Names the format in which all judgments come at once; what is wrong is said in JSON."""

    media_type = "application/x-ndjson"
    format = "ndjson"


class JudgmentTable(JSONRenderer):
    """The same in columns with types."""

    media_type = KINDS["parquet"]
    format = "parquet"


class JudgmentList(generics.ListAPIView[Judgment]):
    """A study's current judgments."""

    serializer_class = JudgmentSerializer
    renderer_classes = (JSONRenderer, JudgmentLines, JudgmentTable)
    pagination_class = ById
    queryset = Judgment.objects.none()

    @property
    def study(self) -> Study:
        return study_of(self.request, self.kwargs["name"])

    @property
    def chosen(self) -> dict[str, str]:
        asked = self.request.query_params
        return {lookup: asked[name] for name, lookup in FILTERS.items() if name in asked}

    def get_queryset(self) -> QuerySet[Judgment]:
        judgments = Judgment.objects.of_study(self.study).filter(**self.chosen).with_changed_pages()
        return judgments.select_related("item__topic", "criterion", "rater", "guideline").prefetch_related("highlights")

    @extend_schema(
        parameters=[
            OpenApiParameter("criterion", str, description="The name of a criterion."),
            OpenApiParameter("rater", str, description="The name of a rater."),
            OpenApiParameter("rater_kind", str, enum=["assessor", "judge"]),
            OpenApiParameter("item", str, description="The id of an item."),
        ]
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:  # type: ignore[override]
        """List a study's current judgments page by page, or all at once, in the order of its JSONL export.

        `ndjson` gives that export's lines, `parquet` the same in columns with types.
        """
        match request.accepted_renderer.format:
            case JudgmentLines.format:
                lines = exported_judgments(self.study, table="jsonl", chosen=self.chosen)
                return file_response(lines, content_type=JudgmentLines.media_type)
            case JudgmentTable.format:
                pieces = exported_parquet(self.study, chosen=self.chosen)
                return file_response(pieces, content_type=JudgmentTable.media_type)
        return super().get(request, *args, **kwargs)

    def handle_exception(self, exc: Exception) -> Response:
        """Say in JSON what is wrong, whatever was asked for."""
        self.request.accepted_renderer, self.request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
        return super().handle_exception(exc)

    @extend_schema(
        request=NewJudgmentSerializer(many=True), responses={200: WrittenSerializer, 400: RowErrorsSerializer}
    )
    def post(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Add judgments, all or none: yours, or those of imported raters named in the rows.

        Existing judgments that differ are moved to the history. At most 2,000 rows.
        """
        study = self.study
        sent: serializers.ListSerializer[Any] = serializers.ListSerializer(
            data=request.data, child=NewJudgmentSerializer(), max_length=MOST_ROWS, allow_empty=False
        )
        if not sent.is_valid():
            return Response({"rows": row_errors(sent.errors)}, status=status.HTTP_400_BAD_REQUEST)
        rows = [judgment_row(row) for row in sent.validated_data]

        try:
            judgments = record_judgments(study=study, rows=rows, by=user_of(request), at=now())
        except RowsRefused as refusal:
            errors = [{"row": number, "error": error} for number, error in refusal.errors.items()]
            return Response({"rows": errors}, status=status.HTTP_400_BAD_REQUEST)

        return Response({"judgments": len(judgments)})


def row_errors(errors: Any) -> list[dict[str, Any]]:
    """Return what a list serializer complains about, row by row. What is wrong with the whole has row None."""
    return [{"row": row if isinstance(row, int) else None, "error": _said(found)} for row, found in errors.items()]


def _said(found: Any) -> str:
    if isinstance(found, dict):
        return "; ".join(f"{name}: {_said(inner)}" for name, inner in found.items())
    return " ".join(map(str, found))


judgments_urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/judgments/", JudgmentList.as_view(), name="judgments"),
]
