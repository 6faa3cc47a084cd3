"""Sources of documents, what is missing, and fetching it, in the API."""

from __future__ import annotations

from django.core.exceptions import ValidationError as Invalid
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.timezone import now
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from collection.api_tools import WholeField, checked, conflict_on, pages_by, user_of
from collection.documents.fetching import ACTIONS, NotNow
from collection.documents.missing import missing_texts
from collection.documents.serializers import (
    ActionSerializer,
    DocumentFetchSerializer,
    FetchingSerializer,
    MissingTextsSerializer,
    SourceSerializer,
)
from collection.documents.sources import NoSource, remove_source, set_source, source_of
from collection.documents.status import DEPTH, Status, status_of
from collection.models import Collection, DocumentFetch, DocumentSource

MOST_MISSING = 10_000


def collection_of(request: Request, name: str) -> Collection:
    """Return this collection of who asks; else answer 404."""
    return get_object_or_404(Collection.objects.of(user_of(request)), name=name)


class DocumentSourceDetail(APIView):
    """The source of a collection's missing texts."""

    @extend_schema(responses=SourceSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Show the source, without its key."""
        source = source_of(collection_of(request, name))
        if source is None:
            raise Http404
        return Response(SourceSerializer(source).data)

    @extend_schema(request=SourceSerializer, responses=SourceSerializer)
    def put(self, request: Request, name: str) -> Response:
        """Set the source; what is being fetched stops. Without a key, that of the same address is kept."""
        collection = collection_of(request, name)
        sent = checked(SourceSerializer(data=request.data))
        try:
            source = set_source(collection=collection, **sent)
        except Invalid as invalid:
            raise serializers.ValidationError(invalid.message_dict) from invalid
        return Response(SourceSerializer(source).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        """Remove the source; fetched texts are kept."""
        remove_source(collection=collection_of(request, name))
        return Response(status=status.HTTP_204_NO_CONTENT)


class DocumentFetching(APIView):
    """Fetching a collection's missing texts."""

    @extend_schema(responses=FetchingSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Show how far it is."""
        collection = collection_of(request, name)
        source = source_of(collection)
        return Response(fetching_row(source, status_of(collection, source)))

    @extend_schema(request=ActionSerializer, responses={202: FetchingSerializer})
    def post(self, request: Request, name: str) -> Response:
        """Start, pause or resume. Starting tries again what failed before."""
        collection = collection_of(request, name)
        action = checked(ActionSerializer(data=request.data))["action"]
        with conflict_on(NoSource, NotNow):
            source = ACTIONS[action](collection=collection, at=now())
        row = fetching_row(source, status_of(collection, source))
        return Response(row, status=status.HTTP_202_ACCEPTED)


def fetching_row(source: DocumentSource | None, found: Status) -> dict[str, object]:
    state = {"state": source.state, "problem": source.problem, "started_at": source.started_at} if source else {}
    return {"state": DocumentSource.State.IDLE, "problem": "", "started_at": None, **state, **found.as_dict()}


class MissingTexts(APIView):
    """Documents that a collection names and whose texts it lacks."""

    @extend_schema(
        parameters=[OpenApiParameter("limit", int, description=f"At most {MOST_MISSING:,}; 100 by default.")],
        responses=MissingTextsSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        """List them, cited ones first, each with the reason of the last failure."""
        collection = collection_of(request, name)
        limit = WholeField(min_value=1, max_value=MOST_MISSING).run_validation(request.query_params.get("limit", 100))
        source = source_of(collection)
        missing = missing_texts(collection, depth=source.depth if source else DEPTH)
        first = dict(list(missing.items())[:limit])
        tried = DocumentFetch.objects.filter(collection=collection).exclude(problem="")
        problems = dict(tried.values_list("passage_id", "problem"))
        rows = [
            {"passage_id": docno, "named_by": by, "problem": problems.get(docno, "")} for docno, by in first.items()
        ]
        return Response({"n": len(missing), "documents": rows})


class DocumentFetches(generics.ListAPIView[DocumentFetch]):
    """What came of fetching: the origin of each text, and what went wrong."""

    serializer_class = DocumentFetchSerializer
    pagination_class = pages_by("id")
    queryset = DocumentFetch.objects.none()

    def get_queryset(self) -> QuerySet[DocumentFetch]:
        return DocumentFetch.objects.filter(collection=collection_of(self.request, self.kwargs["name"]))


documents_urlpatterns: list[URLPattern] = [
    path("collections/<slug:name>/document-source/", DocumentSourceDetail.as_view(), name="document_source"),
    path("collections/<slug:name>/document-fetching/", DocumentFetching.as_view(), name="document_fetching"),
    path("collections/<slug:name>/document-fetches/", DocumentFetches.as_view(), name="document_fetches"),
    path("collections/<slug:name>/missing-texts/", MissingTexts.as_view(), name="missing_texts"),
]
