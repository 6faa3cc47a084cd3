"""This app's part of /api/v1/: the same services as its pages."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, URLResolver, path
from django.utils.timezone import now
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.exceptions import PermissionDenied
from rest_framework.pagination import CursorPagination
from rest_framework.parsers import MultiPartParser
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from collection.api_tools import checked, invalid_on, study_of, user_of
from collection.banks.api import banks_urlpatterns
from collection.collections.sharing_api import api_urlpatterns as sharing_urlpatterns
from collection.documents.api import documents_urlpatterns
from collection.exporting.exchanged import EXPORTS, exchanged_file
from collection.exporting.judgments import exported_judgments, exported_parquet
from collection.exporting.labels import FORMS as LABEL_FORMS
from collection.exporting.labels import LabelsRefused, exported_labels, label_files, labels_file
from collection.exporting.runs import NoSuchRun
from collection.exporting.scores import exported_scores, score_file
from collection.formats.problems import BrokenFile, InputFile
from collection.formats.scores.tools import LABELS, READ, SeveralCriteria
from collection.importing.api import files_urlpatterns
from collection.importing.background import requeue_stalled_uploads
from collection.importing.datasets.scores import RATER_KINDS, import_scores
from collection.importing.serializers import UploadSerializer
from collection.judgments.recording import RowsRefused, record_judgments
from collection.masking import NothingToAsk, mask_elements, unmask_elements
from collection.models import (
    Collection,
    Judgment,
    Masking,
    Passage,
    RankedPassage,
    Report,
    RubricElement,
    Run,
    Study,
    Topic,
    Upload,
)
from collection.page_tools import KINDS, download
from collection.retrieval.api import retrieval_urlpatterns
from collection.serializers import (
    CollectionSerializer,
    JudgmentSerializer,
    MaskedSerializer,
    MaskingSerializer,
    NewJudgmentSerializer,
    NewMaskingSerializer,
    PassageSerializer,
    RankedPassageSerializer,
    ReportSerializer,
    RowErrorsSerializer,
    RunSerializer,
    TopicSerializer,
    WrittenSerializer,
    judgment_row,
)
from collection.texts.sentence_views import ReportSentences

MOST_ROWS = 2_000
Row = TypeVar("Row", bound=Model)


class ById(CursorPagination):
    """Pages in the order of creation; `page_size` sets their size."""

    ordering = "id"
    page_size_query_param = "page_size"
    max_page_size = 1_000


class CollectionList(generics.ListCreateAPIView[Collection]):
    """The collections that you created or were invited to."""

    serializer_class = CollectionSerializer
    pagination_class = ById
    queryset = Collection.objects.none()

    def get_queryset(self) -> QuerySet[Collection]:
        return Collection.objects.of(user_of(self.request)).select_related("owner")

    def perform_create(self, serializer: serializers.BaseSerializer[Collection]) -> None:
        user = user_of(self.request)
        if not user.is_researcher:
            raise PermissionDenied("Only researchers can create collections.")
        serializer.save(owner=user)


class CollectionDetail(generics.RetrieveAPIView[Collection]):
    """One collection."""

    serializer_class = CollectionSerializer
    lookup_field = "name"
    queryset = Collection.objects.none()

    def get_queryset(self) -> QuerySet[Collection]:
        return Collection.objects.of(user_of(self.request)).select_related("owner")


class InCollection(generics.ListAPIView[Row]):
    """What belongs to one collection."""

    pagination_class = ById

    @property
    def collection(self) -> Collection:
        return get_object_or_404(Collection.objects.of(user_of(self.request)), name=self.kwargs["name"])


class TopicList(InCollection[Topic]):
    """A collection's topics with their rubric elements."""

    serializer_class = TopicSerializer
    queryset = Topic.objects.none()

    def get_queryset(self) -> QuerySet[Topic]:
        return Topic.objects.filter(collection=self.collection).prefetch_related("rubric_elements")


class PassageList(InCollection[Passage]):
    """A collection's passages."""

    serializer_class = PassageSerializer
    queryset = Passage.objects.none()

    def get_queryset(self) -> QuerySet[Passage]:
        return Passage.objects.filter(collection=self.collection)


class RunList(InCollection[Run]):
    """A collection's runs with their systems."""

    serializer_class = RunSerializer
    queryset = Run.objects.none()

    def get_queryset(self) -> QuerySet[Run]:
        return Run.objects.filter(collection=self.collection).select_related("system")


class ReportList(InCollection[Report]):
    """A collection's reports."""

    serializer_class = ReportSerializer
    queryset = Report.objects.none()

    def get_queryset(self) -> QuerySet[Report]:
        return Report.objects.filter(run__collection=self.collection).select_related("run", "topic")


class RankingList(InCollection[RankedPassage]):
    """A collection's rankings, passage by passage."""

    serializer_class = RankedPassageSerializer
    queryset = RankedPassage.objects.none()

    def get_queryset(self) -> QuerySet[RankedPassage]:
        return RankedPassage.objects.filter(run__collection=self.collection).select_related("run", "topic")


