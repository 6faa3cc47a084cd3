"""Model servers in the API."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError as Invalid
from django.http import Http404
from django.utils.timezone import now
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import checked, user_of
from collection.web.api_access import Researches
from judging.models import ModelServer
from judging.servers.changes import ADMINISTRATORS, look, may_change, save_server, visible_to
from judging.servers.serializers import ModelServerSerializer, ModelServerShown


class ModelServerViewSet(viewsets.GenericViewSet[ModelServer]):
    """Servers that judges ask: the site's, and a researcher's own."""

    serializer_class = ModelServerShown
    permission_classes = [Researches]
    pagination_class = None
    lookup_field = "name"
    lookup_value_regex = "[-a-zA-Z0-9_]+"
    queryset = ModelServer.objects.none()

    def get_object(self) -> ModelServer:
        """Return a server that the user may use or change; else answer 404."""
        for server in visible_to(user_of(self.request)):
            if server.name == self.kwargs["name"]:
                return server
        raise Http404

    @extend_schema(responses=ModelServerShown(many=True))
    def list(self, request: Request) -> Response:
        """List the servers that you may use or change."""
        return self._shown(visible_to(user_of(request)), many=True)

    @extend_schema(responses=ModelServerShown)
    def retrieve(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Show one."""
        return self._shown(self.get_object())

    @extend_schema(request=ModelServerSerializer, responses={201: ModelServerShown})
    def create(self, request: Request) -> Response:
        """Add a server, and ask it which models it has."""
        return self._saved(request, ModelServerSerializer(data=request.data), None, status=201)

    @extend_schema(request=ModelServerSerializer, responses=ModelServerShown)
    def partial_update(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Change what is sent, and ask the server which models it has."""
        server = self._to_change()
        return self._saved(request, ModelServerSerializer(data=request.data, partial=True), server)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Remove the server with its key. Jobs that ask it pause."""
        server = self._to_change()
        if server.from_variables:
            raise PermissionDenied("JUDGE_BASE_URL names this server: switch it off, or empty the variable.")
        server.delete()
        return Response(status=204)

    @extend_schema(request=None, responses=ModelServerShown)
    @action(detail=True, methods=["post"])
    def look(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """Ask the server again which models it has."""
        server = self._to_change()
        look(server, at=now())
        return self._shown(server)

    def _to_change(self) -> ModelServer:
        server = self.get_object()
        if not may_change(server, user_of(self.request)):
            raise PermissionDenied(ADMINISTRATORS)  # somebody else's own is not found at all
        return server

    def _saved(
        self, request: Request, sent: serializers.Serializer[Any], server: ModelServer | None, status: int = 200
    ) -> Response:
        try:
            saved = save_server(checked(sent), server=server, by=user_of(request), at=now())
        except Invalid as invalid:
            raise serializers.ValidationError(invalid.message_dict) from invalid
        return self._shown(saved, status=status)

    def _shown(self, found: Any, *, many: bool = False, status: int = 200) -> Response:
        shown = ModelServerShown(found, many=many, context={"user": user_of(self.request)})
        return Response(shown.data, status=status)
