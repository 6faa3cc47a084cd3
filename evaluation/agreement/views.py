"""The page that says how far people agree, and how far a judge agrees with them."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Criterion
from collection.web.downloads import table_file
from collection.web.file_names import file_stem
from collection.web.pages import (
    chart_file,
    criteria_queryset,
    figures_of,
    json_file,
    my_study,
    study_and_criterion,
)
from evaluation.data.judge_pairs import is_graded_version
from evaluation.data.text_level import roll_ups_of

CAPTIONS = {
    "coefficients": "Agreement between assessors with 95 % intervals",
    "pairs": "Cohen’s κ of each pair of assessors",
    "assessors": "Grades by assessor",
    "judges": "Judges compared with humans",
    "coverage": "Coverage of each text",
    "answers": "ROUGE-L of each pair of written answers",
}


@require_safe
@login_required
def agreement(request: SignedInRequest, name: str) -> HttpResponse:
    """One criterion's figures; without a choice, those of the first that people have judged."""
    study, criteria, chosen = study_and_criterion(request, name)

    figures = figures_of(request, "evaluation.computations:agreement", study, criterion=chosen.pk) if chosen else None
    roll_ups = roll_ups_of(chosen) if chosen and figures and not figures.judges else []

    yes_no = [one for one in criteria if chosen and is_graded_version(chosen, of=one)]

    context = {"study": study, "criteria": criteria, "criterion": chosen, "figures": figures}
    return render(request, "evaluation/agreement.html", context | {"roll_ups": roll_ups, "yes_no": yes_no})


def _criterion(request: SignedInRequest, name: str, criterion: str) -> Criterion:
    """Return the criterion if its study is this user's."""
    return get_object_or_404(criteria_queryset(my_study(request, name)), name=criterion)


@require_safe
@login_required
def coverage_chart(request: SignedInRequest, name: str, criterion: str, form: str) -> HttpResponse:
    """The chart of people's coverage against each judge's, as SVG, PDF or the description it is drawn from."""
    chosen = _criterion(request, name, criterion)
    chart = figures_of(request, "evaluation.computations:coverage", chosen.study, criterion=chosen.pk)
    nothing = "No judge has graded texts with several items that assessors judged."
    return chart_file(request, chart, form=form, stem=file_stem(name, criterion, "coverage"), nothing=nothing)


@require_safe
@login_required
def agreement_json(request: SignedInRequest, name: str, criterion: str) -> HttpResponse:
    """Everything on the page, as JSON."""
    chosen = _criterion(request, name, criterion)
    figures = figures_of(request, "evaluation.computations:agreement", chosen.study, criterion=chosen.pk)
    return json_file(figures.as_dict(), f"{file_stem(name, criterion, 'agreement')}.json")


@require_safe
@login_required
def agreement_table(request: SignedInRequest, name: str, criterion: str, table: str, table_format: str) -> HttpResponse:
    """One of the page's tables: `coefficients`, `pairs`, `assessors`, `judges` or `coverage`, as CSV or LaTeX."""
    chosen = _criterion(request, name, criterion)
    tables = figures_of(request, "evaluation.computations:agreement", chosen.study, criterion=chosen.pk).tables()
    caption = f"{CAPTIONS.get(table, table.capitalize())}, study {name}, criterion {criterion}"
    return table_file(tables, table, table_format=table_format, stem=file_stem(name, criterion, table), caption=caption)
