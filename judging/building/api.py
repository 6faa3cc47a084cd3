"""Builds in the API: the same services as their pages and `manage.py build`."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.timezone import now
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status, viewsets
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from collection.api_tools import checked, conflict_on, invalid_on, pages_by, user_of
from collection.models import Collection
from collection.web.api_access import ById, Researches
from judging.building import builds as life
from judging.building.additions.addition import add_to_collection
from judging.building.drafts import draft
from judging.building.estimate import estimate
from judging.building.prompt_files import BadPrompt
from judging.building.review import NotReviewable, decide
from judging.building.serializers import (
    AddedSerializer,
    AdditionSerializer,
    AgainBuildSerializer,
    AskedAgainSerializer,
    BuildDetailSerializer,
    BuildSerializer,
    CallSerializer,
    DecidedSerializer,
    DecisionSerializer,
    EstimatedBuildSerializer,
    NewBuildSerializer,
    PipelineSerializer,
    ProductSerializer,
    filled,
    prompt_of,
)
from judging.building.shipped import PIPELINES
from judging.building.sources import CannotBuild
from judging.engines.token_quotas import QuotaSpent
from judging.grading.jobs import JobLimits, LimitReached, WrongState
from judging.jobs.forms import LimitsForm
from judging.jobs.serializers import LimitsSerializer
from judging.models import Build, GenerationCall, Product

InOrder = pages_by("id")
STEP = OpenApiParameter("step", str, description="Only this step.")


def collection_of(request: Request, name: str) -> Collection:
    """Return this collection of who asks; else answer 404."""
    return get_object_or_404(Collection.objects.of(user_of(request)), name=name)


class Pipelines(APIView):
    """What models may be asked to write."""

    permission_classes = [Researches]

    @extend_schema(responses=PipelineSerializer(many=True))
    def get(self, _: Request) -> Response:
        """List the pipelines with their steps: what they need and what they make."""
        return Response(PipelineSerializer(list(PIPELINES.values()), many=True).data)


class Builds(viewsets.GenericViewSet[Build]):
    """What models write for a collection."""

    serializer_class = BuildSerializer
    permission_classes = [Researches]
    pagination_class = ById
    queryset = Build.objects.none()

    def get_queryset(self) -> QuerySet[Build]:
        return collection_of(self.request, self.kwargs["name"]).builds.select_related("collection", "created_by")

    def list(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """List the collection's builds, the newest first."""
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(BuildSerializer(page or [], many=True).data)

    @extend_schema(request=NewBuildSerializer, responses={201: BuildDetailSerializer})
    def create(self, request: Request, name: str) -> Response:
        """Start a build; a worker writes."""
        collection = collection_of(request, name)
        asked = checked(NewBuildSerializer(data=request.data))["request"]
        with invalid_on(CannotBuild, BadPrompt), conflict_on(QuotaSpent):
            build = life.start_build(collection, asked, by=user_of(request), at=now())
        return Response(BuildDetailSerializer(build).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=NewBuildSerializer, responses=EstimatedBuildSerializer)
    def estimate(self, request: Request, name: str) -> Response:
        """Say what a build would take, and start nothing."""
        collection = collection_of(request, name)
        asked = checked(NewBuildSerializer(data=request.data))["request"]
        with invalid_on(CannotBuild, BadPrompt):
            drafted, left_out = draft(collection, asked, by=user_of(request), at=now())
        found = estimate(drafted)
        figures = {name: getattr(found, name) for name in ("steps", "links", "most_calls", "tokens", "cost")}
        topics = len(drafted.options["topics"])
        return Response(EstimatedBuildSerializer({**figures, "topics": topics, "left_out": left_out}).data)

    @extend_schema(responses=BuildDetailSerializer)
    def retrieve(self, request: Request, name: str, pk: int) -> Response:  # noqa: ARG002
        """Show a build step by step, with its counts, faults and cost so far."""
        return self._shown(self.get_object())

    @extend_schema(request=None, responses=BuildDetailSerializer)
    def pause(self, request: Request, name: str, pk: int) -> Response:  # noqa: ARG002
        """Pause the build; replies in progress are kept."""
        build = self.get_object()
        with conflict_on(WrongState):
            life.pause(build)
        return self._shown(build)

    @extend_schema(request=LimitsSerializer, responses=BuildDetailSerializer)
    def resume(self, request: Request, name: str, pk: int) -> Response:  # noqa: ARG002
        """Go on: with a paused build, under the limits that are sent, or with the next step of a reviewed one."""
        build = self.get_object()
        sent = checked(LimitsSerializer(data=request.data))
        limits: JobLimits | None = filled(LimitsForm, {**LimitsForm.initial_of(build), **sent}).terms if sent else None
        with conflict_on(WrongState, LimitReached):
            life.go_on(build, limits=limits, at=now())
        return self._shown(build)

    @extend_schema(request=None, responses=BuildDetailSerializer)
    def cancel(self, request: Request, name: str, pk: int) -> Response:  # noqa: ARG002
        """Cancel the build. What was written and accepted stays."""
        build = self.get_object()
        with conflict_on(WrongState):
            life.cancel(build, at=now())
        return self._shown(build)

    @extend_schema(request=AgainBuildSerializer, responses=BuildDetailSerializer)
    def again(self, request: Request, name: str, pk: int) -> Response:  # noqa: ARG002
        """Do a step and those behind it again; what they wrote is set aside, not deleted."""
        build = self.get_object()
        sent = checked(AgainBuildSerializer(data=request.data))
        prompt = prompt_of(sent["prompt"], name="prompt") if sent["prompt"] else None
        with invalid_on(CannotBuild, BadPrompt), conflict_on(WrongState):
            life.do_again(build, **{**sent, "prompt": prompt}, at=now())
        return self._shown(build)

    @extend_schema(request=None, responses=AskedAgainSerializer)
    def ask_again(self, request: Request, name: str, pk: int) -> Response:  # noqa: ARG002
        """Ask once more for what the engine gave no reply to."""
        with conflict_on(WrongState):
            asked = life.ask_again(self.get_object(), at=now())
        return Response({"asked": asked})

    @extend_schema(request=DecisionSerializer, responses=DecidedSerializer)
    def decide(self, request: Request, name: str, pk: int) -> Response:  # noqa: ARG002
        """Accept, edit or reject products of the step that is worked on, or take your word back."""
        build = self.get_object()
        sent = checked(DecisionSerializer(data=request.data))
        with conflict_on(NotReviewable):
            decided = decide(
                build, sent["products"], sent["decision"], text=sent["text"], by=user_of(request), at=now()
            )
        return Response({"decided": decided})

    @extend_schema(request=AdditionSerializer, responses=AddedSerializer)
    def add(self, request: Request, name: str, pk: int) -> Response:  # noqa: ARG002
        """Add to the collection what is accepted and is not there."""
        build = self.get_object()
        sent = checked(AdditionSerializer(data=request.data))
        with conflict_on(CannotBuild):
            added = add_to_collection(build, **sent, by=user_of(request), at=now())
        return Response({"new": added.new, "known": added.known, "into": str(added.into) if added.into else None})

    def _shown(self, build: Build) -> Response:
        build.refresh_from_db()
        return Response(BuildDetailSerializer(build).data)


