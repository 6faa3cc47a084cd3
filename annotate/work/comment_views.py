"""Comments said at an assignment."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from annotate.models import AssignmentItem
from annotate.quality.inbox import NothingSaid, TooLong, comment_on
from annotate.quality.replies import read_replies, reply_to
from annotate.work.sent_choices import BIGGEST_KEY, is_of_another
from collection.accounts.views import SignedInRequest
from collection.formats.problems import decoded
from collection.formats.values import strict_object
from collection.languages.languages import in_readers_language
from collection.models import Comment
from collection.page_tools import telling


@in_readers_language
@require_POST
@login_required
def comment(request: SignedInRequest, pk: int) -> HttpResponse:
    """Save a comment on an item of one's own assignment: as JSON from the page, or as a form without JavaScript."""
    if pk >= BIGGEST_KEY:
        raise Http404
    if is_of_another(request):
        return JsonResponse({"refused": gettext("Somebody else is signed in now.")}, status=403)
    as_json = request.content_type == "application/json"
    try:
        sent = read_comment(request, as_json=as_json)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return JsonResponse(
            {"refused": "This is not a comment: it needs an item, a text and whether the item is broken."}, status=400
        )
    asked = get_object_or_404(
        AssignmentItem.objects.select_related("item", "assignment__rater"),
        assignment=pk,
        assignment__rater__user=request.user,
        item=sent["item"],
    )

    refusal = ""
    try:
        comment_on(item=asked.item, rater=asked.assignment.rater, text=sent["text"], broken=sent["broken"], at=now())
    except (NothingSaid, TooLong) as refused:
        refusal = str(refused)

    if as_json:
        return JsonResponse({"refused": refusal}, status=422) if refusal else JsonResponse({"state": "said"})
    (messages.error if refusal else messages.success)(
        request, refusal or gettext("Thank you. The researcher will read it.")
    )
    return redirect("annotate:assignment", pk=pk)


@in_readers_language
@require_POST
@login_required
def comment_reply(request: SignedInRequest, pk: int) -> HttpResponse:
    """Answer back to a researcher who replied to one's comment."""
    with telling(request, NothingSaid, TooLong):
        reply_to(
            comment=answered(request, pk), by=request.user, text=request.POST.get("text", ""), by_rater=True, at=now()
        )
        messages.success(request, gettext("Thank you. The researcher will read it."))
    return redirect(f"{reverse('annotate:queue')}#comments")


@in_readers_language
@require_POST
@login_required
def comment_read(request: SignedInRequest, pk: int) -> HttpResponse:
    """Note that the replies to one's comment are read."""
    read_replies(comment=answered(request, pk), by_rater=True, at=now())
    return redirect(f"{reverse('annotate:queue')}#comments")


def answered(request: SignedInRequest, pk: int) -> Comment:
    """Return this person's comment that was replied to; else 404."""
    theirs = Comment.objects.filter(rater__user=request.user, replies__isnull=False).distinct()
    return get_object_or_404(theirs, pk=pk)


def read_comment(request: SignedInRequest, *, as_json: bool) -> dict[str, Any]:
    """Return item, text and broken. Raises ValueError, TypeError or AttributeError for what is none."""
    sent = strict_object(decoded(request.body)) if as_json else request.POST
    item = sent.get("item")
    item = int(item) if isinstance(item, str) else item
    text = sent.get("text", "")
    if not isinstance(item, int) or not 0 < item < BIGGEST_KEY or not isinstance(text, str) or "\x00" in text:
        raise ValueError(item)
    return {"item": item, "text": text, "broken": bool(sent.get("broken"))}
