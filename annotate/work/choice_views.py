"""One choice, saved as soon as it is made, and the pages that its reply brings along."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path

from django.contrib.auth.decorators import login_required
from django.contrib.staticfiles import finders
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.timezone import now
from django.utils.translation import gettext
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_POST, require_safe

from annotate.assignments.errors import AssignmentReturned, NotAsked, StudyClosed
from annotate.assignments.questions import criteria_of_study
from annotate.assignments.task_page import screen_of, screen_of_new
from annotate.models import Assignment, AssignmentItem, CrowdSession
from annotate.quality.pasting import note_pasting
from annotate.sessions.outcomes import address_once_over
from annotate.work.addresses import (
    address_of_task,
    addresses_of,
    may_be_drawn_ahead,
)
from annotate.work.answers import answer_and_submit
from annotate.work.mine import assignment_of
from annotate.work.next_work import NextWork
from annotate.work.saving import save_choice
from annotate.work.screens import render_screen
from annotate.work.sent_choices import BIGGEST_KEY, SentChoice, UnreadableChoice, is_of_another, read_choice
from annotate.work.turns import in_turn
from collection.accounts.views import SignedInRequest
from collection.judgments.compiled_sql import compiled
from collection.judgments.inserting import insert_unless_there
from collection.judgments.services import GradeNotOnScale, HighlightDoesNotFit
from collection.languages.languages import in_readers_language
from collection.models import ChangedPage, Criterion

TEXTS_OF_AN_ITEM = ("item__report", "item__passage", "item__answer_to_revise")
PARTS_OF_A_CHOICE = (
    "assignment__state",
    "assignment__opened_at",
    "assignment__arm",
    "assignment__rater__kind",
    "assignment__task__study__name",
    "assignment__task__task_type",
    "item__study",
    "item__topic",
    "item__element",
    "item__task_type",
    "item__other_report",
    "item__report__text",
    "item__passage__text",
    "item__answer_to_revise",
)

# How long a browser may ask nothing anew about the script that hands it pages.
WORKER_FOR = 3600


@in_readers_language
@require_POST
@in_turn
@login_required
def choice(request: SignedInRequest, pk: int) -> JsonResponse:
    """Save one choice, sent as JSON as soon as it is made, and say what became of it.

    One that is sent to submit its task too is told where the next one is, and the addresses of those after it; their
    pages go along to a browser that can show them later.
    """
    if pk >= BIGGEST_KEY:
        raise Http404
    if is_of_another(request):
        return JsonResponse({"refused": gettext("Somebody else is signed in now.")}, status=403)
    try:
        sent = read_choice(request.body)
    except UnreadableChoice as refused:
        return JsonResponse({"refused": str(refused)}, status=400)
    asked = question_of(assignment=pk, item=sent.item, user=request.user.pk)
    if not asked:
        raise Http404
    of_study = criteria_of_study(study=asked[0].assignment.task.study_id)
    criteria = [one for one in of_study if one.pk == sent.criterion] or criterion_of(pk=sent.criterion)
    if not criteria:
        raise Http404
    note_pasting(asked=asked[0], pasted=sent.pasted, at=now())
    if sent.page_changed:
        changed = ChangedPage(item_id=sent.item, rater_id=asked[0].assignment.rater_id, noted_at=now())
        insert_unless_there(changed, unique=("item", "rater"))

    try:
        if sent.submit:
            return answered(request, asked[0], criteria[0], sent, of_study)
        saved = save_choice(
            assignment=asked[0].assignment,
            item=asked[0].item,
            criterion=criteria[0],
            grade=sent.grade,
            spans=sent.spans,
            seconds=sent.seconds,
            written=sent.written,
            guidelines=sent.guidelines,
            unsure=sent.unsure,
            at=now(),
        )
    except (NotAsked, GradeNotOnScale, HighlightDoesNotFit) as refused:
        return JsonResponse({"refused": str(refused)}, status=422)
    except StudyClosed as refused:
        return refused_for_good(asked[0], request, refused, status=409)
    except AssignmentReturned as refused:
        return refused_for_good(asked[0], request, refused, status=410)
    return JsonResponse(asdict(saved))


def refused_for_good(
    asked: AssignmentItem, request: SignedInRequest, refused: Exception, *, status: int
) -> JsonResponse:
    """Say why nothing is taken; whose session has ended learns where they read how."""
    over = address_once_over(study=asked.assignment.task.study, user=request.user)
    return JsonResponse({"refused": str(refused), **({"over": over} if over else {})}, status=status)


def answered(
    request: SignedInRequest,
    asked: AssignmentItem,
    criterion: Criterion,
    sent: SentChoice,
    of_study: Sequence[Criterion],
) -> JsonResponse:
    done = answer_and_submit(asked=asked, criterion=criterion, sent=sent, user=request.user, at=now())
    if done.unfinished:
        return JsonResponse({**asdict(done.saved), "unfinished": done.unfinished})
    reply = {**asdict(done.saved), **addresses_of(done.following, asked.assignment.task.study)}
    if sent.held is not None:
        reply["pages"] = pages_of(request, done.following, held=sent.held, of_study=of_study)
    return JsonResponse(reply)


def pages_of(
    request: SignedInRequest, following: NextWork, *, held: Collection[int], of_study: Sequence[Criterion]
) -> dict[str, str]:
    """Draw the pages of what is in hand now, by their addresses, but for those that the browser holds."""
    in_hand = [following.assignment] if following.assignment else []
    pages = {}
    for one in (*in_hand, *may_be_drawn_ahead(following.ahead)):
        if one.pk in held:
            continue
        if hasattr(one, "drawn"):
            screen = screen_of_new(one, of_study)
        else:
            found = assignment_of(pk=one.pk, user=request.user.pk)
            if not found or found[0].state != Assignment.State.OPEN:
                continue  # it has just been taken back
            screen = screen_of(found[0], is_new=not found[0].is_begun)  # type: ignore[attr-defined]
        pages[address_of_task(one.pk)] = render_screen(request, screen).content.decode()
    return pages


@require_safe
@cache_control(public=True, max_age=WORKER_FOR)
def page_worker(_request: HttpRequest) -> HttpResponse:
    """The service worker of these pages. A browser lets it stand for addresses below its own, so it is among them."""
    script = Path(finders.find("js/page_worker.js") or "")
    return HttpResponse(script.read_text(), content_type="text/javascript; charset=utf-8")


@compiled
def question_of(*, assignment: int, item: int, user: int) -> QuerySet[AssignmentItem]:
    """This person's question, with what is needed to save a choice about it."""
    asked = AssignmentItem.objects.filter(assignment=assignment, assignment__rater__user=user, item=item)
    others = AssignmentItem.objects.filter(assignment=assignment).exclude(item=item)
    related = ("assignment__task__study", "assignment__rater", *TEXTS_OF_AN_ITEM)
    sessions = CrowdSession.objects.filter(
        participant__user=user, participant__study=OuterRef("assignment__task__study")
    )
    known = {"is_alone": ~Exists(others), "is_of_crowd": Exists(sessions)}
    return asked.annotate(**known).select_related(*related).only(*PARTS_OF_A_CHOICE)


@compiled
def criterion_of(*, pk: int) -> QuerySet[Criterion]:
    return Criterion.objects.filter(pk=pk).select_related("scale")
