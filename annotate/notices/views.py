"""Dismissing notices, and ending mails with them."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from annotate.notices.mails import end_mails, user_of
from annotate.notices.notices import dismiss
from collection.accounts.views import SignedInRequest
from collection.languages.languages import in_readers_language


@in_readers_language
@require_POST
@login_required
def notice_dismiss(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show one of one's own notices no more."""
    if not dismiss(user=request.user, pk=pk, at=now()):
        raise Http404
    return redirect("annotate:queue")


@in_readers_language
@require_POST
@login_required
def notices_dismiss(request: SignedInRequest) -> HttpResponse:
    """Show none of them any more."""
    dismiss(user=request.user, at=now())
    return redirect("annotate:queue")


@in_readers_language
@csrf_exempt  # mail programs post here by themselves (RFC 8058); the token says whose mails end
@require_http_methods(["GET", "POST"])
@never_cache
def notices_unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """End the mails of the person whom the link was mailed to, signed in or not."""
    done = request.method == "POST"
    user = end_mails(token) if done else user_of(token)
    if user is None:
        raise Http404
    return render(request, "annotate/notices_unsubscribe.html", {"done": done})
