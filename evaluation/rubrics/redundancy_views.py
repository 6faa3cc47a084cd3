"""The page that says which passages are required and which redundant, and its qrels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Study
from evaluation.parameters.pages import figures_of, my_study, query_without
from evaluation.rubrics.forms import RedundancyForm

if TYPE_CHECKING:
    from evaluation.rubrics.redundancy import Redundancy


@require_safe
@login_required
def redundancy(request: SignedInRequest, name: str) -> HttpResponse:
    """Each topic's passages by class, by one source's ratings."""
    study = my_study(request, name)
    found, form, refusal = _found(request, study)
    context = {
        "study": study,
        "form": form,
        "found": found,
        "refusal": refusal,
        "chosen": query_without(request, "shown"),
    }
    return render(request, "evaluation/redundancy.html", context, status=422 if refusal or form.errors else 200)


@require_safe
@login_required
def redundancy_qrels(request: SignedInRequest, name: str) -> HttpResponse:
    """The classes as a qrels file."""
    found, _, refusal = _found(request, my_study(request, name))
    if found is None:
        raise Http404(refusal or "No passages have been rated yet.")
    response = HttpResponse(found.qrels, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}-redundancy.qrels"'
    return response


def _found(request: SignedInRequest, study: Study) -> tuple[Redundancy | None, RedundancyForm, str]:
    # They take pandas, which a web process that serves assessors does without.
    from evaluation.rubrics.redundancy import ORDERS
    from stats.ranking.measure_names import NoLeaderboard

    there, runs = figures_of(request, "redundancy_choices", study)
    sources = [(one.name, one.shown) for one in there]
    asked = QueryDict(query_without(request, "shown"))
    form = RedundancyForm(asked or None, sources=sources, orders=ORDERS, runs=runs)
    if not sources or (form.is_bound and not form.is_valid()):
        return None, form, ""
    chosen = form.cleaned_data if form.is_bound else {"source": "", "order": "", "run": ""}
    try:
        found = figures_of(request, "redundancy", study, **chosen | {"order": chosen["order"] or "gain"})
    except NoLeaderboard as refused:
        return None, form, str(refused)
    return found, form, ""
