"""This app's part of /api/v1/: the same services as its pages."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, URLResolver, path
from django.utils.timezone import now
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.exceptions import PermissionDenied
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import checked, invalid_on, study_of, user_of
from collection.collections.sharing_api import api_urlpatterns as sharing_urlpatterns
from collection.importing.api import files_urlpatterns
from collection.importing.background import requeue_stalled_uploads
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


class JudgmentList(generics.ListAPIView[Judgment]):
    """A study's current judgments."""

    serializer_class = JudgmentSerializer
    pagination_class = ById
    queryset = Judgment.objects.none()

    @property
    def study(self) -> Study:
        return study_of(self.request, self.kwargs["name"])

    def get_queryset(self) -> QuerySet[Judgment]:
        chosen = {
            lookup: self.request.query_params[name]
            for name, lookup in FILTERS.items()
            if name in self.request.query_params
        }
        judgments = Judgment.objects.of_study(self.study).filter(**chosen)
        return judgments.select_related("item__topic", "criterion", "rater", "guideline").prefetch_related("highlights")

    @extend_schema(
        parameters=[
            OpenApiParameter("criterion", str, description="The name of a criterion."),
            OpenApiParameter("rater", str, description="The name of a rater."),
            OpenApiParameter("rater_kind", str, enum=["assessor", "judge"]),
            OpenApiParameter("item", str, description="The id of an item."),
        ]
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

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
    path("collections/<slug:name>/rankings/", RankingList.as_view(), name="rankings"),
    path("uploads/<int:pk>/", UploadDetail.as_view(), name="upload"),
    path("collections/<slug:name>/maskings/", MaskingList.as_view(), name="maskings"),
    path("studies/<slug:name>/judgments/", JudgmentList.as_view(), name="judgments"),
    *files_urlpatterns,
    *sharing_urlpatterns,
]
