"""An assessor's pages: the queue, an assignment, and what becomes of what is done there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.models import Assignment, AssignmentItem
from annotate.queues import queues_of
from annotate.screens import Screen, screen_of
from annotate.services.work import (
    AssignmentReturned,
    NotAsked,
    StudyClosed,
    Unfinished,
    claim_next,
    save_choice,
    submit_assignment,
)
from annotate.task_types.rules import is_positive
from collection.models import Criterion, Rater, Study
from collection.services import GradeNotOnScale, HighlightDoesNotFit, Span
from collection.views.account import SignedInRequest

MAX_SPANS = 200
BIGGEST_KEY = 2**63
A_DAY = 24 * 60 * 60.0


# --- The queue ----------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def queue(request: SignedInRequest) -> HttpResponse:
    """What waits for this assessor, and what they submitted."""
    all_submitted = "all" in request.GET
    queues = queues_of(request.user, all_submitted=all_submitted)
    return render(request, "annotate/queue.html", {"queues": queues, "all_submitted": all_submitted})


@require_POST
@login_required
def next_assignment(request: SignedInRequest, name: str) -> HttpResponse:
    """Give the assessor what comes next in this study."""
    study = get_object_or_404(studies_of_assessor(request), name=name)
    return redirect_to_next(request, study)


def redirect_to_next(request: SignedInRequest, study: Study) -> HttpResponse:
    assignment = claim_next(study=study, rater=Rater.objects.get(user=request.user), at=now())
    if assignment is None:
        return redirect("annotate:nothing_left", name=study.name)
    return redirect("annotate:assignment", pk=assignment.pk)


@require_safe
@login_required
@never_cache
def nothing_left(request: SignedInRequest, name: str) -> HttpResponse:
    """Say thanks: the study has no more work for this assessor now."""
    study = get_object_or_404(studies_of_assessor(request), name=name)
    queue = next(queue for queue in queues_of(request.user) if queue.study == study)
    return render(request, "annotate/nothing_left.html", {"study": study, "queue": queue})


def studies_of_assessor(request: SignedInRequest) -> QuerySet[Study]:
    """Studies in which this person works."""
    enrolled = Study.objects.filter(enrolments__user=request.user, enrolments__left_at=None)
    return enrolled.exclude(state=Study.State.DRAFT)


# --- An assignment ------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def assignment(request: SignedInRequest, pk: int) -> HttpResponse:
    """One task to work on. Browsers without JavaScript post all their choices at once."""
    assignment = get_object_or_404(mine(request), pk=pk)
    if assignment.state == Assignment.State.RETURNED:
        return render(request, "annotate/assignment_returned.html", {"assignment": assignment}, status=410)
    screen = screen_of(assignment)

    if request.method == "POST":
        refused = save_form(screen, request.POST)
        if refused:
            return render_screen(request, screen, refusal=refused, status=422)
        messages.success(request, "Saved.")
        return redirect("annotate:assignment", pk=pk)
    return render_screen(request, screen)


@require_POST
@login_required
def submission(request: SignedInRequest, pk: int) -> HttpResponse:
    """Hand an assignment in and go on with the next."""
    assignment = get_object_or_404(mine(request), pk=pk)
    was_open = assignment.state == Assignment.State.OPEN

    try:
        submit_assignment(assignment=assignment, at=now())
    except (Unfinished, AssignmentReturned, StudyClosed) as refused:
        return render_screen(request, screen_of(assignment), refusal=str(refused), status=422)

    if not was_open:
        return redirect("annotate:queue")
    return redirect_to_next(request, assignment.task.study)


def mine(request: SignedInRequest) -> QuerySet[Assignment]:
    """This person's assignments with all that their pages show."""
    return Assignment.objects.of(request.user).select_related(
        "rater", "task__study", "task__topic", "task__report", "task__passage"
    )


def render_screen(request: SignedInRequest, screen: Screen, *, refusal: str = "", status: int = 200) -> HttpResponse:
    task = screen.assignment.task
    back = request.GET.get("back", "")
    context = {
        "screen": screen,
        "assignment": screen.assignment,
        "task": task,
        "refusal": refusal,
        "back": Assignment.objects.of(request.user).filter(pk=back).first() if back.isdecimal() else None,
        "answers": {
            question.item.pk: {
                answer.criterion.pk: {
                    "grade": answer.grade,
                    "spans": [[span.start, span.end] for span in answer.spans],
                    "seconds": answer.seconds,
                }
                for answer in question.answers
            }
            for question in screen.questions
        },
        "candidates": {
            question.item.pk: [[span.start, span.end] for span in question.candidates]
            for question in screen.questions
            if question.candidates
        },
    }
    return render(request, f"annotate/assignment_{task.task_type}.html", context, status=status)


