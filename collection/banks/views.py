"""A collection's nugget banks: what is in each version, and what changed between two."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.banks.contents import banks_with_counts, nuggets_of, topics_of, version_numbered, versions_with_counts
from collection.banks.versions import changes_between
from collection.formats.nugget_banks import FORMS
from collection.models import Collection


@require_safe
@login_required
def banks(request: SignedInRequest, name: str) -> HttpResponse:
    """The collection's banks."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    listed = banks_with_counts(collection)
    return render(request, "collection/banks.html", {"collection": collection, "banks": listed})


@require_safe
@login_required
def bank(request: SignedInRequest, name: str, bank: str) -> HttpResponse:
    """One bank: a version's nuggets of one topic, and what changed in it since another version."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    found = get_object_or_404(collection.nugget_banks, name=bank)
    versions = versions_with_counts(found)
    version = version_numbered(versions, request.GET.get("version", ""), versions[0] if versions else None)
    if version is None:
        raise Http404
    earlier = next((one for one in versions if one.number < version.number), None)
    before = version_numbered(versions, request.GET.get("before", ""), earlier)
    topics = list(topics_of(version))
    chosen = request.GET.get("topic", "")
    topic = next((one for one in topics if one.topic_id == chosen), None if chosen else next(iter(topics), None))
    if (chosen and topic is None) or (request.GET.get("before") and before is None):
        raise Http404
    context = {
        "collection": collection,
        "bank": found,
        "versions": versions,
        "version": version,
        "before": before,
        "topics": topics,
        "topic": topic,
        "nuggets": nuggets_of(version, topic) if topic else [],
        "changes": changes_between(before, version) if before and before != version else [],
        "forms": FORMS,
    }
    return render(request, "collection/bank.html", context)
