"""The page that corrects a judge's scores by people's labels, plans further labels and draws them; declarations."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from collection.accounts.views import SignedInRequest
from collection.judgments.declarations import declarations_of, declare, doubt_about_sample, sources_to_declare
from collection.models import Criterion
from collection.web.downloads import table_file
from collection.web.file_names import file_stem
from collection.web.options import REFUSALS
from collection.web.pages import (
    MOST_LISTED,
    asked_criterion,
    asked_part,
    chart_file,
    criteria_queryset,
    figures_of,
    json_file,
    locked_is_not_found,
    my_study,
    refused_is_not_found,
    study_and_criterion,
)
from evaluation.calibration.forms import CalibrationForm, DeclarationsForm, DrawForm, PlanForm
from evaluation.calibration.planning import draw_next
from evaluation.calibration.report import METHODS, Calibration
from evaluation.data.judgments import load_criterion
from evaluation.data.population import (
    JudgeChoice,
    NothingInSight,
    find_judge,
    judge_choices,
    load_population,
)


@require_safe
@login_required
def calibration(request: SignedInRequest, name: str) -> HttpResponse:
    """One judge's scores under one criterion, corrected by people's labels."""
    study, criteria, chosen = study_and_criterion(request, name)

    choices, measures, form, figures, nothing = _figures(request, chosen)

    query = _query(chosen, form)
    context = {
        "study": study,
        "criteria": criteria,
        "criterion": chosen,
        "choices": choices,
        "form": form,
        "figures": figures,
        "nothing": nothing,
        "methods": METHODS,
        "chosen_anywhere": query,
        "chosen": f"{query}&part=test" if asked_part(request) == "test" else query,
        **(_planning(request, figures, measures, _asked(request, chosen, form)) if chosen and form and figures else {}),
        "most_listed": MOST_LISTED,
    }
    template = "evaluation/calibration.html"
    if request.htmx:
        template = (
            "evaluation/calibration_plan.html"
            if request.htmx.target == "plan"
            else "evaluation/calibration_figures.html"
        )
    wrong = (form and form.errors) or (figures and context["plan_form"].errors)
    return render(request, template, context, status=422 if wrong else 200)


def _planning(
    request: SignedInRequest, figures: Calibration, measures: list[str], asked: dict[str, Any]
) -> dict[str, Any]:
    """Return the forms of the plan and of the next draw, the plan asked for, and scores by the first measure."""
    names = [system.name for system in figures.population.systems]
    criterion = figures.criterion
    form = PlanForm(request.GET if "half_width" in request.GET else None, systems=names, measures=measures)
    found: dict[str, Any] = {
        "plan_form": form,
        "draw_form": DrawForm(),
        "n_undrawn": int(figures.population.undrawn.sum()),
    }
    if measures and figures.population.sight.part != "test":
        of = {"criterion": criterion.pk, "judge": figures.choice.key, "measure": measures[0]}
        found["corrected"] = figures_of(request, "evaluation.computations:corrected_scores", criterion.study, **of)
        found["measure"] = measures[0]
    if form.is_valid():
        chosen = ("measure", "half_width", "system", "first", "second", "difference")
        wanted = {name: form.cleaned_data[name] for name in chosen}
        plans = figures_of(request, "evaluation.computations:label_plans", figures.criterion.study, **wanted, **asked)
        found["interval_plan"], found["separation_plan"] = plans["interval"], plans["separation"]
        for field, reason in plans["refused"].items():
            form.add_error(field, reason)
    return found


@require_POST
@login_required
def label_next(request: SignedInRequest, name: str) -> HttpResponse:
    """Draw the items that people label next; then back to the page, which opens them."""
    study = my_study(request, name)
    criterion = get_object_or_404(criteria_queryset(study), name=request.POST.get("criterion"))
    form = DrawForm(request.POST)
    of_people = load_criterion(criterion)
    choices = judge_choices(of_people)
    with refused_is_not_found():
        choice = find_judge(choices, request.POST.get("judge"))

    if form.is_valid():
        try:
            population = load_population(of_people, choice)
            n = draw_next(population, **form.cleaned_data, judges=choices, at=now())
        except REFUSALS as error:
            form.add_error("n", str(error))
        else:
            messages.success(request, f"{n} items have been drawn. Open them to your assessors below.")
            return redirect(f"{reverse('evaluation:calibration', args=[name])}?{_address(criterion, choice)}#next")

    context = {"study": study, "criterion": criterion, "choice": choice, "draw_form": form}
    return render(request, "evaluation/label_next.html", context, status=422)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def declarations(request: SignedInRequest, name: str) -> HttpResponse:
    """What is declared, and the form that changes it."""
    study = my_study(request, name)
    declared = declarations_of(study)
    sent = request.POST if request.method == "POST" else None
    form = DeclarationsForm(sent, initial=declared, sources=sources_to_declare(study))

    if request.method == "POST" and form.is_valid():
        try:
            declare(study, **form.declared_now)
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            messages.success(request, "The declarations are stored. All figures of the study follow them.")
            return redirect("evaluation:declarations", name)

    context = {"study": study, "form": form, "irrelevant": declared["irrelevant"], "doubt": doubt_about_sample(study)}
    return render(request, "evaluation/declarations.html", context, status=422 if form.errors else 200)


@require_safe
@login_required
def calibration_json(request: SignedInRequest, name: str) -> HttpResponse:
    """Everything on the page, as JSON."""
    figures, _ = _asked_for(request, name)
    return json_file(figures.as_dict(), f"{_stem(figures, 'calibration')}.json")


@require_safe
@login_required
def calibration_table(request: SignedInRequest, name: str, table: str, table_format: str) -> HttpResponse:
    """One of the page's tables, `scores` or `recalibration`, as CSV or LaTeX."""
    figures, _ = _asked_for(request, name)
    sight = figures.population.sight
    caption = f"{table.capitalize()} of {figures.choice.key} under {figures.criterion}, study {name}"
    caption += f", {sight.words}" if sight.words else ""
    stem = _stem(figures, table)
    return table_file(figures.tables(), table, table_format=table_format, stem=stem, caption=caption)


