"""The choice of a language."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from collection.languages.languages import NAMES, learn
from collection.models import User

A_YEAR = 60 * 60 * 24 * 365


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Speak the language that was chosen, to the person wherever they sign in and to this browser."""
    chosen, onward = request.POST.get("language", ""), request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(onward, {request.get_host()}, require_https=request.is_secure()):
        onward = "/"
    response = redirect(onward)
    if chosen in NAMES:
        if isinstance(request.user, User):
            learn(request.user, chosen)
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            chosen,
            max_age=A_YEAR,
            samesite="Lax",
            secure=settings.HTTPS,
            httponly=True,
        )
    return response
