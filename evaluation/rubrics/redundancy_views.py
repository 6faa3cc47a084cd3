"""The page that says which passages are required and which redundant, and its qrels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Study
from evaluation.formats.file_names import file_stem
from evaluation.parameters.downloads import as_file
from evaluation.parameters.pages import figures_of, my_study, query_without
from evaluation.rubrics.forms import RedundancyForm
from stats.refusals import Refused

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
    return as_file(found.qrels, f"{file_stem(name, found.source.name, 'redundancy')}.qrels", "text/plain")


def _found(request: SignedInRequest, study: Study) -> tuple[Redundancy | None, RedundancyForm, str]:
    there, runs = figures_of(request, "redundancy_choices", study)
    sources = [(one.name, one.shown) for one in there]
    form = RedundancyForm(QueryDict(query_without(request, "shown")), sources=sources, runs=runs)
    if not sources or not form.is_valid():
        return None, form, ""
    try:
        return figures_of(request, "redundancy", study, **form.cleaned_data), form, ""
    except Refused as refused:
        return None, form, str(refused)
