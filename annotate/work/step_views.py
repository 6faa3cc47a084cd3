"""Going on to the second step of a task, which shows what the first must do without."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.timezone import now
from django.views.decorators.http import require_POST

from annotate.assignments.assignments import Unfinished, reveal_passages
from annotate.assignments.errors import AssignmentReturned, NotAsked, StudyClosed
from annotate.assignments.task_page import screen_of
from annotate.work.views import mine, render_screen, save_form
from collection.accounts.views import SignedInRequest


@require_POST
@login_required
def reveal(request: SignedInRequest, pk: int) -> HttpResponse:
    """Save what the form of the first step holds, fix it, and show the passages."""
    assignment = get_object_or_404(mine(request), pk=pk)
    refused = save_form(screen_of(assignment), request.POST)
    if not refused:
        try:
            reveal_passages(assignment=assignment, at=now())
        except (Unfinished, AssignmentReturned, StudyClosed, NotAsked) as refusal:
            refused = str(refusal)
    if refused:
        return render_screen(request, screen_of(assignment), refusal=refused, status=422)
    return redirect("annotate:assignment", pk=pk)
