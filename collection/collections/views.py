"""The researcher's collections: what is in them and who shares them."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from collection.accounts.access import refuse_unless_researcher
from collection.accounts.views import SignedInRequest
from collection.collections.contents import (
    MOST_PASSAGES,
    collections_with_counts,
    counts,
    elements_by_kind,
    judgments_held,
    maskings_of,
    ranking_of,
    runs_that_rank,
    runs_with_counts,
    studies_with_counts,
    topics_with_counts,
)
from collection.collections.forms import CollectionForm, InviteForm, MaskingForm
from collection.collections.sharing import dismiss_researcher, make_collection
from collection.formats.cited_reports.tracks import TRACKS
from collection.formats.requests import EXCHANGED
from collection.models import Collection, CollectionInvitation, DocumentSource, Report

TOPICS_A_PAGE = 50


@require_safe
@login_required
def collections(request: SignedInRequest) -> HttpResponse:
    """The collections that this researcher made or shares, and those that they are invited to."""
    refuse_unless_researcher(request.user)
    mine = collections_with_counts(Collection.objects.of(request.user))
    invited = CollectionInvitation.objects.to(request.user, at=now()).select_related("collection", "invited_by")
    return render(request, "collection/collections.html", {"collections": mine, "invitations": invited})


@require_http_methods(["GET", "POST"])
@login_required
def collection_new(request: SignedInRequest) -> HttpResponse:
    """A new collection; posting makes it and goes on to its first import."""
    refuse_unless_researcher(request.user)
    form = CollectionForm(request.POST or None)

    if form.is_valid():
        collection = make_collection(**form.cleaned_data, owner=request.user)
        messages.success(request, f"The collection “{collection}” is created. It is empty: import something.")
        return redirect("collection:import_page", collection.name)

    return render(request, "collection/collection_new.html", {"form": form}, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
@login_required
def collection(request: SignedInRequest, name: str) -> HttpResponse:
    """One collection with its topics, runs and studies; posting invites a researcher."""
    collection = get_object_or_404(Collection.objects.of(request.user).select_related("owner"), name=name)
    form = InviteForm(request.POST or None, collection=collection)

    if form.is_valid():
        form.save(by=request.user, at=now())
        if not form.errors:
            username = form.cleaned_data["username"]
            messages.success(
                request, f"If there is a researcher “{username}”, they find the invitation under Collections."
            )
            return redirect("collection:collection", collection.name)

    held = judgments_held(collection)
    runs = runs_with_counts(collection)
    context = {
        "collection": collection,
        "counts": [*counts(collection), ("judgments", sum(one.n for one in held))],
        "held": held,
        "topics": Paginator(topics_with_counts(collection), TOPICS_A_PAGE).get_page(request.GET.get("page")),
        "runs": runs,
        "pools": [run for run in runs if run.ranked_count],
        "with_reports": [run for run in runs if run.report_count],
        "exchanged": EXCHANGED,
        "tracks": TRACKS,
        "studies": studies_with_counts(collection),
        "researchers": collection.researchers.order_by("username"),
        "invitations": collection.invitations.pending(at=now()),
        "form": form,
        "one_text": Report.objects.filter(run__collection=collection, sentences=None).exclude(text="").count(),
        "has_banks": collection.nugget_banks.exists(),
    }
    return render(request, "collection/collection.html", context, status=422 if form.errors else 200)


@require_POST
@login_required
def dismissal(request: SignedInRequest, name: str, username: str) -> HttpResponse:
    """Take the collection away from an invited researcher; they may also leave themselves."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    if collection.owner_id != request.user.pk and username != request.user.username:
        raise Http404

    dismiss_researcher(collection=collection, username=username)

    messages.success(request, f"{username} no longer has access to “{collection}”.")
    if username == request.user.username:
        return redirect("collection:collections")
    return redirect("collection:collection", collection.name)


@require_http_methods(["GET", "POST"])
@login_required
def topic(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """One topic: its request, its rubric elements, the reports on it, and one run's ranking.

    Posting masks some of its elements, or has them asked again.
    """
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    topic = get_object_or_404(collection.topics.select_related("collection"), pk=pk)
    form = MaskingForm(request.POST or None, topic=topic)

    if form.is_valid():
        n = form.save(by=request.user, at=now())
        if not form.errors:
            done = "masked" if form.cleaned_data["action"] == MaskingForm.MASK else "unmasked"
            messages.success(request, f"{n} {done}. Scores are computed without masked elements; judgments are kept.")
            return redirect("collection:topic", collection.name, topic.pk)

    runs = list(runs_that_rank(topic))
    run = next((run for run in runs if run.name == request.GET.get("run")), runs[0] if runs else None)
    ranking = ranking_of(run, topic) if run else []
    lacks_texts = any(passage is None or passage.text is None for _, passage in ranking)
    context = {
        "collection": collection,
        "topic": topic,
        "form": form,
        "kinds": elements_by_kind(topic),
        "maskings": maskings_of(topic),
        "reports": topic.reports.select_related("run__system").order_by("run__name"),
        "runs": runs,
        "run": run,
        "ranking": ranking,
        "most": MOST_PASSAGES,
        "has_source": lacks_texts and DocumentSource.objects.filter(collection=collection).exists(),
    }
    return render(request, "collection/topic.html", context, status=422 if form.errors else 200)
