"""The page that masks the rubric elements which nothing fulfils by a source's grades, and takes that back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods

from collection.accounts.views import SignedInRequest
from collection.masking import unmask_elements
from collection.models import Study
from collection.web.cached_results import compute_now
from collection.web.pages import figures_of, my_study, query_without
from evaluation.rubrics.forms import MaskingByGradesForm
from stats.refusals import Refused

if TYPE_CHECKING:
    from evaluation.rubrics.masking import MaskingByGrades

MOST_LISTED = 200
TAKEN_BACK = "Unmasked: the grades no longer decide."


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def masking(request: SignedInRequest, name: str) -> HttpResponse:
    """What a source's grades leave unfulfilled; posting masks it, or has what was masked so asked again."""
    from evaluation.rubrics.masking import mask_unfulfilled, masked_by_grades

    study = my_study(request, name)
    found, form, refusal = _found(request, study)

    if request.method == "POST" and "unmask" in request.POST:
        elements = [one.element for one in masked_by_grades(study)]
        n = unmask_elements(elements=elements, reason=TAKEN_BACK, by=request.user, at=now())
        messages.success(request, f"{n} unmasked.")
        return redirect("evaluation:masking", name)
    if request.method == "POST" and found and form.is_valid():
        n = mask_unfulfilled(found, reason=form.cleaned_data["reason"], by=request.user, at=now())
        messages.success(request, f"{n} masked. Scores are computed without them; judgments are kept.")
        return redirect("evaluation:masking", name)

    context = {
        "study": study,
        "form": form,
        "found": found,
        "refusal": refusal,
        "masked": masked_by_grades(study),
        "most_listed": MOST_LISTED,
    }
    return render(request, "evaluation/masking.html", context, status=422 if refusal or form.errors else 200)


def _found(request: SignedInRequest, study: Study) -> tuple[MaskingByGrades | None, MaskingByGradesForm, str]:
    """Return what the chosen grades say, with the form; and why they say nothing where something was chosen."""
    there, runs = _figures(request, "evaluation.computations:masking_choices", study)
    sent = request.POST if request.method == "POST" else QueryDict(query_without(request, "shown"))
    sources = [(f"{one.criterion.name}:{one.name}", f"{one.shown}, {one.criterion.name}") for one in there]
    form = MaskingByGradesForm(sent, sources=sources, runs=runs)
    if not there or not form.is_valid():
        return None, form, ""
    criterion, _, source = form.cleaned_data["source"].partition(":")
    try:
        found = _figures(
            request,
            "evaluation.computations:masking",
            study,
            source=source,
            criterion=criterion,
            run=form.cleaned_data["run"],
        )
    except Refused as refused:
        return None, form, str(refused)
    return found, form, ""


def _figures(request: SignedInRequest, kind: str, study: Study, **asked: Any) -> Any:
    """Return these figures; what is posted waits for no worker, and computes what is not kept."""
    return compute_now(kind, study, **asked) if request.method == "POST" else figures_of(request, kind, study, **asked)
