"""The page on which a researcher states the model families of judges and systems."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from collection.accounts.views import SignedInRequest
from collection.web.pages import my_study
from evaluation.data.model_families import state_families, systems_of
from evaluation.data.rater_names import marked_judges_of
from evaluation.trust.forms import FamiliesForm


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def families(request: SignedInRequest, name: str) -> HttpResponse:
    """Everybody's family, to be stated."""
    study = my_study(request, name)
    judges, systems = marked_judges_of(study), systems_of(study)
    form = FamiliesForm(request.POST or None, judges=judges, systems=systems)

    if request.method == "POST" and form.is_valid():
        n = state_families(study=study, judges=form.families("judge"), systems=form.families("system"))
        messages.success(request, f"{n} changed." if n else "Nothing was changed.")
        return redirect("evaluation:families", name)

    context = {"study": study, "form": form, "judges": judges, "systems": systems}
    return render(request, "evaluation/families.html", context, status=422 if form.errors else 200)