def save_form(screen: Screen, posted: QueryDict) -> str:
    """Save the choices of a form without JavaScript; highlights stay as they were. Returns what was refused, if any."""
    for question in screen.questions:
        closed: set[int] = set()
        for answer in question.answers:
            sent = posted.get(f"grade-{question.item.pk}-{answer.criterion.pk}")
            if sent is None or answer.follows in closed:
                continue
            try:
                grade = float(sent) if sent else None
                if grade != answer.grade:
                    save_choice(
                        assignment=screen.assignment,
                        item=question.item,
                        criterion=answer.criterion,
                        grade=grade,
                        spans=answer.spans if answer.keeps_spans(grade) else (),
                        seconds=answer.seconds,
                        at=now(),
                    )
            except (ValueError, AssignmentReturned, StudyClosed) as refused:
                return f"{question.number}: {refused}"
            if grade is None or not is_positive(answer.criterion, grade):
                closed.add(answer.criterion.pk)
    return ""


# --- One choice ---------------------------------------------------------------------------------


class UnreadableChoice(ValueError):
    """What was sent is no choice."""


@dataclass(frozen=True)
class SentChoice:
    item: int
    criterion: int
    grade: float | None
    spans: list[Span]
    seconds: float | None


@require_POST
@login_required
def choice(request: SignedInRequest, pk: int) -> JsonResponse:
    """Save one choice, sent as JSON as soon as it is made, and say what became of it."""
    if pk >= BIGGEST_KEY:
        raise Http404
    try:
        sent = read_choice(request.body)
    except UnreadableChoice as refused:
        return JsonResponse({"refused": str(refused)}, status=400)
    asked = get_object_or_404(
        AssignmentItem.objects.select_related("assignment__task", "assignment__rater", "item__report", "item__passage"),
        assignment=pk,
        assignment__rater__user=request.user,
        item=sent.item,
    )
    criterion = get_object_or_404(Criterion.objects.select_related("scale"), pk=sent.criterion)

    try:
        saved = save_choice(
            assignment=asked.assignment,
            item=asked.item,
            criterion=criterion,
            grade=sent.grade,
            spans=sent.spans,
            seconds=sent.seconds,
            at=now(),
        )
    except (NotAsked, GradeNotOnScale, HighlightDoesNotFit) as refused:
        return JsonResponse({"refused": str(refused)}, status=422)
    except StudyClosed as refused:
        return JsonResponse({"refused": str(refused)}, status=409)
    except AssignmentReturned as refused:
        return JsonResponse({"refused": str(refused)}, status=410)
    return JsonResponse({"state": saved.state, "lack": saved.lack})


def read_choice(body: bytes) -> SentChoice:
    """Read `{item, criterion, grade, spans: [{start, end, quote}], seconds}`. Raises UnreadableChoice."""
    try:
        sent = json.loads(body)
        grade = sent["grade"]
        seconds = sent.get("seconds")
        spans = sent.get("spans", [])
        if len(spans) > MAX_SPANS:
            raise UnreadableChoice(f"More than {MAX_SPANS} highlights at one question.")
        return SentChoice(
            item=_read_key(sent["item"]),
            criterion=_read_key(sent["criterion"]),
            grade=None if grade is None else float(grade),
            spans=[_read_span(span) for span in spans],
            seconds=None if seconds is None else min(max(0.0, float(seconds)), A_DAY),
        )
    except UnreadableChoice:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UnreadableChoice(f"This is no choice: {error!r}.") from error


def _read_key(key: Any) -> int:
    if not isinstance(key, int) or not 0 < key < BIGGEST_KEY:
        raise UnreadableChoice("This is no choice: items and criteria are named by their numbers.")
    return key


def _read_span(span: Any) -> Span:
    if not (isinstance(span["start"], int) and isinstance(span["end"], int) and isinstance(span["quote"], str)):
        raise UnreadableChoice("A highlight is two whole numbers and a quote.")
    return Span(span["start"], span["end"], span["quote"])
