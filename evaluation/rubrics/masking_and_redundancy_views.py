"""The qrels of redundancy, and what grades have masked asked again."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.views.decorators.http import require_POST, require_safe

from collection.accounts.views import SignedInRequest
from collection.masking import unmask_elements
from collection.web.downloads import as_file
from collection.web.file_names import file_stem
from collection.web.pages import my_study
from collection.web.report_views import result_of
from evaluation.rubrics.reports import RedundancyReport

TAKEN_BACK = "Unmasked: the grades no longer decide."


@require_safe
@login_required
def redundancy_qrels(request: SignedInRequest, name: str) -> HttpResponse:
    """The classes as a qrels file."""
    found = result_of(RedundancyReport, request, name)
    return as_file(found.qrels, f"{file_stem(name, found.source.name, 'redundancy')}.qrels", "text/plain")


@require_POST
@login_required
def masking_unmask(request: SignedInRequest, name: str) -> HttpResponse:
    """Have all that the study's grades masked asked again; then back to the page."""
    from evaluation.rubrics.masking import masked_by_grades  # it takes pandas

    elements = [one.element for one in masked_by_grades(my_study(request, name))]
    n = unmask_elements(elements=elements, reason=TAKEN_BACK, by=request.user, at=now())
    messages.success(request, f"{n} unmasked.")
    return redirect("evaluation:masking", name)
