"""The part of a study's first screen that is about its judgments; also a page of its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.timezone import now
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Judgment, Study
from collection.web.cached_results import recent_result
from collection.web.pages import my_study

# A browser asks again after so many seconds: while judgments come in, and where they may.
SECONDS_AT_WORK, SECONDS_AT_REST = 30, 300
AT_WORK_FOR = timedelta(minutes=15)


@require_safe
@login_required
def dashboard(request: SignedInRequest, name: str) -> HttpResponse:
    """Who judged how much, how far people agree, and judges beside them. htmx gets nothing where nothing changed."""
    study = my_study(request, name)
    page = "evaluation/dashboard_part.html" if request.htmx else "evaluation/dashboard.html"
    if not Judgment.objects.filter(criterion__study=study).exists():  # no worker is needed to say so
        return render(request, page, {"study": study, "ask_again": seconds_between(study, None)})

    figures, computed, is_current = recent_result(
        "evaluation.dashboard.figures:measure_dashboard", study, shown=request.GET.getlist("shown")
    )
    seen = f"{computed:.3f}"
    if request.htmx and request.GET.get("seen") == seen:
        return HttpResponse(status=204)

    context = {
        "study": study,
        "found": figures,
        "seen": seen,
        "as_of": None if is_current else datetime.fromtimestamp(computed, UTC),
        "ask_again": seconds_between(study, figures.last),
    }
    return render(request, page, context)


def seconds_between(study: Study, last: datetime | None) -> int | None:
    """Return after how many seconds it is worth to ask again; None where nobody is expected to judge."""
    if last is not None and now() - last < AT_WORK_FOR:
        return SECONDS_AT_WORK
    return SECONDS_AT_REST if study.state == Study.State.OPEN else None
