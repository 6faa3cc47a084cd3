"""The history of each key fact of a build: where it was extracted, who else says it, what became of it."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Collection, Topic
from judging.building.calls import pipeline_of
from judging.building.key_facts.histories import histories

TOPICS_A_PAGE = 10


@require_safe
@login_required
def build_facts(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Every key fact of a build, topic by topic."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    build = get_object_or_404(collection.builds, pk=pk)
    if not pipeline_of(build).gathers_facts:
        raise Http404
    topics = Topic.objects.filter(pk__in=build.options["topics"]).order_by("pk")
    page = Paginator(topics, TOPICS_A_PAGE).get_page(request.GET.get("page"))
    listed = list(page)
    facts = histories(build, listed)
    rows = [(topic, facts[topic.pk]) for topic in listed]
    context = {"collection": collection, "build": build, "page": page, "rows": rows}
    return render(request, "judging/build_facts.html", context)
