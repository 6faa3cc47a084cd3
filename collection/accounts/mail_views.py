"""A forgotten password, and the mail address of one's account."""

from __future__ import annotations

from axes.handlers.proxy import AxesProxyHandler
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.signals import user_login_failed
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from collection.accounts.forms import AddressForm, ForgottenForm, NoticesForm
from collection.accounts.mails import (
    NoMailsNow,
    address_of_link,
    ask_for_mail,
    confirm_address,
    forget_address,
    user_to_reset,
    wait_for_mail,
)
from collection.accounts.sign_in import hashing
from collection.accounts.views import SignedInRequest, account_page, locked_out
from collection.languages.languages import in_readers_language


@in_readers_language
@require_http_methods(["GET", "POST"])
@never_cache
def password_forgotten(request: HttpRequest) -> HttpResponse:
    """Mail a link to whoever forgot their password. The answer is the same whether the address is known."""
    form = ForgottenForm(request.POST or None)
    if not form.is_valid():
        status = 422 if form.errors else 200
        return render(request, "account/password_forgotten.html", {"form": form}, status=status)

    address = form.cleaned_data["email"]
    if not may_ask(request, address):
        return locked_out(request, asked=True)
    try:
        ask_for_mail("collection.mail_reset", address)
    except NoMailsNow as refused:
        form.add_error(None, str(refused))
        return render(request, "account/password_forgotten.html", {"form": form}, status=503)
    return render(request, "account/password_forgotten.html", {"sent": True})


def may_ask(request: HttpRequest, address: str) -> bool:
    """Count that a mail to an address is asked for, and say whether it is not one too many, as in signing in."""
    credentials = {"username": f"mail {address.lower()}"}
    if not AxesProxyHandler.is_allowed(request, credentials):
        return False
    user_login_failed.send(sender=__name__, credentials=credentials, request=request)
    return not getattr(request, "axes_locked_out", False)


@in_readers_language
@require_http_methods(["GET", "POST"])
@never_cache
def password_reset(request: HttpRequest, uidb64: str, token: str) -> HttpResponse:
    """Choose another password by the link that was mailed."""
    user = user_to_reset(uidb64, token)
    if user is None:
        return render(request, "account/password_reset.html", status=410)
    form = SetPasswordForm(user, request.POST or None)

    if form.is_valid():
        with hashing():
            form.save()
        messages.success(request, gettext("Your password is changed. Sign in with it."))
        return redirect("sign_in")

    context = {"form": form, "user_to_reset": user}
    return render(request, "account/password_reset.html", context, status=422 if form.errors else 200)


@in_readers_language
@require_POST
@login_required
def account_address(request: SignedInRequest) -> HttpResponse:
    """Mail a link to the address that somebody gives as theirs, for whoever knows the password; or remove theirs."""
    user = request.user
    credentials = {"username": user.username}
    if not AxesProxyHandler.is_allowed(request, credentials):
        return locked_out(request)
    with hashing():
        knows = not user.has_usable_password() or user.check_password(request.POST.get("address_password", ""))
    if not knows:
        user_login_failed.send(sender=__name__, credentials=credentials, request=request)
    form = AddressForm(request.POST, user=user, knows_password=knows)

    if form.is_valid():
        address = form.cleaned_data["email"]
        wait = wait_for_mail(user, address, at=now()) if address else None
        if wait or (address and not may_ask(request, address)):
            return locked_out(request, asked=True, wait=wait)
        try:
            if not address:
                forget_address(user)
                messages.success(request, gettext("Your mail address is removed."))
            else:
                ask_for_mail("collection.mail_confirmation", user.pk, address)
                said = gettext("We sent a link to %(address)s. Open it to confirm the address.")
                messages.success(request, said % {"address": address})
        except NoMailsNow as refused:
            messages.error(request, str(refused))
        return redirect("account")
    return account_page(request, address_form=form, status=422)


@in_readers_language
@require_POST
@login_required
def account_notices(request: SignedInRequest) -> HttpResponse:
    """Switch mails with notices on or off."""
    form = NoticesForm(request.POST, instance=request.user)
    if form.is_valid():
        form.save()
        messages.success(request, gettext("Saved."))
    return redirect("account")


@in_readers_language
@require_http_methods(["GET", "POST"])
@never_cache
def address_confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Confirm the address that the link was mailed to."""
    found = address_of_link(token)
    if found is None:
        raise Http404
    user, address = found
    if request.method == "POST":
        confirm_address(token)
        messages.success(request, gettext("Your mail address is saved."))
        return redirect("account")
    return render(request, "account/address_confirm.html", {"address": address, "of": user})