class CollectionTexts(APIView):
    """A collection's topics, passages or rankings as the field exchanges them."""

    @extend_schema(
        parameters=[
            OpenApiParameter("as", str, enum=list(EXPORTS), required=True),
            OpenApiParameter("run", str, description="Of a pool or a run file, where the collection has several runs."),
        ],
        responses={200: OpenApiTypes.BINARY},
    )
    def get(self, request: Request, name: str) -> HttpResponseBase:
        """Stream one file: requests, narratives, segments, a candidate pool, TREC runs, or cited reports."""
        collection = get_object_or_404(Collection.objects.of(user_of(request)), name=name)
        asked = request.query_params
        export = EXPORTS.get(asked.get("as", ""))
        if export is None:
            raise serializers.ValidationError({"as": f"Choose one of {', '.join(EXPORTS)}."})
        with invalid_on(NoSuchRun, field="run"):
            lines = export(collection, asked.get("run", ""))
        return download(lines, exchanged_file(collection, asked["as"]))


class MaskingList(InCollection[Masking]):
    """Decisions since the import to mask or unmask a collection's rubric elements."""

    serializer_class = MaskingSerializer
    queryset = Masking.objects.none()

    def get_queryset(self) -> QuerySet[Masking]:
        maskings = Masking.objects.filter(element__topic__collection=self.collection)
        return maskings.select_related("element__topic", "decided_by")

    @extend_schema(request=NewMaskingSerializer, responses={200: MaskedSerializer})
    def post(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Mask or unmask elements, all or none. Judgments about them are kept."""
        chosen = checked(NewMaskingSerializer(data=request.data))
        stored = RubricElement.objects.filter(topic__collection=self.collection, topic__topic_id=chosen["topic_id"])
        elements = list(stored.filter(kind=chosen["kind"], element_id__in=chosen["element_ids"]))
        if missing := set(chosen["element_ids"]) - {element.element_id for element in elements}:
            raise serializers.ValidationError({"element_ids": f"The topic has no {', '.join(sorted(missing))}."})
        decide = mask_elements if chosen["masked"] else unmask_elements
        with invalid_on(NothingToAsk, field="element_ids"):
            changed = decide(elements=elements, reason=chosen["reason"], by=user_of(request), at=now())
        return Response({"changed": changed})


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
        judgments = Judgment.objects.of_study(self.study).filter(**self.chosen)
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
                return StreamingHttpResponse(lines, content_type=JudgmentLines.media_type)
            case JudgmentTable.format:
                pieces = exported_parquet(self.study, chosen=self.chosen)
                return StreamingHttpResponse(pieces, content_type=JudgmentTable.media_type)
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
            path = Path(folder) / "scores"
            with path.open("wb") as kept:
                kept.writelines(uploaded.chunks())
            imported = import_scores(file=InputFile(path, name=str(uploaded.name)), study=study, at=now(), **sent)
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


class UploadDetail(generics.RetrieveAPIView[Upload]):
    """The state of your uploaded file, which a worker checks or imports. It is removed after a day."""

    serializer_class = UploadSerializer
    queryset = Upload.objects.none()

    def get_queryset(self) -> QuerySet[Upload]:
        user = user_of(self.request)
        theirs = Upload.objects.filter(user=user, collection__in=Collection.objects.of(user))
        requeue_stalled_uploads(at=now(), among=theirs.at_work().filter(pk=self.kwargs["pk"]))
        return theirs


FILTERS = {
    "criterion": "criterion__name",
    "rater": "rater__name",
    "rater_kind": "rater__kind",
    "item": "item__item_id",
}


def row_errors(errors: Any) -> list[dict[str, Any]]:
    """Return what a list serializer complains about, row by row. What is wrong with the whole has row None."""
    return [{"row": row if isinstance(row, int) else None, "error": _said(found)} for row, found in errors.items()]


def _said(found: Any) -> str:
    if isinstance(found, dict):
        return "; ".join(f"{name}: {_said(inner)}" for name, inner in found.items())
    return " ".join(map(str, found))


api_urlpatterns: list[URLPattern | URLResolver] = [
    path("collections/", CollectionList.as_view(), name="collections"),
    path("collections/<slug:name>/", CollectionDetail.as_view(), name="collection"),
    path("collections/<slug:name>/topics/", TopicList.as_view(), name="topics"),
    path("collections/<slug:name>/passages/", PassageList.as_view(), name="passages"),
    path("collections/<slug:name>/runs/", RunList.as_view(), name="runs"),
    path("collections/<slug:name>/reports/", ReportList.as_view(), name="reports"),
    path("collections/<slug:name>/report-sentences/", ReportSentences.as_view(), name="report_sentences"),
    path("collections/<slug:name>/rankings/", RankingList.as_view(), name="rankings"),
    path("collections/<slug:name>/texts/", CollectionTexts.as_view(), name="texts"),
    path("uploads/<int:pk>/", UploadDetail.as_view(), name="upload"),
    path("collections/<slug:name>/maskings/", MaskingList.as_view(), name="maskings"),
    path("studies/<slug:name>/judgments/", JudgmentList.as_view(), name="judgments"),
    path("studies/<slug:name>/labels/", StudyLabels.as_view(), name="labels"),
    path("studies/<slug:name>/scores/", StudyScores.as_view(), name="scores"),
    *files_urlpatterns,
    *documents_urlpatterns,
    *retrieval_urlpatterns,
    *banks_urlpatterns,
    *sharing_urlpatterns,
]
