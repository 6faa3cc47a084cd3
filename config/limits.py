"""What no request may be, wherever it goes: larger than the limit of uploads, or with NUL in its address."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render


def refuse_oversized_and_unstorable(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Answer 413 to bodies over `UPLOAD_LIMIT_MB` before a byte is read, and 400 to NUL, which PostgreSQL refuses."""
    most = settings.UPLOAD_LIMIT_MB * 1024**2

    def middleware(request: HttpRequest) -> HttpResponse:
        if int(request.META.get("CONTENT_LENGTH") or 0) > most:
            reason = f"What you sent is larger than {settings.UPLOAD_LIMIT_MB:,} MB. Split it, or use manage.py."
            return _refusal(request, reason, status=413)
        if "%00" in request.META.get("QUERY_STRING", "") or "\x00" in request.path_info:
            return _refusal(request, "The address contains the character U+0000.", status=400)
        return get_response(request)

    return middleware


def _refusal(request: HttpRequest, reason: str, *, status: int) -> HttpResponse:
    if request.path_info.startswith("/api/"):
        return JsonResponse({"detail": reason}, status=status)
    return render(request, "refused.html", {"reason": reason}, status=status)
