"""Runs made here, in the API."""

from __future__ import annotations

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.timezone import now
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from collection.api_tools import checked, conflict_on, invalid_on, pages_by, user_of
from collection.models import Collection, Retrieval
from collection.retrieval.jobs import NotAtWork, start_retrieval, stop_retrieval
from collection.retrieval.samples import sample_contexts
from collection.retrieval.serializers import (
    OPTIONS,
    Bm25Options,
    DenseOptions,
    RetrievalSerializer,
    SampledSerializer,
    SampleOptions,
)
from stats.refusals import Refused


def retrievals_of(request: Request, name: str) -> QuerySet[Retrieval]:
    """Return this collection's retrievals, if it is of who asks; else answer 404."""
    collection = get_object_or_404(Collection.objects.of(user_of(request)), name=name)
    return Retrieval.objects.filter(collection=collection)


class Retrievals(generics.ListAPIView[Retrieval]):
    """The runs that were made here."""

    serializer_class = RetrievalSerializer
    pagination_class = pages_by("-id")
    queryset = Retrieval.objects.none()

    def get_queryset(self) -> QuerySet[Retrieval]:
        return retrievals_of(self.request, self.kwargs["name"])


class Bm25Retrieval(APIView):
    """A run by BM25."""

    @extend_schema(request=Bm25Options, responses={202: RetrievalSerializer})
    def post(self, request: Request, name: str) -> Response:
        """Have the collection's passages ranked for its topics by BM25; a worker does it."""
        return started(request, name, "bm25")


class DenseRetrieval(APIView):
    """A run by embeddings."""

    @extend_schema(request=DenseOptions, responses={202: RetrievalSerializer})
    def post(self, request: Request, name: str) -> Response:
        """Have them ranked by the cosine of their embeddings with those of the queries."""
        return started(request, name, "dense")


class SampledContexts(APIView):
    """Contexts at random."""

    @extend_schema(request=SampleOptions, responses={201: SampledSerializer})
    def post(self, request: Request, name: str) -> Response:
        """Make runs of passages drawn at random from the first ones of a run's rankings."""
        collection = get_object_or_404(Collection.objects.of(user_of(request)), name=name)
        options = checked(SampleOptions(data=request.data))
        with invalid_on(Refused):
            made = sample_contexts(collection=collection, at=now(), **options)
        return Response({"runs": [one.name for one in made]}, status=status.HTTP_201_CREATED)


def started(request: Request, name: str, method: str) -> Response:
    """Start it for who asks."""
    collection = get_object_or_404(Collection.objects.of(user_of(request)), name=name)
    options = checked(OPTIONS[method](data=request.data))
    with invalid_on(Refused):
        made = start_retrieval(collection=collection, user=user_of(request), method=method, options=options, at=now())
    return Response(RetrievalSerializer(made).data, status=status.HTTP_202_ACCEPTED)


class RetrievalDetail(APIView):
    """One of them."""

    @extend_schema(responses=RetrievalSerializer)
    def get(self, request: Request, name: str, pk: int) -> Response:
        """Show how far it is, and what came of it."""
        return Response(RetrievalSerializer(get_object_or_404(retrievals_of(request, name), pk=pk)).data)


class RetrievalStop(APIView):
    """Stopping one."""

    @extend_schema(request=None, responses=RetrievalSerializer)
    def post(self, request: Request, name: str, pk: int) -> Response:
        """Stop it: there will be no run."""
        one = get_object_or_404(retrievals_of(request, name), pk=pk)
        with conflict_on(NotAtWork):
            stop_retrieval(one, at=now())
        one.refresh_from_db()
        return Response(RetrievalSerializer(one).data)


retrieval_urlpatterns: list[URLPattern] = [
    path("collections/<slug:name>/retrievals/", Retrievals.as_view(), name="retrievals"),
    path("collections/<slug:name>/retrievals/bm25/", Bm25Retrieval.as_view(), name="retrieval_bm25"),
    path("collections/<slug:name>/retrievals/dense/", DenseRetrieval.as_view(), name="retrieval_dense"),
    path("collections/<slug:name>/retrievals/sample/", SampledContexts.as_view(), name="retrieval_sample"),
    path("collections/<slug:name>/retrievals/<int:pk>/", RetrievalDetail.as_view(), name="retrieval"),
    path("collections/<slug:name>/retrievals/<int:pk>/stop/", RetrievalStop.as_view(), name="retrieval_stop"),
]