class OfBuild(generics.ListAPIView[Any]):
    """What belongs to one build."""

    permission_classes = [Researches]
    pagination_class = InOrder

    def build(self) -> Build:
        collection = collection_of(self.request, self.kwargs["name"])
        return get_object_or_404(collection.builds, pk=self.kwargs["pk"])

    def chosen(self, rows: QuerySet[Any], *names: str) -> QuerySet[Any]:
        """Return the rows that the address asks for."""
        asked = self.request.query_params
        for name in names:
            if asked.get(name) and "\x00" not in asked[name]:
                rows = rows.filter(**{name: asked[name]})
        return rows


class Calls(OfBuild):
    """A build's calls: what the model was asked, what it replied and what is wrong with that."""

    serializer_class = CallSerializer
    queryset = GenerationCall.objects.none()

    @extend_schema(parameters=[STEP])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the calls that have a reply."""
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[GenerationCall]:
        calls = self.build().calls.filter(set_aside=False, finished_at__isnull=False)
        return self.chosen(calls.select_related("topic"), "step")


class Products(OfBuild):
    """A build's products with their reviews."""

    serializer_class = ProductSerializer
    queryset = Product.objects.none()

    @extend_schema(parameters=[STEP, OpenApiParameter("state", str, enum=Product.State.values)])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List what was written; of every step, unless one is named."""
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Product]:
        build = self.build()
        products = build.products.filter(call__set_aside=False)
        products = products.select_related("topic", "reviewed_by", "element", "passage", "report__run")
        return self.chosen(products.prefetch_related("reviews__reviewer"), "step", "state")


def _at(end: str, name: str, **actions: Any) -> URLPattern:
    return path(f"collections/<slug:name>/builds/{end}", Builds.as_view(actions), name=name)


building_urlpatterns: list[URLPattern] = [
    path("pipelines/", Pipelines.as_view(), name="pipelines"),
    _at("", "builds", get="list", post="create"),
    _at("estimate/", "build_estimate", post="estimate"),
    _at("<int:pk>/", "build", get="retrieve"),
    _at("<int:pk>/pause/", "build_pause", post="pause"),
    _at("<int:pk>/resume/", "build_resume", post="resume"),
    _at("<int:pk>/cancel/", "build_cancel", post="cancel"),
    _at("<int:pk>/again/", "build_again", post="again"),
    _at("<int:pk>/ask-again/", "build_ask_again", post="ask_again"),
    _at("<int:pk>/decisions/", "build_decisions", post="decide"),
    _at("<int:pk>/add/", "build_add", post="add"),
    path("collections/<slug:name>/builds/<int:pk>/calls/", Calls.as_view(), name="build_calls"),
    path("collections/<slug:name>/builds/<int:pk>/products/", Products.as_view(), name="build_products"),
]
