"""The version of Assize, where people and programs see it."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase


def version(_: HttpRequest) -> dict[str, str]:
    """What every page knows: the version that it is of."""
    return {"version": settings.VERSION}


def name_the_version(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Name the version in the head of every answer to somebody who signed in: pages, the API's and downloads."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.user.is_authenticated:
            response["Assize-Version"] = settings.VERSION
        return response

    return respond
