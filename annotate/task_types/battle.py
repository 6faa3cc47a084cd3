"""Battles (TREC RAG): two systems' reports on one topic side by side, and which is better, or neither.

One task is one pair. No page and no answer of the API names a system or a run: which of a pair's reports is the first
says nothing of them, and the sides are drawn for each assignment.
"""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext

from annotate.frames.scope import framed_reports
from annotate.models import Assignment, AssignmentItem, Task
from annotate.task_types.rules import AskedItem, TaskTypeRules
from annotate.task_types.texts import NewItem, NothingToJudge, Text
from collection.hidden_order import hidden_order
from collection.models import Criterion, Item, Rater, Report, Study
from collection.models.studies import TaskType
from collection.texts.lines import lines_of

_random = random.SystemRandom()


def battles_of(study: Study) -> list[Text]:
    """Every pair of reports on a topic. A sample by system has each pair of runs as a stratum."""
    by_topic: dict[tuple[int, str], list[tuple[str, int]]] = defaultdict(list)
    reports = framed_reports(study).order_by("topic", "run__name")
    for pk, run, topic, topic_id in reports.values_list("pk", "run__name", "topic__pk", "topic__topic_id"):
        by_topic[topic, topic_id].append((run, pk))
    texts = [
        battle_of(topic, topic_id, *pair)
        for (topic, topic_id), named in by_topic.items()
        for pair in combinations(named, 2)
    ]
    if not texts:
        raise NothingToJudge(
            f"“{study.collection}” has no topic with the reports of two runs, so there is nothing to compare. Import "
            "two runs with reports on the same topics, or leave out the task type “battle of two reports”."
        )
    return texts


def battle_of(topic: int, topic_id: str, *pair: tuple[str, int]) -> Text:
    """Return the text that compares two reports, given as (run, report)."""
    first, second = sorted(pair, key=lambda one: hidden_order(topic_id, one[0]))
    item_id = f"battle/{topic_id}/{first[0]}/{second[0]}"
    item = NewItem(TaskType.BATTLE, item_id, report=first[1], other_report=second[1])
    runs = [run for run, _ in pair]
    return Text(TaskType.BATTLE, topic, topic_id, drawn_as(topic_id, runs), (item,), system=" – ".join(sorted(runs)))


def drawn_as(topic_id: str, runs: Sequence[str]) -> str:
    """Return the name by which a sample draws a pair. Anybody can compute it, as a draw with a known seed must be."""
    return "/".join(sorted(runs, key=lambda run: hashlib.sha256(f"{topic_id}\n{run}".encode()).digest()))


def draw_sides(items: Sequence[Item], task: Task, rater: Rater | None) -> list[AskedItem]:  # noqa: ARG001 - a draw_items
    return [AskedItem(item, swapped=_random.random() < 0.5) for item in items]


def sides_of(row: AssignmentItem, criterion: Criterion) -> list[dict[str, Any]]:
    """Return the scale's points as the assessor sees them: left, tie, right. The page has words for the two sides."""
    names = {
        -1: (gettext("Right"), gettext("The right report is better.")),
        1: (gettext("Left"), gettext("The left report is better.")),
    }
    left_first = sorted(criterion.scale.points, key=lambda point: point["value"], reverse=not row.swapped)
    shown = []
    for key, point in enumerate(left_first, start=1):
        name, text = names.get(
            -point["value"] if row.swapped else point["value"], (capfirst(point["name"]), point["text"])
        )
        shown.append({"value": point["value"], "name": name, "text": text, "key": str(key)})
    return shown


def what_is_shown(assignment: Assignment, asked: Sequence[AssignmentItem]) -> Mapping[str, Any]:  # noqa: ARG001 - an extras_of
    """Return the two reports as `sides`, left and right, and as `pairs` how those who review name the sides."""
    of_pairs = [(row, row.item.report_id or 0, row.item.other_report_id or 0) for row in asked]
    texts = dict(Report.objects.filter(pk__in=[pk for _, *pair in of_pairs for pk in pair]).values_list("pk", "text"))
    sides = [
        {"side": side, "paragraphs": lines_of(texts[pk])}
        for row, first, second in of_pairs[:1]
        for side, pk in zip(("left", "right"), (second, first) if row.swapped else (first, second), strict=True)
    ]
    pairs = [{"item": row.item_id, "left": "left", "right": "right", "swapped": row.swapped} for row in asked]
    return {"sides": sides, "pairs": pairs}


RULES = TaskTypeRules(
    task_type=TaskType.BATTLE,
    summary="For each topic: two systems’ reports side by side. Which is better, or neither?",
    texts_are="pairs of reports",
    texts_of=battles_of,
    draw_items=draw_sides,
    points_of=sides_of,
    extras_of=what_is_shown,
)
