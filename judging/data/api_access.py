"""Who may use this app's part of the API, and what every view of it does with a request."""

from __future__ import annotations

from typing import Any

from rest_framework import status
from rest_framework.exceptions import APIException, PermissionDenied
from rest_framework.pagination import CursorPagination
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from collection.models import User


class Refused(APIException):
    """The state of things does not allow it now."""

    status_code = status.HTTP_409_CONFLICT


class Researches(IsAuthenticated):
    """Judges are for researchers: a judge's grades could influence an assessor."""

    message = "Only researchers work with judges."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return super().has_permission(request, view) and user_of(request).is_researcher


class ById(CursorPagination):
    ordering = "-id"


def user_of(request: Request) -> User:
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def checked(serializer: Any) -> Any:
    """Return what was sent if it is valid; else answer 400."""
    serializer.is_valid(raise_exception=True)
    return serializer.validated_data
