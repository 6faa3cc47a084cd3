"""Comments of assessors, read in the researcher's inbox."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotate.quality.inbox import (
    NothingSaid,
    TooLong,
    broken_items,
    comments_of,
    handle,
    take_up_again,
    waiting_in,
)
from annotate.quality.replies import reply_to
from collection.accounts.access import study_of
from collection.accounts.views import SignedInRequest
from collection.models import Comment, Study, User

PAGE = 50
SHOWS = {"waiting": "waiting", "handled": "handled", "all": "all"}


@require_safe
@login_required
@never_cache
def inbox(request: SignedInRequest, name: str) -> HttpResponse:
    """What assessors said, the waiting first; and which items they call broken."""
    study = study_of(request.user, name)
    show = SHOWS.get(request.GET.get("show", ""), "waiting")
    by = request.GET.get("by", "")
    only_broken = "broken" in request.GET
    comments = comments_of(study, show=show, broken=only_broken, by=by)  # type: ignore[arg-type]
    context = {
        "study": study,
        "page": Paginator(comments, PAGE).get_page(request.GET.get("page")),
        "show": show,
        "by": by,
        "only_broken": only_broken,
        "people": User.objects.filter(rater__comments__study=study).distinct().order_by("username"),
        "waiting": waiting_in(study),
        "broken_items": broken_items(study),
    }
    return render(request, "annotate/quality/inbox.html", context)


@require_POST
@login_required
def comment_state(request: SignedInRequest, name: str, pk: int, state: str) -> HttpResponse:
    """Put a comment away, or take it up again. htmx gets the comment alone."""
    study = study_of(request.user, name)
    found = get_object_or_404(Comment.objects.filter(study=study), pk=pk)

    if state == "handled":
        handle(comment=found, by=request.user, at=now())
    else:
        take_up_again(comment=found)

    return comment_again(request, study, pk)


@require_POST
@login_required
def inbox_reply(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Reply to a comment, which is handled by that. htmx gets the comment alone, with what was refused."""
    study = study_of(request.user, name)
    found = get_object_or_404(Comment.objects.filter(study=study), pk=pk)
    text, refusal = request.POST.get("text", ""), ""

    try:
        reply_to(comment=found, by=request.user, text=text, at=now())
    except (NothingSaid, TooLong) as refused:
        refusal = str(refused)
        if not request.htmx:
            messages.error(request, refusal)

    return comment_again(request, study, pk, refusal=refusal, typed=text if refusal else "")


def comment_again(
    request: SignedInRequest, study: Study, pk: int, *, refusal: str = "", typed: str = ""
) -> HttpResponse:
    """Show the comment as it is now: htmx alone, others with the inbox."""
    if not request.htmx:
        return redirect("annotate:inbox", study.name)
    found = comments_of(study, show="all").get(pk=pk)
    context = {"study": study, "comment": found, "refusal": refusal, "typed": typed}
    return render(request, "annotate/quality/inbox_comment.html", context, status=422 if refusal else 200)
