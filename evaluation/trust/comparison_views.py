"""The page that compares all judges of a criterion: the best, corrected for the choice, and who can be told apart."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Criterion
from evaluation.parameters.downloads import table_file
from evaluation.parameters.pages import (
    asked_criterion,
    figures_of,
    json_file,
    refused_is_not_found,
    study_and_criterion,
)
from evaluation.trust.comparison import JudgeComparison


@require_safe
@login_required
def judge_comparison(request: SignedInRequest, name: str) -> HttpResponse:
    """All judges of one criterion on the same items."""
    study, criteria, chosen = study_and_criterion(request, name)

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
    found = _asked_for(request, name)
    caption = f"Judges under {found.criterion}, study {name}: κ of yes and no"
    stem = f"{name}-{found.criterion}-judges"
    return table_file({"judges": found.table()}, "judges", table_format=table_format, stem=stem, caption=caption)


def _asked_for(request: SignedInRequest, name: str) -> JudgeComparison:
    return _compared(request, asked_criterion(request, name))


def _compared(request: SignedInRequest, criterion: Criterion) -> JudgeComparison:
    asked = {"criterion": criterion.pk, "against": request.GET.get("against", "")}
    with refused_is_not_found():
        found: JudgeComparison = figures_of(request, "judge_comparison", criterion.study, **asked)
    return found
