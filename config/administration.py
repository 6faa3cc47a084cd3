"""The administrators' site: Django's, behind the same door as everything else."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse


class Site(AdminSite):
    site_header = "Assize"
    site_title = "Assize"
    index_title = "Administration"

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:  # noqa: ARG002
        """Send whoever is not signed in to our own page, which holds back who guesses. To others there is nothing."""
        if request.user.is_authenticated and not self.has_permission(request):
            raise Http404
        return redirect_to_login(request.GET.get("next") or reverse("admin:index"))
