"""Which arm an assignment draws, and what of the judge goes with it: drawn once, kept with its probability."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.utils.module_loading import import_string

from annotate.models import Assignment, GoldGrade, Place, Task, TaskItem
from annotate.suggestions.quotes import quoted_spans
from collection.models import (
    Arm,
    Criterion,
    Draw,
    Highlight,
    Item,
    Judgment,
    SplitTopic,
    Suggestion,
    SuggestionDesign,
)
from collection.models.studies import TaskType

# Whose screens can show a suggestion.
TAKES_SUGGESTIONS = frozenset(
    {TaskType.ANSWERABILITY, TaskType.RATING, TaskType.KEY_POINT, TaskType.RELEVANCE, TaskType.NUGGET}
)
_random = random.SystemRandom()


def draw_suggestions(
    design: SuggestionDesign,
    assignment: Assignment,
    items: Sequence[Item],
    *,
    at: datetime,
) -> Arm | None:
    """Draw the arm of an assignment that asks these items, and copy what the judge said of them. None: no draw.

    Nothing is drawn where the judge graded none of them, and never for what measures people or judges: of a task with
    known grades, say, nothing at all; of one with anchors of a judge these questions alone.
    """
    task = assignment.task
    if task.task_type not in TAKES_SUGGESTIONS or task.everyone or measuring_items(items):
        return None
    said = _said_by(design, items)
    if not said:
        return None
    probabilities = design.probabilities
    arm = Arm(_random.choices(list(probabilities), weights=list(probabilities.values()))[0])
    reasons, spans = _reasons(design, said)
    shown = task.passage or task.report
    text = (shown.text if shown else "") or ""
    rows = [
        Suggestion(
            item_id=one.item_id,
            criterion_id=one.criterion_id,
            rater_id=assignment.rater_id,
            arm=arm,
            probability=probabilities[arm],
            judge_id=design.judge_id,
            grade=one.grade or 0.0,  # graded()
            reason=(reason := reasons.get((one.item_id, one.criterion_id), "")),
            spans=spans.get(one.pk) or quoted_spans(reason, text),
            drawn_at=at,
        )
        for one in said
    ]
    for row in rows:
        if arm == Arm.POST_EDIT or (arm == Arm.VERIFY and row.spans):
            row.shown_at = at
    Suggestion.objects.bulk_create(rows)
    assignment.arm = arm
    assignment.save(update_fields=["arm"])
    return arm


def measuring_items(items: Sequence[Item]) -> set[int]:
    """Return which of these items are there to measure people or judges: nothing may touch what is said in their tasks.

    These are items with a known grade, of the test part (of any study of the collection), seen by everyone, and drawn
    by active labelling to calibrate a judge.
    """
    keys = [item.pk for item in items]
    topics = {item.topic_id for item in items}
    held_out = SplitTopic.objects.filter(part=SplitTopic.Part.TEST, topic__in=topics).values_list("topic_id", flat=True)
    drawn_to_measure = Draw.objects.filter(item__in=keys, purpose__in=[Draw.Purpose.CONTROL, Draw.Purpose.ACTIVE])
    of_test = set(held_out)
    return {
        *GoldGrade.objects.filter(item__in=keys).values_list("item_id", flat=True),
        *drawn_to_measure.values_list("item_id", flat=True),
        *(item.pk for item in items if item.topic_id in of_test),
    }


def _said_by(design: SuggestionDesign, items: Sequence[Item]) -> list[Judgment]:
    """What the judge graded of the items, under the study's own criteria, without what its changes are measured on."""
    keys = [item.pk for item in items]
    graded = Judgment.objects.filter(rater=design.judge_id, item__in=keys, criterion__study=design.study_id)
    said = graded.graded().select_related("criterion").order_by("item_id", "criterion_id")
    anchors = import_string(settings.ANCHORS_OF_JUDGES)(keys)
    return [one for one in said if (one.item_id, one.criterion_id) not in anchors]


@dataclass(frozen=True)
class Reach:
    """How many tasks with a free place there are to come, and how many of them can draw an arm."""

    to_come: int
    can_draw: int


def reach_of(design: SuggestionDesign) -> Reach:
    """Return which tasks to come can draw an arm under this design, in a fixed number of queries."""
    free = Place.objects.filter(task=OuterRef("pk"), holder=None)
    to_come = list(Task.objects.filter(Exists(free), study=design.study_id))
    tasks = {task.pk for task in to_come if task.task_type in TAKES_SUGGESTIONS and not task.everyone}
    of_task: dict[int, set[int]] = defaultdict(set)
    for task, item in TaskItem.objects.filter(task__in=tasks).values_list("task_id", "item_id"):
        of_task[task].add(item)
    items = list(Item.objects.filter(task_item__task__in=tasks).only("pk", "topic"))
    measuring = measuring_items(items)
    said = {one.item_id for one in _said_by(design, items)}
    can_draw = sum(bool(asked & said) and not asked & measuring for asked in of_task.values())
    return Reach(len(to_come), can_draw)


def _reasons(
    design: SuggestionDesign, said: Sequence[Judgment]
) -> tuple[dict[tuple[int, int], str], dict[int, list[dict[str, Any]]]]:
    """Return the judge's reasons by item and criterion, and the words it marked by judgment."""
    reasons_of = import_string(settings.REASONS_OF_JUDGES)
    by_criterion: dict[Criterion, list[int]] = defaultdict(list)
    for one in said:
        by_criterion[one.criterion].append(one.item_id)
    reasons = {
        (item, criterion.pk): reason
        for criterion, items in by_criterion.items()
        for item, reason in reasons_of(design.judge, criterion, items).items()
    }
    spans: dict[int, list[dict[str, Any]]] = defaultdict(list)
    marked = Highlight.objects.filter(judgment__in=said, start__isnull=False).order_by("start")
    for judgment, start, end, quote in marked.values_list("judgment_id", "start", "end", "quote"):
        spans[judgment].append({"start": start, "end": end, "quote": quote})
    return reasons, spans
