"""An assessor's own assignments: what a page or a choice needs of them in one query."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404

from annotate.models import Assignment, Draft
from annotate.work.sent_choices import BIGGEST_KEY
from collection.accounts.views import SignedInRequest
from collection.judgments.compiled_sql import compiled
from collection.models import Judgment

PARTS_OF_A_PAGE = ("rater", "task__study", "task__topic", "task__report", "task__passage")


def mine(request: SignedInRequest) -> QuerySet[Assignment]:
    """This person's assignments with all that their pages show."""
    return Assignment.objects.of(request.user).select_related(*PARTS_OF_A_PAGE)


def mine_or_404(request: SignedInRequest, pk: int) -> Assignment:
    """This one of them."""
    found = assignment_of(pk=pk, user=request.user.pk) if pk < BIGGEST_KEY else []
    if not found:
        raise Http404
    return found[0]


@compiled
def assignment_of(*, pk: int, user: int) -> QuerySet[Assignment]:
    """This assignment, if it is this person's, with all that its page shows, and whether anything is saved of it."""
    judged = Judgment.objects.filter(item__asked__assignment=OuterRef("pk"), rater=OuterRef("rater"))
    drafted = Draft.objects.filter(assignment=OuterRef("pk"))
    mine = Assignment.objects.of(user).filter(pk=pk).select_related(*PARTS_OF_A_PAGE)
    return mine.annotate(is_begun=Q(Exists(judged)) | Q(Exists(drafted)))
