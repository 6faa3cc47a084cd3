"""The page that compares judges of a criterion: whom to trust, and what each makes of the order of systems."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Criterion
from collection.web.downloads import table_file
from collection.web.file_names import file_stem
from collection.web.pages import (
    asked_criterion,
    chart_file,
    figures_of,
    json_file,
    query_without,
    refused_is_not_found,
    study_and_criterion,
)
from evaluation.trust.compared_judges import JudgeComparison

CAPTIONS = {"judges": "Judges beside people", "ranks": "Ranks of systems by people and by each judge"}


@require_safe
@login_required
def judge_comparison(request: SignedInRequest, name: str) -> HttpResponse:
    """Judges of one criterion on the same items."""
    study, criteria, criterion = study_and_criterion(request, name)

    found = _compared(request, criterion) if criterion else None

    context = {"study": study, "criteria": criteria, "criterion": criterion, "found": found}
    if criterion and found:
        # What the address asks for, so that charts and files are of the figures that are kept already.
        context["chosen"] = (
            urlencode({"criterion": criterion.name}) + "&" + query_without(request, "criterion", "shown")
        )
    return render(request, "evaluation/judge_comparison.html", context)


@require_safe
@login_required
def judge_comparison_json(request: SignedInRequest, name: str) -> HttpResponse:
    """Everything on the page, as JSON."""
    found = _asked_for(request, name)
    return json_file(found.as_dict(), f"{file_stem(name, found.criterion.name, 'judges')}.json")


@require_safe
@login_required
def judge_comparison_table(request: SignedInRequest, name: str, table: str, table_format: str) -> HttpResponse:
    """One of the page's tables as CSV or LaTeX: `judges` or `ranks`."""
    found = _asked_for(request, name)
    part = ", development topics" if found.development else ""
    simulated = ", some grades simulated" if found.simulated else ""
    what = f"{CAPTIONS.get(table, '')} under {found.criterion}, study {name}, {found.n_topics} topics{part}{simulated}"
    stem = file_stem(name, found.criterion.name, table)
    return table_file(found.tables(), table, table_format=table_format, stem=stem, caption=what)


@require_safe
@login_required
def judge_comparison_chart(request: SignedInRequest, name: str, chart: str, form: str) -> HttpResponse:
    """A chart: `agreement`, `differences`, or `ranks` of systems, as SVG, PDF or the description it is drawn from."""
    criterion = asked_criterion(request, name)
    with refused_is_not_found():
        drawn = figures_of(request, "judges_chart", criterion.study, chart=chart, **_asked(request, criterion))
    return chart_file(request, drawn, form=form, stem=file_stem(name, criterion.name, chart))


def _asked_for(request: SignedInRequest, name: str) -> JudgeComparison:
    return _compared(request, asked_criterion(request, name))


def _compared(request: SignedInRequest, criterion: Criterion) -> JudgeComparison:
    with refused_is_not_found():
        found: JudgeComparison = figures_of(request, "judge_comparison", criterion.study, **_asked(request, criterion))
    return found


def _asked(request: SignedInRequest, criterion: Criterion) -> dict[str, Any]:
    """Return what the comparison is asked for. Who asks for all judges needs name none."""
    every = request.GET.get("every") == "true"
    return {
        "criterion": criterion.pk,
        "judge": [] if every else request.GET.getlist("judge"),
        "every": every,
        "against": request.GET.get("against", ""),
        "measure": request.GET.get("measure", ""),
    }
