"""The page that says how far two sets of nuggets agree, with the matched pairs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.views.decorators.http import require_POST, require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Collection, User
from collection.web.pages import query_without
from evaluation.agreement.nuggets.forms import NuggetAgreementForm
from stats.plurals import counted
from stats.refusals import Refused

if TYPE_CHECKING:
    from evaluation.agreement.nuggets.report import ComparedSets


@require_safe
@login_required
def nugget_agreement(request: SignedInRequest, name: str) -> HttpResponse:
    """Two sets of nuggets, how far they agree, and the nuggets of one topic, matched."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    form, n_sets = _form(request, collection)
    found, refusal = _compared(form, collection, request.user) if n_sets > 1 else (None, "")
    topic = None
    if found:
        chosen = request.GET.get("topic") or found.by_topic[0].topic
        topic = next((one for one in found.by_topic if one.topic == chosen), None)
        if topic is None:
            raise Http404
    context = {
        "collection": collection,
        "form": form,
        "n_sets": n_sets,
        "found": found,
        "refusal": refusal,
        "topic": topic,
        "topics": found.topics(query_without(request, "topic")) if found else None,
    }
    status = 422 if refusal or form.errors else 200
    return render(request, "evaluation/nugget_agreement.html", context, status=status)


def _form(request: SignedInRequest, collection: Collection) -> tuple[NuggetAgreementForm, int]:
    """Return the form with what was chosen, else with two sets to begin with; and how many sets there are."""
    from evaluation.agreement.nuggets.sets import set_choices, usual_sets
    from stats.agreement.nugget_sets import THRESHOLD

    listed = set_choices(collection, request.user)
    usual = dict(zip(("first", "second"), usual_sets(collection, request.user) or (), strict=False))
    data = {**NuggetAgreementForm.usual(), "threshold": str(THRESHOLD), **usual}
    data |= {key: value for key, value in request.GET.dict().items() if key in NuggetAgreementForm.asked and value}
    return NuggetAgreementForm(data, choices={"first": listed, "second": listed}), len(listed)


def _compared(form: NuggetAgreementForm, collection: Collection, user: User) -> tuple[ComparedSets | None, str]:
    from evaluation.agreement.nuggets.report import compare_sets

    if not form.is_valid():
        return None, ""
    try:
        return compare_sets(collection, user=user, **form.cleaned_data), ""
    except Refused as refused:
        return None, str(refused)


@require_POST
@login_required
def nuggets_as_reports(request: SignedInRequest, name: str) -> HttpResponse:
    """Write a set out as the reports of a new run, for a study that asks which nuggets it has."""
    from evaluation.agreement.nuggets.listing import list_as_reports

    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    try:
        made = list_as_reports(
            collection, request.POST.get("set", ""), run=request.POST.get("run", ""), by=request.user, at=now()
        )
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("evaluation:nugget_agreement", collection.name)
    messages.success(
        request,
        f"{counted(made.reports.count(), 'reports')} of the run “{made}” list them. Let a study ask about this run "
        "alone: nugget support for nuggets, key points in answers for key points.",
    )
    return redirect(f"{reverse('annotate:study_new')}?collection={collection.name}")
