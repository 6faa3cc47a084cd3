"""Who may use the researchers' part of the API, and in which pages it answers."""

from __future__ import annotations

from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from collection.api_tools import pages_by, user_of


class Researches(IsAuthenticated):
    """What assessors may not see: a judge's grades, or what others are asked, could influence them."""

    message = "This is for researchers alone."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return super().has_permission(request, view) and user_of(request).is_researcher


ById = pages_by("-id")
