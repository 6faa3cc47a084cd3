"""An assessor's pages: the queue, an assignment, and what becomes of what is done there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.staticfiles import finders
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers, patch_cache_control
from django.utils.timezone import now
from django.utils.translation import gettext
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.assignments.assignments import AHEAD, Unfinished, reveal_passages, submit_assignment
from annotate.assignments.errors import AssignmentReturned, NotAsked, StudyClosed
from annotate.assignments.guideline_reading import note_reading
from annotate.assignments.task_page import Answer, Question, Screen, criteria_of_study, screen_of, screen_of_new
from annotate.models import Assignment, AssignmentItem, CrowdSession, Draft
from annotate.notices.notices import notices_of
from annotate.participants.sessions import end_address
from annotate.quality.gates import next_gate
from annotate.quality.pasting import note_pasting, pasted_into
from annotate.quality.replies import replied_to
from annotate.suggestions.shown import as_shown, note_decision
from annotate.task_types import RULES
from annotate.task_types.writing import Writing
from annotate.templatetags.kept import drawn_page
from annotate.work.addresses import Addresses, address_of_task
from annotate.work.answers import answer_and_submit
from annotate.work.next_work import NextWork, next_work
from annotate.work.pace import SkipReason, pay_so_far
from annotate.work.queue import nth_of_all, queues_of
from annotate.work.saving import drop_changes, save_choice
from annotate.work.sent_choices import (
    BIGGEST_KEY,
    SentChoice,
    UnreadableChoice,
    is_of_another,
    key_in,
    read_choice,
    with_grades_of_boxes,
)
from annotate.work.turns import in_turn
from collection.accounts.views import SignedInRequest
from collection.judgments.compiled_sql import compiled
from collection.judgments.services import GradeNotOnScale, HighlightDoesNotFit, Span, Written
from collection.models import Criterion, Judgment, NuggetWorkshop, Study

TEXTS_OF_AN_ITEM = ("item__report", "item__passage", "item__answer_to_revise")
PARTS_OF_A_PAGE = ("rater", "task__study", "task__topic", "task__report", "task__passage")
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
SECONDS_AHEAD = 120


# How long a browser may ask nothing anew about the script that hands it pages.
WORKER_FOR = 3600


# --- The queue ----------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def queue(request: SignedInRequest) -> HttpResponse:
    """What waits for this assessor, and what they submitted."""
    all_submitted = "all" in request.GET
    queues = queues_of(request.user, all_submitted=all_submitted, at=now())
    context = {
        "queues": queues,
        "all_submitted": all_submitted,
        "notices": notices_of(request.user),
        "comments": replied_to(request.user),
        "workshops": list(NuggetWorkshop.objects.of(request.user).open().select_related("bank__collection")),
    }
    return render(request, "annotate/queue.html", context)


@require_POST
@login_required
def next_assignment(request: SignedInRequest, name: str) -> HttpResponse:
    """Give the assessor what comes next in this study."""
    study = get_object_or_404(studies_of_assessor(request), name=name)
    return redirect_to_next(request, study)


def redirect_to_next(request: SignedInRequest, study: Study) -> HttpResponse:
    return redirect(address_of(next_work(study=study, user=request.user, at=now()), study))


def address_of(following: NextWork, study: Study) -> str:
    """Where what comes next is."""
    if following.assignment:
        return address_of_task(following.assignment.pk)
    if following.gate:
        return following.gate
    if following.ended:
        return end_address(following.ended)
    return reverse("annotate:nothing_left", args=[study.name])


def addresses_of(following: NextWork, study: Study) -> dict[str, Any]:
    """Where what comes next is, and the tasks behind it."""
    return {"next": address_of(following, study), "ahead": addresses_ahead(following.ahead)}


def addresses_ahead(ahead: Iterable[Assignment]) -> list[str]:
    """Where the pages are that may be fetched ahead."""
    return [address_of_task(one.pk) for one in may_be_drawn_ahead(ahead)]


def may_be_drawn_ahead(ahead: Iterable[Assignment]) -> list[Assignment]:
    """Leave those out whose pages change with what is answered before them."""
    return [one for one in ahead if not RULES[one.task.task_type].said_once]


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


# --- An assignment ------------------------------------------------------------------------------


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


@require_http_methods(["GET", "POST"])
@in_turn
@login_required
@fetched_ahead_or_never_cached
def assignment(request: SignedInRequest, pk: int) -> HttpResponse:
    """One task to work on. Browsers without JavaScript post all their choices at once."""
    assignment = mine_or_404(request, pk)
    if assignment.state == Assignment.State.RETURNED:
        return render(request, "annotate/assignment_returned.html", {"assignment": assignment}, status=410)
    if request.method == "GET" and assignment.state == Assignment.State.OPEN:
        gate = next_gate(study=assignment.task.study, user=request.user)
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


@require_POST
@login_required
def submission(request: SignedInRequest, pk: int) -> HttpResponse:
    """Hand an assignment in and go on with the next; a page that asks for JSON is told where that is."""
    assignment = mine_or_404(request, pk)
    was_open = assignment.state == Assignment.State.OPEN

    try:
        submit_assignment(assignment=assignment, at=now())
    except (Unfinished, AssignmentReturned, StudyClosed) as refused:
        return render_screen(request, screen_of(assignment), refusal=str(refused), status=422)

    if not was_open:
        return redirect("annotate:queue")
    if request.headers.get("Accept") != "application/json":
        return redirect_to_next(request, assignment.task.study)
    following = next_work(study=assignment.task.study, user=request.user, at=now(), ahead=AHEAD)
    return JsonResponse(addresses_of(following, assignment.task.study))


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


def mine(request: SignedInRequest) -> QuerySet[Assignment]:
    """This person's assignments with all that their pages show."""
    return Assignment.objects.of(request.user).select_related(*PARTS_OF_A_PAGE)


