"""Who may use this app's part of the API."""

from __future__ import annotations

from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from collection.api_tools import pages_by, user_of


class Researches(IsAuthenticated):
    """Judges are for researchers: a judge's grades could influence an assessor."""

    message = "Only researchers work with judges."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return super().has_permission(request, view) and user_of(request).is_researcher


ById = pages_by("-id")
