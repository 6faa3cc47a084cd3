"""Which arm an assignment draws, and what of the judge goes with it: drawn once, kept with its probability."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from annotate.models import Assignment, GoldGrade
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

    Nothing is drawn where the judge graded none of them, and never for what measures people or judges.
    """
    task = assignment.task
    if task.task_type not in TAKES_SUGGESTIONS or task.everyone or measures_something(items):
        return None
    said = _said_by(design, items)
    if not said:
        return None
    probabilities = design.probabilities
    arm = Arm(_random.choices(list(probabilities), weights=list(probabilities.values()))[0])
    reasons, spans = _reasons(design, said)
    shown = task.passage or task.report
    text = (shown.text if shown else "") or ""
    Suggestion.objects.bulk_create(
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
            shown_at=at if arm in (Arm.VERIFY, Arm.POST_EDIT) else None,
        )
        for one in said
    )
    assignment.arm = arm
    assignment.save(update_fields=["arm"])
    return arm


def measures_something(items: Sequence[Item]) -> bool:
    """Whether any of these items is there to measure people or judges: nothing may touch what is said of them.

    These are items with a known grade, of the test part (of any study of the collection), seen by everyone, drawn by
    active labelling to calibrate a judge, and anchors of a judge.
    """
    keys = [item.pk for item in items]
    topics = {item.topic_id for item in items}
    held_out = SplitTopic.objects.filter(part=SplitTopic.Part.TEST, topic__in=topics)
    drawn_to_measure = Draw.objects.filter(item__in=keys, purpose__in=[Draw.Purpose.CONTROL, Draw.Purpose.ACTIVE])
    return (
        GoldGrade.objects.filter(item__in=keys).exists()
        or held_out.exists()
        or drawn_to_measure.exists()
        or bool(import_string(settings.ITEMS_THAT_MEASURE_JUDGES)(keys))
    )


def _said_by(design: SuggestionDesign, items: Sequence[Item]) -> list[Judgment]:
    """What the judge graded of the items, under the study's own criteria."""
    graded = Judgment.objects.filter(rater=design.judge_id, item__in=items, criterion__study=design.study_id)
    return list(graded.graded().select_related("criterion").order_by("item_id", "criterion_id"))


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
