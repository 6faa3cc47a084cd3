"""A bank's workshops, for its researcher, and one workshop with its topics, for all in it."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.workshop.forms import WorkshopForm
from annotate.workshop.progress import topics_with_progress
from annotate.workshop.relevance import relevance_of, relevance_qrels, relevance_table
from annotate.workshop.workshops import (
    NothingToWorkOn,
    WrongPeople,
    close_workshop,
    make_workshop,
    workshops_seen_by,
)
from collection.accounts.views import SignedInRequest
from collection.banks.visibility import part_of, researches, sees_all
from collection.languages.languages import in_readers_language
from collection.models import Collection, WorkshopRelevance
from collection.page_tools import download, telling
from stats.refusals import Refused


@require_http_methods(["GET", "POST"])
@login_required
def workshops(request: SignedInRequest, name: str, bank: str) -> HttpResponse:
    """The bank's workshops; posting opens another."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    found = get_object_or_404(collection.nugget_banks, name=bank)
    form = WorkshopForm(request.POST or None, bank=found, user=request.user)
    if form.is_valid():
        try:
            made = make_workshop(bank=found, by=request.user, at=now(), **form.cleaned_data)
        except (WrongPeople, NothingToWorkOn) as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("annotate:workshop", made.pk)
    listed = found.workshops.select_related("study").prefetch_related("people__user", "topics")
    context = {"collection": collection, "bank": found, "workshops": listed, "form": form}
    return render(request, "annotate/workshop/workshops.html", context, status=422 if form.errors else 200)


@in_readers_language
@require_safe
@login_required
@never_cache
def workshop(request: SignedInRequest, pk: int) -> HttpResponse:
    """The topics of a workshop, and what is left of each for whoever asks."""
    found = get_object_or_404(workshops_seen_by(request.user), pk=pk)
    context = {
        "workshop": found,
        "person": part_of(request.user, found),
        "researches": researches(request.user, found),
        "people": found.people.select_related("user"),
        "topics": topics_with_progress(found, request.user),
        "sees_all": sees_all(request.user, found),
        "n_relevance": WorkshopRelevance.objects.filter(workshop_topic__workshop=found).count(),
    }
    return render(request, "annotate/workshop/workshop.html", context)


@in_readers_language
@require_safe
@login_required
@never_cache
def workshop_relevance_file(request: SignedInRequest, pk: int, form: str) -> HttpResponseBase:
    """The relevance that people judged, as TREC's qrels or as a table person by person."""
    found = get_object_or_404(workshops_seen_by(request.user), pk=pk)
    if not sees_all(request.user, found):
        raise Http404
    said = relevance_of(found)
    if form == "csv":
        return download(relevance_table(said), f"workshop-{pk}-relevance.csv")
    with telling(request, Refused):
        return download(relevance_qrels(said), f"workshop-{pk}.qrels")
    return redirect("annotate:workshop", pk)


@require_POST
@login_required
def workshop_close(request: SignedInRequest, pk: int) -> HttpResponse:
    """End the workshop, as a researcher of its collection."""
    found = get_object_or_404(workshops_seen_by(request.user), pk=pk)
    if not researches(request.user, found):
        raise Http404
    close_workshop(workshop=found, at=now())
    return redirect("annotate:workshop", pk)
