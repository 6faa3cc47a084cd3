"""The part of /api/v1/ about people from outside."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.timezone import now
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.assignments.kept_work import PlacesGone
from annotate.crowd.returns import NotToBeUndone, return_session, undo_return
from annotate.crowd.serializers import CrowdSessionSerializer, ReturnedSerializer, SessionStateSerializer
from annotate.models import CrowdSession
from collection.api_tools import checked, conflict_on, pages_by, study_to_set_up


class InStudy(generics.GenericAPIView[CrowdSession]):
    serializer_class = CrowdSessionSerializer
    pagination_class = pages_by("arrived_at", "id")
    queryset = CrowdSession.objects.none()

    def get_queryset(self) -> QuerySet[CrowdSession]:
        study = study_to_set_up(self.request, self.kwargs["name"])
        sessions = CrowdSession.objects.filter(entry__study=study)
        return sessions.select_related("entry", "participant__user", "participant__identity")

    def get_serializer_context(self) -> dict[str, Any]:
        asked = self.request.query_params.get("with_crowd_ids") == "true" if self.request else False
        return {**super().get_serializer_context(), "with_crowd_ids": asked}

    def named(self) -> CrowdSession:
        """Return the session that is named in the body."""
        sent = checked(ReturnedSerializer(data=self.request.data))
        return get_object_or_404(self.get_queryset(), **sent)


class CrowdSessionList(InStudy, generics.ListAPIView[CrowdSession]):
    """Sessions from crowd sites, by arrival, under pseudonyms."""

    @extend_schema(
        parameters=[OpenApiParameter("with_crowd_ids", bool, description="Include the site's ids: personal data.")]
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)


class CrowdSessionReturn(InStudy):
    """Mark a session as returned: its labels are moved to the history, its places are free again."""

    serializer_class = ReturnedSerializer  # type: ignore[assignment]

    @extend_schema(request=ReturnedSerializer, responses=SessionStateSerializer)
    def post(self, request: Request, name: str) -> Response:  # noqa: ARG002
        session = self.named()
        changed = return_session(session=session, at=now())
        return Response(SessionStateSerializer({"state": session.state, "changed": changed}).data)


class CrowdSessionUndoReturn(InStudy):
    """Restore a returned session with its labels, as long as nobody else has its places. 409 gives the reason."""

    serializer_class = ReturnedSerializer  # type: ignore[assignment]

    @extend_schema(request=ReturnedSerializer, responses=SessionStateSerializer)
    def post(self, request: Request, name: str) -> Response:  # noqa: ARG002
        session = self.named()
        with conflict_on(NotToBeUndone, PlacesGone):
            undo_return(session=session, at=now())
        return Response(SessionStateSerializer({"state": session.state, "changed": True}).data)


crowd_api_urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/crowd/sessions/", CrowdSessionList.as_view(), name="crowd_sessions"),
    path("studies/<slug:name>/crowd/sessions/return/", CrowdSessionReturn.as_view(), name="crowd_session_return"),
    path(
        "studies/<slug:name>/crowd/sessions/undo-return/",
        CrowdSessionUndoReturn.as_view(),
        name="crowd_session_undo_return",
    ),
]
