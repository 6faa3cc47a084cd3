"""A study's screens as its assessors will see them."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotate.assignments.shown import Screen
from annotate.assignments.task_page import screen_for_nobody
from annotate.models import Task
from annotate.studies.layout import new_item
from annotate.studies.task_counts import task_types_of, texts_of
from annotate.studies.views import study_to_set_up
from annotate.task_types import RULES, NothingToJudge, Text
from annotate.task_types.rules import unmasked_items
from annotate.work.screens import render_screen
from collection.accounts.views import SignedInRequest
from collection.languages.languages import speak_as
from collection.models import Item, ReportSentence, RubricElement, Study
from collection.page_tools import telling
from collection.questions.shapes import title_of


@require_safe
@login_required
@never_cache
def preview(request: SignedInRequest, name: str, task_type: str) -> HttpResponse:
    """The first task of a type, to try out. Nothing is saved."""
    study = study_to_set_up(request, name)
    if task_type not in RULES:
        raise Http404

    speak_as(study, request)
    with telling(request, NothingToJudge):
        screen = preview_of(study, task_type, at=now(), revealed=request.GET.get("step") == "2")
        return render_screen(request, screen, preview=True)
    return redirect("annotate:study", name)


def preview_of(study: Study, task_type: str, *, at: datetime, revealed: bool = False) -> Screen:
    """Return the screen of the study's first task of this type, in nobody's hands; if `revealed`, its second step.

    A draft has no tasks, so its first text becomes one for this screen alone: nothing is stored. Raises NothingToJudge.
    """
    if task_type not in task_types_of(study):
        raise NothingToJudge(f"“{study}” does not ask for {title_of(task_type)}.")
    tasks = study.tasks.filter(task_type=task_type).select_related("topic", "report", "passage")
    task = tasks.order_by("position").first()
    if task:
        task.study, items = study, unmasked_items(task)
    else:
        task, items = _task_to_be(study, task_type)
    for item in items:
        item.study, item.topic = study, task.topic
    return screen_for_nobody(task, RULES[task_type].draw_items(items, task, None), at=at, revealed=revealed)


def _task_to_be(study: Study, task_type: str) -> tuple[Task, list[Item]]:
    """Return the task that opening the study would make of its first text, with its items."""
    texts = texts_of(study, task_type)[:1]
    if not texts:
        raise NothingToJudge(f"There is no text yet for {title_of(task_type)}.")
    (text,) = texts
    task = Task(study=study, task_type=task_type, topic_id=text.topic, report_id=text.report, passage_id=text.passage)
    return task, _items_to_be(study, text)


def _items_to_be(study: Study, text: Text) -> list[Item]:
    """Return the text's items, under keys below 0, which no table holds."""
    elements = RubricElement.objects.in_bulk([asked.element for asked in text.items if asked.element])
    sentences = ReportSentence.objects.in_bulk([asked.sentence for asked in text.items if asked.sentence])
    items = []
    for number, asked in enumerate(text.items, start=1):
        item = new_item(study, text, asked)
        item.pk = -number
        item.element = elements[asked.element] if asked.element else None
        item.sentence = sentences[asked.sentence] if asked.sentence else None
        items.append(item)
    return items
