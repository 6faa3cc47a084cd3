"""An assessor's queue, and the way to what comes next."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotate.models import Participant
from annotate.notices.notices import notices_of
from annotate.quality.replies import replied_to
from annotate.sessions.outcomes import address_once_over
from annotate.work.addresses import (
    address_of,
)
from annotate.work.next_work import next_work
from annotate.work.queue import queues_of
from collection.accounts.views import SignedInRequest
from collection.languages.languages import in_readers_language
from collection.models import NuggetWorkshop, Study, User


@in_readers_language
@require_safe
@login_required
@never_cache
def queue(request: SignedInRequest) -> HttpResponse:
    """What waits for this assessor, and what they submitted."""
    all_submitted = "all" in request.GET
    queues = queues_of(request.user, all_submitted=all_submitted, at=now())
    context = {
        "queues": queues,
        "ended": address_of_end(request.user),
        "all_submitted": all_submitted,
        "notices": notices_of(request.user, in_view=[queue.study for queue in queues]),
        "comments": replied_to(request.user),
        "workshops": list(NuggetWorkshop.objects.of(request.user).open().select_related("bank__collection")),
    }
    return render(request, "annotate/queue.html", context)


def address_of_end(user: User) -> str:
    """Return where somebody from a crowd site reads how their last session ended, if it has."""
    participant = Participant.objects.filter(user=user, entry__isnull=False).select_related("study").first()
    return address_once_over(study=participant.study, user=user) if participant else ""


@in_readers_language
@require_POST
@login_required
def next_assignment(request: SignedInRequest, name: str) -> HttpResponse:
    """Give the assessor what comes next in this study."""
    study = get_object_or_404(studies_of_assessor(request), name=name)
    return redirect_to_next(request, study)


def redirect_to_next(request: SignedInRequest, study: Study) -> HttpResponse:
    return redirect(address_of(next_work(study=study, user=request.user, at=now()), study))


@in_readers_language
@require_safe
@login_required
@never_cache
def nothing_left(request: SignedInRequest, name: str) -> HttpResponse:
    """Say thanks: the study has no more work for this assessor now."""
    study = get_object_or_404(studies_of_assessor(request), name=name)
    queue = next(queue for queue in queues_of(request.user, at=now()) if queue.study == study)
    return render(request, "annotate/nothing_left.html", {"study": study, "queue": queue})


def studies_of_assessor(request: SignedInRequest) -> QuerySet[Study]:
    """Studies in which this person works."""
    enrolled = Study.objects.filter(enrolments__user=request.user, enrolments__left_at=None)
    return enrolled.exclude(state=Study.State.DRAFT)
