"""The head of a study's page: what to do next, and how the work goes."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.auth.decorators import login_required
from django.db.models import Max
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import localdate, now
from django.views.decorators.http import require_safe

from annotate.models import Assignment
from annotate.overview.computations import before_judgments
from collection.accounts import access
from collection.accounts.views import SignedInRequest
from collection.models import Study
from collection.web.cached_results import recent_result

# A browser asks again after so many seconds: while people work, and where they may begin to.
SECONDS_AT_WORK, SECONDS_AT_REST = 15, 120
AT_WORK_FOR = timedelta(minutes=15)


@require_safe
@login_required
def overview(request: SignedInRequest, name: str) -> HttpResponse:
    """The part itself, for htmx, which gets nothing where nothing changed; others are sent to the whole page."""
    study = access.study_of(request.user, name)
    if not request.htmx:
        return redirect("annotate:study", study.name)

    context = {"study": study, "ask_again": seconds_between(study)}
    if found := before_judgments(study):
        return render(request, "annotate/overview.html", context | {"found": found})

    kept, computed, _ = recent_result(
        "annotate.overview.computations:overview",
        study,
        shown=request.GET.getlist("shown"),
        day=localdate().isoformat(),
    )
    seen = f"{computed:.3f}"
    if request.GET.get("seen") == seen:
        return HttpResponse(status=204)

    return render(request, "annotate/overview.html", context | {"found": kept, "seen": seen})


def seconds_between(study: Study) -> int | None:
    """Return after how many seconds it is worth to ask again; None where nobody can work."""
    if study.state not in (Study.State.OPEN, Study.State.PAUSED):
        return None
    assignments = Assignment.objects.filter(task__study=study)
    touched: datetime | None = assignments.aggregate(last=Max("touched_at"))["last"]
    at_work = touched is not None and now() - touched < AT_WORK_FOR
    return SECONDS_AT_WORK if at_work else SECONDS_AT_REST
