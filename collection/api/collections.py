"""Collections and what belongs to them: topics, passages, runs, reports, rankings, files, maskings."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import Model, QuerySet
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.timezone import now
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from collection.api.pages import ById
from collection.api_tools import checked, invalid_on, user_of
from collection.exporting.exchanged import EXPORTS, exchanged_file
from collection.exporting.exports import EXPORTS as EXPORTED
from collection.exporting.runs import NoSuchRun
from collection.importing.background import requeue_stalled_uploads
from collection.importing.serializers import UploadSerializer
from collection.masking import NothingToAsk, mask_elements, unmask_elements
from collection.models import (
    Collection,
    Masking,
    Passage,
    RankedPassage,
    Report,
    RubricElement,
    Run,
    Topic,
    Upload,
)
from collection.page_tools import download
from collection.serializers import (
    CollectionSerializer,
    MaskedSerializer,
    MaskingSerializer,
    NewMaskingSerializer,
    PassageSerializer,
    RankedPassageSerializer,
    ReportSerializer,
    RunSerializer,
    TopicSerializer,
)
from collection.texts.sentence_views import ReportSentences

Row = TypeVar("Row", bound=Model)


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
        return Run.objects.filter(collection=self.collection).select_related("system", "made_from")


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
            OpenApiParameter(
                "run", str, description="Of a pool or a run file, where there are several; of reports, this one."
            ),
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


class CollectionReports(APIView):
    """A collection's reports with their sentences and citations, or as a track takes them."""

    @extend_schema(
        parameters=[
            OpenApiParameter(name, str, description=about, many=name in EXPORTED["reports"].repeated)
            for name, about in EXPORTED["reports"].options.items()
        ],
        responses={200: OpenApiTypes.BINARY},
    )
    def get(self, request: Request, name: str) -> HttpResponseBase:
        """Stream one file; with `track`, 400 says what the track would refuse, and how to fix it."""
        collection = get_object_or_404(Collection.objects.of(user_of(request)), name=name)
        export = EXPORTED["reports"]
        with invalid_on(*export.refusals):
            lines = export.pieces(collection, lambda _: None, **export.asked(request.query_params))
        return download(lines, export.file(collection, ""))


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


class UploadDetail(generics.RetrieveAPIView[Upload]):
    """The state of your uploaded file, which a worker checks or imports. It is removed after a day."""

    serializer_class = UploadSerializer
    queryset = Upload.objects.none()

    def get_queryset(self) -> QuerySet[Upload]:
        user = user_of(self.request)
        theirs = Upload.objects.filter(user=user, collection__in=Collection.objects.of(user))
        requeue_stalled_uploads(at=now(), among=theirs.at_work().filter(pk=self.kwargs["pk"]))
        return theirs


collections_urlpatterns: list[URLPattern] = [
    path("collections/", CollectionList.as_view(), name="collections"),
    path("collections/<slug:name>/", CollectionDetail.as_view(), name="collection"),
    path("collections/<slug:name>/topics/", TopicList.as_view(), name="topics"),
    path("collections/<slug:name>/passages/", PassageList.as_view(), name="passages"),
    path("collections/<slug:name>/runs/", RunList.as_view(), name="runs"),
    path("collections/<slug:name>/reports/", ReportList.as_view(), name="reports"),
    path("collections/<slug:name>/report-sentences/", ReportSentences.as_view(), name="report_sentences"),
    path("collections/<slug:name>/rankings/", RankingList.as_view(), name="rankings"),
    path("collections/<slug:name>/texts/", CollectionTexts.as_view(), name="texts"),
    path("collections/<slug:name>/reports.jsonl", CollectionReports.as_view(), name="reports_file"),
    path("collections/<slug:name>/maskings/", MaskingList.as_view(), name="maskings"),
    path("uploads/<int:pk>/", UploadDetail.as_view(), name="upload"),
]
