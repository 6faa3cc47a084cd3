"""What is done to every response."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from collection.accounts.access import StillAssesses
from collection.accounts.sign_in import Busy
from collection.finished_files import ExportFailed

GetResponse = Callable[[HttpRequest], HttpResponseBase]


OF_ITS_OWN = ("_csp_exempt", "_csp_config", "_csp_update", "_csp_replace")


class ContentSecurityPolicy(CSPMiddleware):
    """Send the policy of the settings, put together once; a view that has one of its own has it put together anew."""

    def process_request(self, request: HttpRequest) -> None:
        """Make nothing ready for a nonce: there are none."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if any(hasattr(response, name) for name in OF_ITS_OWN):
            return super().process_response(request, response)
        response.headers.setdefault(HEADER, _policy())
        return response


@cache
def _policy() -> str:
    return str(build_policy())


def keep_pages_out_of_caches(get_response: GetResponse) -> GetResponse:
    """Tell browsers to store nothing that a signed-in person sees, unless the view has said what may be stored.

    Whoever signs out on a shared computer leaves nothing behind, neither on its disk nor by the way back. The one page
    that may be stored, for a moment, is the next task that an assessor's browser fetches ahead.
    """

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if "Cache-Control" not in response and request.user.is_authenticated:
            response["Cache-Control"] = "no-store, private"
        return response

    return respond


class SayBusy:
    """Answer 503 where too many passwords are hashed at this moment, and say why something is refused."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, ExportFailed | StillAssesses):
            context = {"reason": exception.detail, "study": getattr(exception, "study", "")}
            return render(request, "refused.html", context, status=exception.status_code)
        if not isinstance(exception, Busy):
            return None
        response = render(request, "503.html", {"reason": exception.detail}, status=503)
        response["Retry-After"] = "5"
        return response
