"""One assignment: its page, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.cache import add_never_cache_headers, patch_cache_control
from django.utils.timezone import now
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from annotate.assignments.assignments import AHEAD, Unfinished, reveal_passages, submit_assignment
from annotate.assignments.errors import TAKES_CHOICES, AssignmentReturned, NotAsked, StudyClosed
from annotate.assignments.guideline_reading import note_reading
from annotate.assignments.task_page import screen_of
from annotate.models import Assignment
from annotate.quality.gates import next_gate
from annotate.sessions.outcomes import address_once_over
from annotate.suggestions.shown import note_decision
from annotate.work.addresses import (
    addresses_of,
)
from annotate.work.mine import mine_or_404
from annotate.work.next_work import next_work
from annotate.work.posted_forms import save_form
from annotate.work.queue_views import redirect_to_next
from annotate.work.saving import drop_changes
from annotate.work.screens import render_screen
from annotate.work.turns import in_turn
from collection.accounts.views import SignedInRequest
from collection.languages.languages import in_readers_language

SECONDS_AHEAD = 120


def fetched_ahead_or_never_cached(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Keep a view's pages out of every cache, but for one that the browser fetches ahead to show it next."""

    @wraps(view)
    def cached(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        if request.headers.get("Sec-Purpose", "").startswith("prefetch"):
            patch_cache_control(response, private=True, max_age=SECONDS_AHEAD)
        else:
            add_never_cache_headers(response)
        return response

    return cached


@in_readers_language
@require_http_methods(["GET", "POST"])
@in_turn
@login_required
@fetched_ahead_or_never_cached
def assignment(request: SignedInRequest, pk: int) -> HttpResponse:
    """One task to work on. Browsers without JavaScript post all their choices at once."""
    assignment = mine_or_404(request, pk)
    study = assignment.task.study
    if assignment.state == Assignment.State.RETURNED:
        if over := address_once_over(study=study, user=request.user):
            return redirect(over)
        return render(request, "annotate/assignment_returned.html", {"assignment": assignment}, status=410)
    if request.method == "GET" and assignment.state == Assignment.State.OPEN:
        if study.state not in TAKES_CHOICES:
            return redirect_to_next(request, study)
        gate = next_gate(study=study, user=request.user)
        if gate:
            return redirect(gate)
    screen = screen_of(assignment, is_new=not assignment.is_begun)  # type: ignore[attr-defined]

    if request.method == "POST":
        refused = save_form(screen, request.POST)
        if refused:
            return render_screen(request, screen, refusal=refused, status=422)
        note_decision(assignment, at=now())
        if "submit" in request.POST:
            return submission(request, pk)
        messages.success(request, gettext("Saved."))
        return redirect("annotate:assignment", pk=pk)
    return render_screen(request, screen)


@in_readers_language
@require_POST
@login_required
def submission(request: SignedInRequest, pk: int) -> HttpResponse:
    """Hand an assignment in and go on with the next; a page that asks for JSON gets where that is, each time."""
    assignment = mine_or_404(request, pk)
    was_open = assignment.state == Assignment.State.OPEN

    try:
        submit_assignment(assignment=assignment, at=now())
    except Unfinished as refused:
        return render_screen(request, screen_of(assignment), refusal=str(refused), status=422)
    except AssignmentReturned:
        return redirect("annotate:assignment", pk=pk)
    except StudyClosed:
        pass  # what comes next says so

    if request.headers.get("Accept") != "application/json":
        return redirect_to_next(request, assignment.task.study) if was_open else redirect("annotate:queue")
    following = next_work(study=assignment.task.study, user=request.user, at=now(), ahead=AHEAD)
    return JsonResponse(addresses_of(following, assignment.task.study))


@in_readers_language
@require_POST
@login_required
def reveal(request: SignedInRequest, pk: int) -> HttpResponse:
    """Save what the form of the first step holds, fix it, and show the passages."""
    assignment = mine_or_404(request, pk)
    refused = save_form(screen_of(assignment), request.POST)
    if not refused:
        try:
            reveal_passages(assignment=assignment, at=now())
        except (Unfinished, AssignmentReturned, StudyClosed, NotAsked) as refusal:
            refused = str(refusal)
    if refused:
        return render_screen(request, screen_of(assignment), refusal=refused, status=422)
    return redirect("annotate:assignment", pk=pk)


@in_readers_language
@require_POST
@login_required
def guidelines_read(request: SignedInRequest, pk: int) -> HttpResponse:
    """Note that this version of the guidelines was open in front of the assessor."""
    assignment = mine_or_404(request, pk)
    version = request.POST.get("version", "")
    if version.isdecimal() and len(version) < 5:
        note_reading(study=assignment.task.study, user=request.user, version=int(version), at=now())
    return HttpResponse(status=204)


@in_readers_language
@require_POST
@login_required
def keep_earlier(request: SignedInRequest, pk: int) -> HttpResponse:
    """Forget what was changed in a submitted assignment and is not complete: what was submitted stays."""
    assignment = mine_or_404(request, pk)

    drop_changes(assignment=assignment)

    messages.success(request, gettext("Your submitted answers are kept."))
    return redirect("annotate:assignment", pk=pk)
