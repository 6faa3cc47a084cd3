"""What people label next, drawn; and what is declared of labels."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods, require_POST

from collection.accounts.views import SignedInRequest
from collection.judgments.declarations import declarations_of, declare, doubt_about_sample, sources_to_declare
from collection.web.options import REFUSALS
from collection.web.pages import criteria_queryset, my_study, refused_is_not_found
from collection.web.report_views import page_of
from evaluation.calibration.forms import DeclarationsForm, DrawForm
from evaluation.calibration.planning import draw_next
from evaluation.calibration.reports import CalibrationReport
from evaluation.data.judgments import load_criterion
from evaluation.data.population import find_judge, judge_choices, load_population


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
            back = urlencode({"criterion": criterion.name, "judge": choice.key})
            return redirect(f"{reverse('evaluation:calibration', args=[name])}?{back}#next")
    return page_of(CalibrationReport, request, name, draw_form=form)


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