@require_safe
@login_required
def calibration_chart(request: SignedInRequest, name: str, chart: str, form: str) -> HttpResponse:
    """A chart, `recalibration` or `scores`, as SVG, PDF or the Vega-Lite description it is drawn from."""
    figures, asked = _asked_for(request, name)
    found = figures_of(
        request, "evaluation.computations:calibration_chart", figures.criterion.study, chart=chart, **asked
    )
    return chart_file(request, found, form=form, stem=_stem(figures, chart))


def _figures(
    request: SignedInRequest, criterion: Criterion | None
) -> tuple[list[tuple[str, str]], list[str], CalibrationForm | None, Calibration | None, str]:
    """Return the judges' names, the measures to plan for, the form as it was sent, and its figures or why it has none.

    The test part is shown once somebody has read it by POST; before that there is no such page.
    """
    if criterion is None:
        return [], [], None, None, ""
    choices, measures = figures_of(
        request, "evaluation.computations:calibration_choices", criterion.study, criterion=criterion.pk
    )
    if not choices:
        return [], [], None, None, ""
    form = CalibrationForm({"judge": choices[0][0], **request.GET.dict()}, judges=choices)
    if not form.is_valid():
        return choices, measures, form, None, ""
    try:
        with locked_is_not_found():
            asked = _asked(request, criterion, form)
            figures: Calibration = figures_of(request, "evaluation.computations:calibration", criterion.study, **asked)
    except NothingInSight as nothing:
        return choices, measures, form, None, str(nothing)
    return choices, measures, form, figures, ""


def _asked(request: SignedInRequest, criterion: Criterion, form: CalibrationForm) -> dict[str, Any]:
    """Return what the calibration's computation is asked for."""
    chosen = {name: form.cleaned_data[name] for name in ("judge", "label_shift")}
    return {"criterion": criterion.pk, "part": asked_part(request), **chosen}


def _asked_for(request: SignedInRequest, name: str) -> tuple[Calibration, dict[str, Any]]:
    """Return the figures that a download's address asks for, and what their computation was asked for."""
    criterion = asked_criterion(request, name)
    with refused_is_not_found():
        _, _, form, figures, nothing = _figures(request, criterion)
    if form is None or figures is None:
        raise Http404(nothing or "No judge of this name has graded these items.")
    return figures, _asked(request, criterion, form)


def _stem(figures: Calibration, what: str) -> str:
    """Return a download's name, with the judge's in it and the part of a split study."""
    population = figures.population
    return file_stem(
        figures.criterion.study.name, figures.criterion.name, population.choice.key, what, part=population.sight.part
    )


def _query(criterion: Criterion | None, form: CalibrationForm | None) -> str:
    """Return the page's choices as the query of its downloads."""
    if criterion is None or form is None or not form.is_valid():
        return ""
    ticked = {"label_shift": "on"} if form.cleaned_data["label_shift"] else {}
    return urlencode({"criterion": criterion.name, "judge": form.cleaned_data["judge"], **ticked})


def _address(criterion: Criterion, choice: JudgeChoice) -> str:
    return urlencode({"criterion": criterion.name, "judge": choice.key})
