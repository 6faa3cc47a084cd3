"""Comments of assessors, read in the researcher's inbox."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotate.quality.inbox import broken_items, comments_of, handle, take_up_again, waiting_in
from annotate.studies.views import study_of
from collection.accounts.views import SignedInRequest
from collection.models import Comment, User

PAGE = 50
SHOWS = {"waiting": "waiting", "handled": "handled", "all": "all"}


@require_safe
@login_required
@never_cache
def inbox(request: SignedInRequest, name: str) -> HttpResponse:
    """What assessors said, the waiting first; and which items they call broken."""
    study = study_of(request, name)
    show = SHOWS.get(request.GET.get("show", ""), "waiting")
    by = request.GET.get("by", "")
    only_broken = "broken" in request.GET
    comments = comments_of(study, show=show, broken=only_broken, by=by)  # type: ignore[arg-type]
    kept = request.GET.copy()
    kept.pop("page", None)
    context = {
        "study": study,
        "page": Paginator(comments, PAGE).get_page(request.GET.get("page")),
        "show": show,
        "by": by,
        "only_broken": only_broken,
        "people": User.objects.filter(rater__comments__study=study).distinct().order_by("username"),
        "waiting": waiting_in(study),
        "broken_items": broken_items(study),
        "filters": kept.urlencode(),
    }
    return render(request, "annotate/quality/inbox.html", context)


@require_POST
@login_required
def comment_state(request: SignedInRequest, name: str, pk: int, state: str) -> HttpResponse:
    """Put a comment away, or take it up again. htmx gets the comment alone."""
    study = study_of(request, name)
    found = get_object_or_404(Comment.objects.filter(study=study), pk=pk)

    if state == "handled":
        handle(comment=found, by=request.user, at=now())
    else:
        take_up_again(comment=found)

    if request.htmx:
        found = comments_of(study, show="all").get(pk=pk)
        return render(request, "annotate/quality/inbox_comment.html", {"study": study, "comment": found})
    return redirect("annotate:inbox", study.name)
