"""The page of one task, for work, training and preview."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.timezone import now

from annotate.assignments.shown import Screen
from annotate.assignments.task_page import screen_for_nobody
from annotate.models import Assignment, Task
from annotate.quality.pasting import pasted_into
from annotate.quality.training import TrainingText
from annotate.suggestions.shown import as_shown
from annotate.task_types import RULES, AskedItem
from annotate.templatetags.kept import drawn_page
from annotate.work.addresses import (
    Addresses,
)
from annotate.work.mine import assignment_of
from annotate.work.pace import SkipReason, pay_so_far
from annotate.work.queue import nth_of_all
from annotate.work.sent_choices import key_in
from collection.accounts.views import SignedInRequest
from collection.models import Study


def render_screen(
    request: SignedInRequest,
    screen: Screen,
    *,
    refusal: str = "",
    preview: bool = False,
    preview_leads_to: tuple[str, str] | None = None,
    training: Mapping[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    task = screen.assignment.task
    back = key_in(request.GET.get("back", ""))
    is_work = not preview and screen.assignment.state == Assignment.State.OPEN
    nth, n_tasks = nth_of_all(screen.assignment, request.user, at=now()) if is_work else (None, None)
    template = RULES[task.task_type].template
    context = {
        "screen": screen,
        "assignment": screen.assignment,
        "addresses": Addresses(screen.assignment.pk),
        "task": task,
        "refusal": refusal,
        "preview": preview,
        "preview_leads_to": preview_leads_to,
        "training": training,
        "pasted": pasted_into(screen) if RULES[task.task_type].writing and not preview else None,
        "skip_reasons": SkipReason.choices,
        "nth": nth,
        "n_tasks": n_tasks,
        "pay": pay_so_far(study=task.study, user=request.user, nth=nth, n_tasks=n_tasks) if nth else None,
        "back": next(iter(assignment_of(pk=back, user=request.user.pk)), None) if back else None,
        "answers": {
            question.item.pk: {
                answer.criterion.pk: {
                    "grade": answer.grade,
                    "spans": [[span.start, span.end, span.quote] for span in answer.spans],
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


def training_screen(study: Study, text: TrainingText, *, at: datetime) -> Screen:
    """Return the screen that would ask about this text. Nothing is stored for it."""
    item = text.item
    task = Task(study=study, task_type=item.task_type, topic=item.topic, report=item.report, passage=item.passage)
    items = {question.item.pk: question.item for question in text.questions}
    return screen_for_nobody(task, map(AskedItem, items.values()), at=at)
