"""Closing one's own account."""

from __future__ import annotations

from axes.handlers.proxy import AxesProxyHandler
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.signals import user_login_failed
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from annotate.crowd.privacy import StillResearches, close_account
from collection.accounts.sign_in import hashing
from collection.accounts.views import SignedInRequest, locked_out
from collection.languages.languages import in_readers_language
from collection.page_tools import telling


@in_readers_language
@require_POST
@login_required
def account_close(request: SignedInRequest) -> HttpResponse:
    """Close the account for good, for whoever knows its password; one that has none, with a click."""
    user = request.user
    credentials = {"username": user.username}
    if not AxesProxyHandler.is_allowed(request, credentials):
        return locked_out(request)
    with hashing():
        knows = not user.has_usable_password() or user.check_password(request.POST.get("password", ""))

    if not knows:
        user_login_failed.send(sender=__name__, credentials=credentials, request=request)
        messages.error(request, gettext("That is not your password. The account was not closed."))
        return redirect("account")
    with telling(request, StillResearches):
        close_account(user=user, at=now())
        logout(request)
        messages.success(request, gettext("Your account is closed. Your labels are kept under a pseudonym."))
        return redirect("sign_in")
    return redirect("account")
