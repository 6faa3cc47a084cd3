"""The page that holds all judges of a researcher's studies side by side."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from collection.accounts.access import refuse_unless_researcher
from collection.accounts.views import SignedInRequest
from collection.api_tools import user_of
from collection.models import Study
from collection.web.api import chosen_by, shows
from collection.web.cached_results import StillComputing
from collection.web.downloads import table_download
from collection.web.pages import json_file
from evaluation.trust.overview import TrustInJudges, kept_trust_in_judges
from evaluation.trust.overview import trust_in_judges as trust_in_judges_now
from evaluation.trust.serializers import JudgesChoice

CAPTION = "How far each judge agrees with humans"


@require_safe
@login_required
def trust_in_judges(request: SignedInRequest) -> HttpResponse:
    """Every judge beside people, in all of this researcher's studies."""
    refuse_unless_researcher(request.user)
    sort = request.GET.get("sort", "")

    studies = Study.objects.read_by(request.user)
    try:
        found = kept_trust_in_judges(studies, sort=sort)
    except StillComputing:
        found = trust_in_judges_now(studies, sort=sort, measure=False)

    page = "trust_in_judges_table.html" if request.htmx else "trust_in_judges.html"
    return render(request, f"evaluation/{page}", {"found": found, "sort": sort})


@require_safe
@login_required
def trust_in_judges_json(request: SignedInRequest) -> HttpResponse:
    """Everything on the page, as JSON."""
    return json_file(_everything(request).as_dict(), "trust-in-judges.json")


@require_safe
@login_required
def trust_in_judges_table(request: SignedInRequest, table_format: str) -> HttpResponse:
    """The page's table as CSV or LaTeX."""
    table = _everything(request).table()
    return table_download(table, table_format=table_format, stem="trust-in-judges", caption=CAPTION)


def _everything(request: SignedInRequest) -> TrustInJudges:
    refuse_unless_researcher(request.user)
    return kept_trust_in_judges(Study.objects.read_by(request.user), sort=request.GET.get("sort", ""))


@shows("trust_in_judges", "Every judge compared with humans, in all studies of the user.", JudgesChoice)
def trust_in_judges_in_api(request: Request) -> Response:
    user = user_of(request)
    if not user.is_researcher:
        raise NotFound("Only researchers have studies.")
    return Response(kept_trust_in_judges(Study.objects.read_by(user), **chosen_by(request, JudgesChoice)).as_dict())
