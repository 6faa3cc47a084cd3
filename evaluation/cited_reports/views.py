"""A cited report with its sentences by support and its nuggets beside them."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import DocumentSource
from collection.web.pages import figures_of, my_study, refused_is_not_found


@require_safe
@login_required
def cited_report(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """One report, each sentence by the support of its citations, with the nuggets beside it."""
    study = my_study(request, name)
    with refused_is_not_found():
        found = figures_of(
            request,
            "evaluation.cited_reports.reading:read_report",
            study,
            report=pk,
            source=request.GET.get("source", ""),
        )
    sources = DocumentSource.objects.filter(collection=study.collection_id)
    has_source = any(one.text is None for one in found.documents) and sources.exists()
    context = {"study": study, "found": found, "has_source": has_source}
    return render(request, "evaluation/cited_report.html", context)