def mine_or_404(request: SignedInRequest, pk: int) -> Assignment:
    """This one of them."""
    found = _assignment_of(pk=pk, user=request.user.pk) if pk < BIGGEST_KEY else []
    if not found:
        raise Http404
    return found[0]


@compiled
def _assignment_of(*, pk: int, user: int) -> QuerySet[Assignment]:
    """This assignment, if it is this person's, with all that its page shows, and whether anything is saved of it."""
    judged = Judgment.objects.filter(item__asked__assignment=OuterRef("pk"), rater=OuterRef("rater"))
    drafted = Draft.objects.filter(assignment=OuterRef("pk"))
    mine = Assignment.objects.of(user).filter(pk=pk).select_related(*PARTS_OF_A_PAGE)
    return mine.annotate(is_begun=Q(Exists(judged)) | Q(Exists(drafted)))


def render_screen(
    request: SignedInRequest,
    screen: Screen,
    *,
    refusal: str = "",
    preview: bool = False,
    training: Mapping[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    task = screen.assignment.task
    back = key_in(request.GET.get("back", ""))
    is_work = not preview and screen.assignment.state == Assignment.State.OPEN
    nth, n_tasks = nth_of_all(screen.assignment, request.user, at=now()) if is_work else (None, None)
    template = f"annotate/assignment_{task.task_type}.html"
    context = {
        "screen": screen,
        "assignment": screen.assignment,
        "addresses": Addresses(screen.assignment.pk),
        "task": task,
        "refusal": refusal,
        "preview": preview,
        "training": training,
        "pasted": pasted_into(screen) if RULES[task.task_type].writing and not preview else None,
        "skip_reasons": SkipReason.choices,
        "nth": nth,
        "n_tasks": n_tasks,
        "pay": pay_so_far(study=task.study, user=request.user, nth=nth, n_tasks=n_tasks) if nth else None,
        "back": next(iter(_assignment_of(pk=back, user=request.user.pk)), None) if back else None,
        "answers": {
            question.item.pk: {
                answer.criterion.pk: {
                    "grade": answer.grade,
                    "spans": [[span.start, span.end] for span in answer.spans],
                    "seconds": answer.seconds,
                    "unsure": answer.unsure,
                    **({"before": answer.before} if answer.before is not None else {}),
                    **({"suggestion": as_shown(answer.suggestion)} if answer.suggestion else {}),
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
    by = kept_by(request, screen) if is_work and not refusal and not back else None
    if by:
        return HttpResponse(drawn_page(request, template, context, by=by), status=status)
    return render(request, template, context, status=status)


def kept_by(request: SignedInRequest, screen: Screen) -> tuple[object, ...] | None:
    """Return all that a page depends on in what is alike at each of a study's open tasks.

    None where a judge's grades or something to say make it another.
    """
    task, shown = screen.assignment.task, screen.shown_guidelines
    if screen.assignment.arm or len(messages.get_messages(request)):
        return None
    of_task = task.task_type, task.study.name, screen.purpose, screen.takes_highlights, min(len(screen.questions), 10)
    of_reader = shown and (shown.guideline.version, shown.guideline.markdown, shown.is_new, shown.last_read)
    look = request.COOKIES.get("theme")
    return (
        *of_task,
        of_reader or "no guidelines",
        request.user.has_usable_password(),
        look in {"dark", "light"} and look,
    )


def save_form(screen: Screen, posted: QueryDict) -> str:
    """Save the choices of a form without JavaScript; highlights stay as they were. Returns what was refused, if any."""
    posted = with_grades_of_boxes(posted)
    sent_version = posted.get("guidelines", "")
    version = int(sent_version) if sent_version.isdecimal() and len(sent_version) < 5 else None
    rules = RULES[screen.assignment.task.task_type]
    for question in screen.questions:
        closed: set[str] = set()
        for answer in question.answers:
            name = f"{question.item.pk}-{answer.criterion.pk}"
            sent, unsure = posted.get(f"grade-{name}"), f"unsure-{name}" in posted
            if sent is None or answer.criterion.name in closed:
                continue
            try:
                grade = float(sent) if sent else None
                spans = answer.spans if answer.keeps_spans(grade) else ()
                written = answer.written
                if rules.writing:
                    spans, written = read_answer(screen, rules.writing, question, answer, grade, posted)
                on_form = grade, list(spans), written, unsure
                if on_form != (answer.grade, list(answer.spans), answer.written, answer.unsure):
                    save_choice(
                        assignment=screen.assignment,
                        item=question.item,
                        criterion=answer.criterion,
                        grade=grade,
                        spans=spans,
                        seconds=answer.seconds,
                        written=written,
                        guidelines=version,
                        unsure=unsure,
                        at=now(),
                    )
            except (ValueError, AssignmentReturned, StudyClosed) as refused:
                return f"{question.name}: {refused}"
            closed.update(rules.closed_with(answer.criterion, grade))
    return ""


def read_answer(
    screen: Screen, writing: Writing, question: Question, answer: Answer, grade: float | None, posted: QueryDict
) -> tuple[list[Span], Written]:
    """Read a form's chosen sentences, written answer and confirmations; no sentences go where nothing is answered."""
    name = f"{question.item.pk}-{answer.criterion.pk}"
    chosen = set(posted.getlist(f"sentence-{name}"))
    spans = [
        Span(**sentence, purpose=screen.purpose)
        for number, sentence in enumerate(screen.extras["sentences"])
        if str(number) in chosen and (grade is None or grade in writing.grades)
    ]
    text = posted.get(f"answer-{name}", answer.written.text).replace("\r\n", "\n")
    return spans, Written(text, tuple(posted.getlist(f"confirmed-{name}")))


# --- One choice ---------------------------------------------------------------------------------


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
        return JsonResponse({"refused": str(refused)}, status=409)
    except AssignmentReturned as refused:
        return JsonResponse({"refused": str(refused)}, status=410)
    return JsonResponse(asdict(saved))


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
            found = _assignment_of(pk=one.pk, user=request.user.pk)
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


@require_POST
@login_required
def guidelines_read(request: SignedInRequest, pk: int) -> HttpResponse:
    """Note that this version of the guidelines was open in front of the assessor."""
    assignment = mine_or_404(request, pk)
    version = request.POST.get("version", "")
    if version.isdecimal() and len(version) < 5:
        note_reading(study=assignment.task.study, user=request.user, version=int(version), at=now())
    return HttpResponse(status=204)


@require_POST
@login_required
def keep_earlier(request: SignedInRequest, pk: int) -> HttpResponse:
    """Forget what was changed in a submitted assignment and is not complete: what was submitted stays."""
    assignment = mine_or_404(request, pk)

    drop_changes(assignment=assignment)

    messages.success(request, gettext("Your submitted answers are kept."))
    return redirect("annotate:assignment", pk=pk)


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
