"""The page on which a researcher lets assessors see a judge's grades."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods, require_POST

from annotate.studies.suggestion_forms import SuggestionsForm
from annotate.suggestions.design import (
    DesignRefused,
    design_of_suggestions,
    drawn_so_far,
    end_suggestions,
    set_suggestions,
)
from annotate.suggestions.draw import reach_of
from collection.accounts.views import SignedInRequest
from collection.models import Study


@require_http_methods(["GET", "POST"])
@login_required
def suggestions(request: SignedInRequest, name: str) -> HttpResponse:
    """Which judge's grades assessors are shown, in which share of the tasks, and how."""
    study = get_object_or_404(Study.objects.of(request.user), name=name)
    design = design_of_suggestions(study)
    form = SuggestionsForm(request.POST or None, study=study, design=design)

    if form.is_valid():
        try:
            set_suggestions(
                study=study, judge=form.cleaned_data["judge"], percents=form.percents, by=request.user, at=now()
            )
        except DesignRefused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, "Saved. It applies to tasks that are handed out from now on.")
            return redirect("annotate:suggestions", study.name)

    drawn = drawn_so_far(study)
    context = {
        "study": study,
        "design": design,
        "form": form,
        "reach": reach_of(design) if design else None,
        "drawn": [(arm.label, n) for arm, n in drawn.items()] if any(drawn.values()) else [],
    }
    return render(request, "annotate/suggestions.html", context, status=422 if form.errors else 200)


@require_POST
@login_required
def suggestions_end(request: SignedInRequest, name: str) -> HttpResponse:
    """Suggest nothing any more."""
    study = get_object_or_404(Study.objects.of(request.user), name=name)
    if end_suggestions(study=study):
        messages.success(request, "Nothing is suggested in tasks that are handed out from now on.")
    return redirect("annotate:suggestions", study.name)
