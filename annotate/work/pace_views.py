"""Fetching the next task ahead, and passing a task on."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe
from django.utils.timezone import now
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST

from annotate.assignments.errors import AssignmentReturned, StudyClosed
from annotate.quality.gates import next_gate
from annotate.sessions.sessions import session_of, share_of
from annotate.work.addresses import address_of, addresses_ahead
from annotate.work.later import SkippedForGood, TooManySetAside, set_aside, undo_skip
from annotate.work.mine import mine, mine_or_404
from annotate.work.next_work import next_work
from annotate.work.pace import SkipReason, claim_ahead, skip_assignment
from annotate.work.queue_views import redirect_to_next
from collection.accounts.views import SignedInRequest
from collection.languages.languages import in_readers_language


class SkipForm(forms.Form):
    reason = forms.ChoiceField(choices=SkipReason.choices)
    words = forms.CharField(max_length=1000, required=False)


@in_readers_language
@require_POST
@login_required
def ahead(request: SignedInRequest, pk: int) -> HttpResponse:
    """Claim the tasks after this one and say where they are; 204 where none can be claimed yet.

    Not in a crowd session, whose tasks are counted, nor where something else comes before more work.
    """
    assignment = get_object_or_404(mine(request), pk=pk)
    study = assignment.task.study
    if session_of(study=study, user=request.user) or next_gate(study=study, user=request.user):
        return HttpResponse(status=204)
    following = claim_ahead(assignment=assignment, at=now())
    if not following:
        return HttpResponse(status=204)
    return JsonResponse({"ahead": addresses_ahead(following)})


@in_readers_language
@require_POST
@login_required
def skip(request: SignedInRequest, pk: int) -> HttpResponse:
    """Pass the task on with a reason, and go on with the next."""
    assignment = get_object_or_404(mine(request), pk=pk)
    form = SkipForm(request.POST)

    if not form.is_valid():
        messages.error(request, gettext("Choose a reason."))
        return redirect("annotate:assignment", pk=pk)
    skip_assignment(
        assignment=assignment,
        reason=SkipReason(form.cleaned_data["reason"]),
        words=form.cleaned_data["words"],
        at=now(),
    )
    told = render_to_string("annotate/skipped.html", {"assignment": assignment}, request)
    messages.success(request, mark_safe(told))  # noqa: S308  # a template's
    session = session_of(study=assignment.task.study, user=request.user)
    if session and not (share := share_of(session)).is_enough:
        messages.warning(
            request,
            ngettext(
                "You judged {judged} of {n} task so far. For the completion code at least {percent} % must be judged.",
                "You judged {judged} of {n} tasks so far. For the completion code at least {percent} % must be judged.",
                share.judged + share.passed_on,
            ).format(judged=share.judged, n=share.judged + share.passed_on, percent=session.terms.least_judged),
        )
    return redirect_to_next(request, assignment.task.study)


@in_readers_language
@require_POST
@login_required
def skip_undo(request: SignedInRequest, pk: int) -> HttpResponse:
    """Take a skipped task back while its place is free, or say that it is not."""
    assignment = mine_or_404(request, pk)
    try:
        undo_skip(assignment=assignment, at=now())
    except SkippedForGood as refused:
        messages.error(request, str(refused))
        return redirect_to_next(request, assignment.task.study)
    return redirect("annotate:assignment", pk=pk)


@in_readers_language
@require_POST
@login_required
def later(request: SignedInRequest, pk: int) -> HttpResponse:
    """Put the task aside, and go on with the next."""
    assignment = mine_or_404(request, pk)
    try:
        set_aside(assignment=assignment, at=now())
    except (TooManySetAside, StudyClosed) as refused:
        messages.error(request, str(refused))
        return redirect("annotate:assignment", pk=pk)
    except AssignmentReturned:
        return redirect("annotate:assignment", pk=pk)
    following = next_work(study=assignment.task.study, user=request.user, at=now())
    if following.assignment == assignment:
        messages.warning(request, gettext("This is the only task left for you now."))
    else:
        messages.success(request, gettext("Set aside. You find it under My work."))
    return redirect(address_of(following, assignment.task.study))
