"""What no request may be, wherever it goes: larger than the limit of uploads, with NUL in its address, or from afar to
the demonstration, whose password is public.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from config.checks import is_loopback

# What proxies and tunnels say of who asked them.
OF_PROXIES = frozenset(
    f"HTTP_{name}"
    for name in (
        "CF_CONNECTING_IP",
        "FORWARDED",
        "TRUE_CLIENT_IP",
        "VIA",
        "X_FORWARDED_FOR",
        "X_FORWARDED_HOST",
        "X_FORWARDED_PROTO",
        "X_REAL_IP",
    )
)


def refuse_oversized_and_unstorable(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Answer 413 to bodies over `UPLOAD_LIMIT_MB` before a byte is read, and 400 to NUL, which PostgreSQL refuses.

    The demonstration answers 403 to whatever does not come from this machine by itself.
    """
    most = settings.UPLOAD_LIMIT_MB * 1024**2

    def middleware(request: HttpRequest) -> HttpResponse:
        if settings.DEMONSTRATION and _is_from_afar(request):
            reason = "This is a demonstration whose password is public. Start the site for others with `make serve`."
            return _refusal(request, reason, status=403)
        if int(request.META.get("CONTENT_LENGTH") or 0) > most:
            reason = f"What you sent is larger than {settings.UPLOAD_LIMIT_MB:,} MB. Split it, or use manage.py."
            return _refusal(request, reason, status=413)
        if "%00" in request.META.get("QUERY_STRING", "") or "\x00" in request.path_info:
            return _refusal(request, "The address contains the character U+0000.", status=400)
        return get_response(request)

    return middleware


def _is_from_afar(request: HttpRequest) -> bool:
    sender = request.META.get("REMOTE_ADDR", "").removeprefix("::ffff:")
    return not OF_PROXIES.isdisjoint(request.META) or bool(sender and not is_loopback(sender))


def _refusal(request: HttpRequest, reason: str, *, status: int) -> HttpResponse:
    if request.path_info.startswith("/api/"):
        return JsonResponse({"detail": reason}, status=status)
    return render(request, "refused.html", {"reason": reason}, status=status)
