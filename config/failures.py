"""What is answered to a request that failed: JSON to programs, and the reason where the database or the disk is it."""

from __future__ import annotations

import errno
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from django.conf import settings
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.template import loader
from django.utils import translation
from django.utils.translation import gettext, pgettext
from django.views import defaults

from collection.finished_files import LEFT_FREE
from collection.languages.languages import ENGLISH, language_of

# What each says of a full disk, and of being unable to answer now: errno; the lowest byte of SQLite's result codes
# (busy, locked, read only, no reading or writing, no opening); PostgreSQL's codes and their classes (its appendix A).
DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
SQLITE_FULL, SQLITE_BUSY = 13, frozenset({5, 6, 8, 10, 14})
POSTGRES_FULL, POSTGRES_BUSY = "53100", frozenset({"08", "40", "53", "55", "57", "58"})


class Hindrance(NamedTuple):
    """Why a request could not be answered now, though nothing is wrong with it."""

    status: int
    title: str
    reason: str


def hindrance_of(failure: BaseException | None) -> Hindrance | None:
    """Return what the database or the disk kept from being done; None where the failure is another one."""
    chain = list(_chain(failure))
    codes = {one.sqlite_errorcode & 0xFF for one in chain if hasattr(one, "sqlite_errorcode")}
    states = {one.sqlstate for one in chain if getattr(one, "sqlstate", None)}
    if (
        SQLITE_FULL in codes
        or POSTGRES_FULL in states
        or any(isinstance(one, OSError) and one.errno in DISK_FULL for one in chain)
    ):
        return Hindrance(
            507,
            gettext("The disk is full"),
            gettext("The server has no room left, so nothing was stored. What was saved before is kept."),
        )
    # A server that cannot be reached gives no code.
    is_lost = not codes and not states and any(isinstance(one, OperationalError) for one in chain)
    if is_lost or codes & SQLITE_BUSY or {state[:2] for state in states} & POSTGRES_BUSY:
        return Hindrance(
            503,
            pgettext("heading", "Busy"),
            gettext("The database did not answer in time, so nothing was stored. What was saved before is kept."),
        )
    return None


def _chain(failure: BaseException | None) -> Iterator[Any]:
    while failure is not None:
        yield failure
        failure = failure.__cause__ or failure.__context__


# --- The handlers of config.urls ------------------------------------------------------------------


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 507 or 503 with the reason where there is a hindrance; else 500, and the error is in the log.

    The page asks the database for nothing.
    """
    hindrance = hindrance_of(sys.exc_info()[1])
    status = hindrance.status if hindrance else 500
    if request.path_info.startswith("/api/"):
        reason = hindrance.reason if hindrance else "The server failed, and the error is in its log."
        response: HttpResponse = JsonResponse({"detail": reason}, status=status)
    else:
        page = loader.render_to_string("500.html", {"hindrance": hindrance, "path": request.path})
        response = HttpResponse(page, status=status)
    if hindrance:
        response["Retry-After"] = "5" if status == 503 else "60"
    return response


def _for_programs(page: Callable[..., HttpResponseBase], status: int, reason: str) -> Callable[..., HttpResponseBase]:
    """Return the handler that shows Django's page for this status, and answers JSON at addresses of the API."""

    def handler(request: HttpRequest, exception: Exception) -> HttpResponseBase:
        if request.path_info.startswith("/api/"):
            return JsonResponse({"detail": reason}, status=status)
        _speak_to_assessors(request)
        return page(request, exception)

    return handler


def _speak_to_assessors(request: HttpRequest) -> None:
    """Let the page speak the language of a reader who does no research, whatever page it stands for."""
    user = getattr(request, "user", None)  # there is none where the request failed before it was asked for
    if user and not getattr(user, "is_researcher", False) and translation.get_language() == ENGLISH:
        translation.activate(language_of(request))


bad_request = _for_programs(defaults.bad_request, 400, "The request cannot be read.")
permission_denied = _for_programs(defaults.permission_denied, 403, "You are not allowed to do that.")
page_not_found = _for_programs(defaults.page_not_found, 404, "Not found.")


# --- Before it comes to that ----------------------------------------------------------------------


def scarce_room(request: HttpRequest) -> dict[str, Any]:
    """What administrators' pages know: how many MB are free where the site keeps its data, if that is little."""
    if not getattr(getattr(request, "user", None), "is_staff", False):
        return {}
    free = shutil.disk_usage(settings.DATA_DIR).free
    return {"mb_free": free // 1024**2} if free < LEFT_FREE else {}
