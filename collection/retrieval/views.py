"""Making runs from a collection's passages, and following how far they are."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from collection.accounts.views import SignedInRequest
from collection.http import shown
from collection.models import Collection
from collection.page_tools import telling
from collection.retrieval.forms import FORMS
from collection.retrieval.in_words import what_is_ranked
from collection.retrieval.jobs import NotAtWork, ask_stalled_again, start_retrieval, stop_retrieval
from collection.retrieval.samples import sample_contexts
from stats.plurals import counted
from stats.refusals import Refused

MOST_SHOWN = 50


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def retrieval(request: SignedInRequest, name: str) -> HttpResponse:
    """The runs that were made here, and the form for another one. htmx asks for the progress alone."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    method = request.POST.get("method", "bm25")
    if method not in FORMS:
        raise Http404
    forms = {
        name: kind((request.POST or None) if name == method else None, auto_id=f"id_{name}_%s")
        for name, kind in FORMS.items()
    }
    form = forms[method]

    if form.is_valid():
        try:
            _make(request, collection, method, form.cleaned_data)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("collection:retrieval", collection.name)

    retrievals = list(collection.retrievals.select_related("run")[:MOST_SHOWN])
    ask_stalled_again(at=now(), among=retrievals)
    at_work = any(one.state == one.State.AT_WORK for one in retrievals)
    if request.htmx and not at_work:
        return HttpResponseClientRefresh()
    context = {"collection": collection, "forms": forms, "retrievals": retrievals, "at_work": at_work}
    if request.htmx:
        return render(request, "collection/retrieval_progress.html", context)
    context |= {"in_words": what_is_ranked(collection), "embedding_server": shown(settings.EMBED_BASE_URL)}
    return render(request, "collection/retrieval.html", context, status=422 if form.errors else 200)


def _make(request: SignedInRequest, collection: Collection, method: str, options: dict[str, Any]) -> None:
    """Draw contexts now, or have a worker make a run. Raises Refused."""
    if method == "sample":
        made = sample_contexts(collection=collection, at=now(), **options)
        messages.success(request, f"{counted(len(made), 'runs')} are made: “{made[0].name}” to “{made[-1].name}”.")
    else:
        start_retrieval(collection=collection, user=request.user, method=method, options=options, at=now())


@require_POST
@login_required
def retrieval_stop(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Stop one that is under way."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    one = get_object_or_404(collection.retrievals, pk=pk)

    with telling(request, NotAtWork):
        stop_retrieval(one, at=now())
        messages.success(request, f"“{one.run_name}” is stopped: there is no run.")
    return redirect("collection:retrieval", collection.name)
