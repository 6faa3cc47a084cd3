"""Where a collection's missing texts come from, what is missing, and fetching it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from collection.accounts.views import SignedInRequest
from collection.documents.fetching import ACTIONS, NotNamed, NotNow, ask_for_one, has_stalled
from collection.documents.forms import SourceForm
from collection.documents.found import FetchFailed
from collection.documents.sources import NoSource, remove_source, source_of
from collection.documents.status import status_of
from collection.models import Collection
from collection.page_tools import telling

FAILURES_A_PAGE = 50
SHOWN = ("kind", "address", "text_field", "title_field", "depth")


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def documents(request: SignedInRequest, name: str) -> HttpResponse:
    """The source, what is missing, and each failure; posting sets the source. htmx asks for the progress alone."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    source = source_of(collection)
    initial = {field: getattr(source, field) for field in SHOWN} if source else None
    form = SourceForm(request.POST or None, collection=collection, initial=initial)

    if form.is_valid() and form.save():
        messages.success(request, "The source is set.")
        return redirect("collection:documents", collection.name)

    failures = collection.document_fetches.exclude(problem="").order_by("passage_id")
    context = {
        "collection": collection,
        "source": source,
        "form": form,
        "status": status_of(collection, source),
        "stalled": source is not None and has_stalled(source, at=now()),
        "failures": Paginator(failures, FAILURES_A_PAGE).get_page(request.GET.get("page")),
    }
    if request.htmx and (source is None or source.state != source.State.FETCHING):
        return HttpResponseClientRefresh()  # it ended while the page looked on: its failures are listed below
    template = "collection/documents_progress.html" if request.htmx else "collection/documents.html"
    return render(request, template, context, status=422 if form.errors else 200)


@require_POST
@login_required
def documents_fetch(request: SignedInRequest, name: str) -> HttpResponse:
    """Start, pause or resume fetching what is missing; or remove the source."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    action = request.POST.get("action", "")
    if action == "remove":
        remove_source(collection=collection)
        messages.success(request, "The source is removed. Texts that were fetched are kept.")
    elif action in ACTIONS:
        with telling(request, NoSource, NotNow):
            ACTIONS[action](collection=collection, at=now())
    else:
        raise Http404
    return redirect("collection:documents", collection.name)


@require_POST
@login_required
def document(request: SignedInRequest, name: str) -> HttpResponse:
    """Fetch one document that is opened for the first time, and show it: htmx in its place, others where they were."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    docno = request.POST.get("docno", "")

    told = messages.INFO
    try:
        kept = ask_for_one(collection=collection, docno=docno)
    except (NoSource, NotNamed, FetchFailed) as refused:
        said, told = str(refused), messages.ERROR
    else:
        if kept is None:
            said = f"A worker is fetching “{docno}”. Look again in a moment."
        else:
            said = f"The text of “{docno}” is {'fetched' if kept else 'here already'}."

    if request.htmx:
        passage = collection.passages.filter(passage_id=docno, text__isnull=False).first()
        context = {"collection": collection, "docno": docno, "passage": passage, "said": said}
        return render(request, "collection/document_fetched.html", context)
    messages.add_message(request, told, said)
    back = request.POST.get("back", "")
    ours = url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return redirect(back if ours else "collection:documents", *([] if ours else [collection.name]))
