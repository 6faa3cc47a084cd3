"""The scores of a leaderboard as evaluation files."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.web.downloads import as_file
from collection.web.pages import refused_is_not_found
from collection.web.report_views import result_of
from evaluation.leaderboards.reports import LeaderboardReport
from evaluation.leaderboards.serializers import WRITTEN_FORMS


@require_safe
@login_required
def leaderboard_evaluation(request: SignedInRequest, name: str) -> HttpResponse:
    """The page's scores as an evaluation file for each source: `form` says in which of the exchanged forms."""
    from evaluation.leaderboards.evaluation_files.values import evaluation_download

    form = request.GET.get("form", "")
    if form not in dict(WRITTEN_FORMS):
        raise Http404("There is no such form.")
    with refused_is_not_found():
        filename, content = evaluation_download(result_of(LeaderboardReport, request, name), form=form)
    return as_file(content, filename.replace("/", "-"), "application/octet-stream")
