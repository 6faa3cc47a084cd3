"""Signing in and out, where each goes from there, and a person's own account."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh
from django_htmx.middleware import HtmxDetails
from rest_framework.authtoken.models import Token

from collection.accounts import renew_token, withdraw_token
from collection.models import User


class SignedInRequest(HttpRequest):
    """A request that passed `login_required`."""

    user: User
    htmx: HtmxDetails


class NameForm(forms.ModelForm[User]):
    class Meta:
        model = User
        fields = ["first_name", "last_name", "email"]


@require_safe
@login_required
def home(request: SignedInRequest) -> HttpResponse:
    """Send researchers to their studies and assessors to their work."""
    return redirect("annotate:studies" if request.user.is_researcher else "annotate:queue")


def sign_in(request: HttpRequest) -> HttpResponseBase:
    """Ask who it is.

    htmx comes here by a redirect, when a session ran out under an open page. It would paste this page
    into that one; told to load the whole page anew, it comes back to where it was after the sign-in.
    """
    if request.headers.get("HX-Request"):
        return HttpResponseClientRefresh()
    view = auth_views.LoginView.as_view(
        template_name="account/sign_in.html",
        redirect_authenticated_user=True,
        extra_context={"demonstration": settings.DEMONSTRATION},
    )
    return _invalid_is_422(view(request))


def sign_out(request: HttpRequest) -> HttpResponseBase:
    return auth_views.LogoutView.as_view()(request)


@require_http_methods(["GET", "POST"])
@login_required
def account(request: SignedInRequest) -> HttpResponse:
    """Show who is signed in, and change the name."""
    form = NameForm(request.POST or None, instance=request.user)

    if form.is_valid():
        form.save()
        messages.success(request, "Your name is saved.")
        return redirect("account")

    return _account_page(request, form=form, status=422 if form.errors else 200)


def password(request: HttpRequest) -> HttpResponseBase:
    """Change the password; every other browser of this person is signed out."""
    view = PasswordChange.as_view(template_name="account/password.html", success_url=reverse_lazy("account"))
    return _invalid_is_422(view(request))


class PasswordChange(auth_views.PasswordChangeView):
    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, "Your password is changed.")
        return super().form_valid(form)


@require_POST
@login_required
def make_token(request: SignedInRequest) -> HttpResponse:
    """Make an API token and show it, this once."""
    key = renew_token(user=request.user)

    return _account_page(request, form=NameForm(instance=request.user), new_token=key)


@require_POST
@login_required
def revoke_token(request: SignedInRequest) -> HttpResponse:
    withdraw_token(user=request.user)

    messages.success(request, "The token does not work any more.")
    return redirect("account")


@never_cache
def _account_page(request: SignedInRequest, *, form: NameForm, new_token: str = "", status: int = 200) -> HttpResponse:
    token = Token.objects.filter(user=request.user).first()
    context = {"form": form, "token": token, "new_token": new_token}
    return render(request, "account/account.html", context, status=status)


def _invalid_is_422(response: HttpResponseBase) -> HttpResponseBase:
    """A form that Django's views show again was refused."""
    form = (getattr(response, "context_data", None) or {}).get("form")
    if form is not None and form.errors:
        response.status_code = 422
    return response
