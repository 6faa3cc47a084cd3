"""The page that compares all judges of a criterion: the best, corrected for the choice, and who can be told apart."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Criterion
from evaluation.parameters.downloads import TABLE_FORMATS, table_file
from evaluation.parameters.pages import (
    chosen_criterion,
    criteria_of,
    criteria_queryset,
    figures_of,
    json_file,
    my_study,
    refused_is_not_found,
)
from evaluation.trust.comparison import JudgeComparison


@require_safe
@login_required
def judge_comparison(request: SignedInRequest, name: str) -> HttpResponse:
    """All judges of one criterion on the same items."""
    study = my_study(request, name)
    criteria = criteria_of(study)
    chosen = chosen_criterion(criteria, request.GET.get("criterion"))

    found = _compared(request, chosen) if chosen else None

    context = {"study": study, "criteria": criteria, "criterion": chosen, "found": found}
    if chosen and found:
        context["chosen"] = urlencode({"criterion": chosen.name, "against": found.against})
    return render(request, "evaluation/judge_comparison.html", context)


@require_safe
@login_required
def judge_comparison_json(request: SignedInRequest, name: str) -> HttpResponse:
    """Everything on the page, as JSON."""
    found = _asked_for(request, name)
    return json_file(found.as_dict(), f"{name}-{found.criterion}-judges.json")


@require_safe
@login_required
def judge_comparison_table(request: SignedInRequest, name: str, table_format: str) -> HttpResponse:
    """The page's table as CSV or LaTeX."""
    if table_format not in TABLE_FORMATS:
        raise Http404("This table does not exist.")
    found = _asked_for(request, name)
    caption = f"Judges under {found.criterion}, study {name}: κ of yes and no"
    return table_file(
        found.table(), table_format=table_format, stem=f"{name}-{found.criterion}-judges", caption=caption
    )


def _asked_for(request: SignedInRequest, name: str) -> JudgeComparison:
    criterion = get_object_or_404(criteria_queryset(my_study(request, name)), name=request.GET.get("criterion"))
    return _compared(request, criterion)


def _compared(request: SignedInRequest, criterion: Criterion) -> JudgeComparison:
    asked = {"criterion": criterion.pk, "against": request.GET.get("against", "")}
    with refused_is_not_found():
        found: JudgeComparison = figures_of(request, "judge_comparison", criterion.study, **asked)
    return found
