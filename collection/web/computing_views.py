"""What is answered while figures are being computed, and where their page asks whether they are there."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl, urlencode

from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRefresh

from collection.accounts.access import refuse_unless_researcher
from collection.accounts.views import SignedInRequest
from collection.addresses import parts_of
from collection.web.cached_results import MOST_SHOWN, NotComputed, StillComputing, begun, is_there

ASK_AGAIN_SECONDS = "1"


class SayComputing:
    """Middleware: answers 202 where figures are still being computed, and 503 where they could not be."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, NotComputed):
            return _not_computed(request, str(exception))
        if not isinstance(exception, StillComputing):
            return None
        again = with_shown(request.get_full_path(), exception.key)
        if request.path.startswith("/api/"):
            state = "computing" if exception.begun else "waiting for a worker"
            response: HttpResponse = JsonResponse({"state": state, "ask_again": again}, status=202)
            response["Location"] = again
        elif is_for_an_image(request):
            response = _instead_of_a_chart(request, "This chart is still being drawn.", status=202)
        else:
            context = {
                "key": exception.key,
                "begun": exception.begun,
                "again": again,
                "target": request.headers.get("HX-Target", ""),
            }
            is_part = "HX-Request" in request.headers
            page = "collection/computing_part.html" if is_part else "collection/computing.html"
            response = render(request, page, context, status=202)
        response["Retry-After"] = ASK_AGAIN_SECONDS
        return response


def _not_computed(request: HttpRequest, reason: str) -> HttpResponse:
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": reason}, status=503)
    if is_for_an_image(request):
        return _instead_of_a_chart(request, "This chart could not be drawn.", status=503)
    if "HX-Request" in request.headers:  # htmx shows nothing of a 503
        return render(request, "collection/not_computed_part.html", {"reason": reason})
    return render(request, "collection/not_computed.html", {"reason": reason}, status=503)


def _instead_of_a_chart(request: HttpRequest, says: str, *, status: int) -> HttpResponse:
    """Return a picture of these words, which a browser shows as it shows a chart."""
    context = {"says": says, "then": "Reload the page in a moment."}
    return render(request, "collection/chart_later.svg", context, content_type="image/svg+xml", status=status)


@require_safe
@login_required
def computing(request: SignedInRequest, key: str) -> HttpResponse:
    """Whether the figures under the key are there; the page that waits for them is then asked for again."""
    refuse_unless_researcher(request.user)
    there, at_work = is_there(key), begun(key)
    if not there and at_work is None and not request.htmx:
        raise Http404("This is not being computed.")

    if not request.htmx:
        return JsonResponse({"there": there, "begun": bool(at_work)})
    if there:
        # Not by HX-Redirect: a file leaves this page where it is, and it must not go on saying that one is at work.
        try:
            address = with_shown(request.htmx.current_url_abs_path or "/", key)
        except ValueError as error:  # no browser's
            raise BadRequest("The header HX-Current-URL is not an address.") from error
        return render(request, "collection/computed.html", {"address": address})
    if at_work is None:  # the worker is gone, and the page asks another
        return HttpResponseClientRefresh()
    return render(request, "collection/computing_progress.html", {"key": key, "begun": at_work})


def is_for_an_image(request: HttpRequest) -> bool:
    """Whether a page shows what is asked for as a picture, and cannot say that it is not there yet."""
    return request.headers.get("Sec-Fetch-Dest") == "image"


def with_shown(address: str, key: str) -> str:
    """Return the address, asking for these figures beside those that were waited for before."""
    parts = parts_of(address)
    asked = parse_qsl(parts.query, keep_blank_values=True)
    shown = [value for name, value in asked if name == "shown" and value != key]
    asked = [(name, value) for name, value in asked if name != "shown"]
    return f"{parts.path}?{urlencode([*asked, *(('shown', one) for one in [*shown, key][-MOST_SHOWN:])])}"
