"""The page that says what suggesting a judge's grades did to labels."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.web.pages import figures_of, my_study, query_without
from evaluation.trust.forms import EffectsForm
from stats.refusals import Refused


@require_safe
@login_required
def suggestion_effects(request: SignedInRequest, name: str) -> HttpResponse:
    """The arms of a study's suggestions side by side."""
    study = my_study(request, name)
    there = figures_of(request, "evaluation.computations:suggested", study)
    form = EffectsForm(
        QueryDict(query_without(request, "shown")),
        choices={kind: [(one, one) for one in dict.fromkeys(there[kind])] for kind in ("criterion", "judge")},
    )
    found, refusal = None, ""
    if there["criterion"] and form.is_valid():
        try:
            found = figures_of(request, "evaluation.computations:suggestion_effects", study, **form.cleaned_data)
        except Refused as refused:
            refusal = str(refused)
    context = {"study": study, "form": form, "found": found, "refusal": refusal, "there": there["criterion"]}
    status = 422 if form.errors or (refusal and any(form.cleaned_data.values())) else 200
    return render(request, "evaluation/suggestion_effects.html", context, status=status)
