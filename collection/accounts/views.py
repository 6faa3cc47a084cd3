"""Signing in and out, where each goes from there, and a person's own account."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta
from typing import Any, cast

from axes.decorators import axes_dispatch
from axes.handlers.proxy import AxesProxyHandler
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.signals import user_login_failed
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.timezone import now
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh
from django_htmx.middleware import HtmxDetails

from collection.accounts import account as accounts
from collection.accounts.account import LIFETIMES, NoToken, may_have_tokens, tokens_of
from collection.accounts.forms import AddressForm, NoticesForm
from collection.accounts.sign_in import hashing, is_too_weak, remember_browser
from collection.languages.languages import in_readers_language
from collection.models import User


class SignedInRequest(HttpRequest):
    """A request that passed `login_required`."""

    user: User
    htmx: HtmxDetails


class NameForm(forms.ModelForm[User]):
    class Meta:
        model = User
        fields = ["first_name", "last_name"]


class TokenForm(forms.Form):
    name = forms.CharField(max_length=60, help_text=gettext_lazy("For you: which script or machine uses it."))
    days = forms.TypedChoiceField(
        label=gettext_lazy("Expires after"),
        coerce=int,
        initial=90,
        choices=lambda: [(days, ngettext("{n} day", "{n} days", days).format(n=days)) for days in LIFETIMES],
    )
    read_only = forms.BooleanField(
        label=gettext_lazy("Read only"), required=False, help_text=gettext_lazy("Requests that change something fail.")
    )


@in_readers_language
@require_safe
@login_required
def home(request: SignedInRequest) -> HttpResponse:
    """Send researchers to their studies and assessors to their work."""
    return redirect("annotate:studies" if request.user.is_researcher else "annotate:queue")


@in_readers_language
def sign_in(request: HttpRequest) -> HttpResponseBase:
    """Ask who it is.

    htmx comes here by a redirect, when a session ran out under an open page. It would paste this page
    into that one; told to load the whole page anew, it comes back to where it was after the sign-in.
    """
    if request.headers.get("HX-Request"):
        return HttpResponseClientRefresh()
    return _invalid_is_422(SignIn.as_view()(request))


@method_decorator(axes_dispatch, "dispatch")  # before anything else is done
class SignIn(auth_views.LoginView):
    template_name = "account/sign_in.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(demonstration=settings.DEMONSTRATION, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_valid(form)
        user = form.get_user()
        if is_too_weak(form.cleaned_data["password"], user):
            messages.warning(
                self.request, gettext("Your password is too weak for a researcher. Please choose another.")
            )
            response = redirect("password")
        remember_browser(self.request, response, user.username)
        return response


def locked_out(request: HttpRequest, *_args: Any, asked: bool = False, wait: timedelta | None = None) -> HttpResponse:
    """Say how long whoever gave a wrong password, or asked for mails, too often must wait; not whether there is such an
    account.
    """
    cool_off: timedelta = settings.AXES_COOLOFF_TIME
    seconds = int((wait or cool_off).total_seconds())
    response = render(request, "account/locked_out.html", {"minutes": seconds // 60 or 1, "asked": asked}, status=429)
    response["Retry-After"] = str(seconds)
    return response


@in_readers_language
def sign_out(request: HttpRequest) -> HttpResponseBase:
    return auth_views.LogoutView.as_view()(request)


@in_readers_language
@require_http_methods(["GET", "POST"])
@login_required
def account(request: SignedInRequest) -> HttpResponse:
    """Show who is signed in, and change the name."""
    form = NameForm(request.POST or None, instance=request.user)

    if form.is_valid():
        form.save()
        messages.success(request, gettext("Your name is saved."))
        return redirect("account")

    return account_page(request, form=form, status=422 if form.errors else 200)


@in_readers_language
def password(request: HttpRequest) -> HttpResponseBase:
    """Change the password; every other browser of this person is signed out."""
    with hashing() if request.method == "POST" else nullcontext():
        return _invalid_is_422(PasswordChange.as_view()(request))


@method_decorator(login_required, "dispatch")
class PasswordChange(auth_views.PasswordChangeView):
    template_name = "account/password.html"
    success_url = reverse_lazy("account")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Guessing the old password in a browser that somebody left open is held back as at the door."""
        if not AxesProxyHandler.is_allowed(request, self.credentials):
            return locked_out(request)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        n_ended = accounts.revoke_tokens(user=form.user)
        messages.success(
            self.request,
            gettext("Your password is changed. Your API tokens no longer work.")
            if n_ended
            else gettext("Your password is changed."),
        )
        return super().form_valid(form)

    def form_invalid(self, form: Any) -> HttpResponse:
        if "old_password" in form.errors:
            user_login_failed.send(sender=__name__, credentials=self.credentials, request=self.request)
        return super().form_invalid(form)

    @property
    def credentials(self) -> dict[str, str]:
        return {"username": cast(User, self.request.user).username}


@in_readers_language
@require_POST
@login_required
def make_token(request: SignedInRequest) -> HttpResponse:
    """Make an API token and show it, this once."""
    form = TokenForm(request.POST)
    key = ""

    if form.is_valid():
        try:
            _, key = accounts.make_token(user=request.user, at=now(), **form.cleaned_data)
            form = TokenForm()
        except NoToken as refusal:
            form.add_error(None, str(refusal))
    status = 422 if form.errors else 200
    return account_page(request, form=NameForm(instance=request.user), token_form=form, new_token=key, status=status)


@in_readers_language
@require_POST
@login_required
def revoke_token(request: SignedInRequest) -> HttpResponse:
    """End one of the person's tokens."""
    if accounts.revoke_token(user=request.user, digest=request.POST.get("token", "")):
        messages.success(request, gettext("The token no longer works."))
    return redirect("account")


@never_cache
def account_page(
    request: SignedInRequest,
    *,
    form: NameForm | None = None,
    token_form: TokenForm | None = None,
    address_form: AddressForm | None = None,
    new_token: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        "form": form or NameForm(instance=request.user),
        "address_form": address_form or AddressForm(user=request.user),
        "notices_form": NoticesForm(instance=request.user),
        "token_form": token_form or TokenForm(),
        "may_have_tokens": may_have_tokens(request.user),
        "tokens": tokens_of(request.user, at=now()),
        "new_token": new_token,
    }
    return render(request, "account/account.html", context, status=status)


def _invalid_is_422(response: HttpResponseBase) -> HttpResponseBase:
    """A form that Django's views show again was refused."""
    form = (getattr(response, "context_data", None) or {}).get("form")
    if form is not None and form.errors:
        response.status_code = 422
    return response
