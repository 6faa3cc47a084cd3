"""Known grades: marked by the researcher on a page, by a CSV file or the API; and how well people meet them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.timezone import now

from annotate.frames.topics import store_topics
from annotate.models import AssignmentItem, GoldGrade, Task, TaskItem
from annotate.studies.layout import make_items
from annotate.studies.task_counts import asked_of
from annotate.task_types import NothingToJudge
from collection.formats.problems import MOST_PROBLEMS, BrokenFile, BrokenLine, InputFile, Problem
from collection.formats.tables import csv_rows
from collection.formats.values import read_number
from collection.judgments.services import GradeNotOnScale, check_grade
from collection.models import Criterion, Item, Judgment, Study, User
from collection.questions.shapes import TASK_TYPES

COLUMNS = ("item_id", "criterion", "grade", "tolerance", "purpose", "explanation")
NEEDED = ("item_id", "criterion", "grade")


class NoGold(ValueError):
    """This cannot be a known grade. It says why."""


# --- Marking --------------------------------------------------------------------------------------


def prepare_items(study: Study) -> int:
    """Make the items that the study would have when it opens, without tasks, so that a draft's can be marked.

    Returns how many items the study has. Raises NothingToJudge.
    """
    asked = asked_of(study)
    if asked.problems:
        raise NothingToJudge(" ".join(dict.fromkeys(asked.problems.values())))
    store_topics(study, asked.topics, at=now())
    study.save(update_fields=["samples"])
    return len(make_items(study, [text for found in asked.texts.values() for text in found]))


def items_with_known_grades(items: Iterable[int]) -> set[int]:
    """Return which of the items have a known grade under any criterion; `judging` finds this through the settings."""
    return set(GoldGrade.objects.filter(item__in=list(items)).values_list("item_id", flat=True))


@transaction.atomic
def mark_gold(
    *,
    item: Item,
    criterion: Criterion,
    grade: float,
    tolerance: float = 0,
    purpose: str = GoldGrade.Purpose.GOLD,
    explanation: str = "",
    by: User,
    at: datetime,
) -> GoldGrade:
    """Make this the known grade of the item under the criterion, in the place of one before.

    An item for training leaves the work: nobody is asked for what the training tells. Raises NoGold.
    """
    if criterion.study_id != item.study_id or criterion.task_type != item.task_type:
        raise NoGold(f"“{criterion}” is not asked about {item}.")
    if not math.isfinite(tolerance) or tolerance < 0:
        raise NoGold("The tolerance must be 0 or more.")
    try:
        check_grade(grade, criterion)
    except GradeNotOnScale as refused:
        raise NoGold(str(refused)) from refused
    if purpose == GoldGrade.Purpose.TRAINING:
        take_out_of_the_work(item)
    _change_purpose(item, purpose)
    gold, _ = GoldGrade.objects.update_or_create(
        item=item,
        criterion=criterion,
        defaults={
            "grade": grade,
            "tolerance": tolerance,
            "purpose": purpose,
            "explanation": explanation,
            "marked_at": at,
            "marked_by": by,
        },
    )
    return gold


def _change_purpose(item: Item, purpose: str) -> None:
    """Let all known grades of the item be for this purpose. They count as new: sessions keep what they began with."""
    others = list(GoldGrade.objects.filter(item=item).exclude(purpose=purpose))
    GoldGrade.objects.filter(pk__in=[gold.pk for gold in others]).delete()
    for gold in others:
        gold.pk, gold.purpose = None, purpose
        gold.save(force_insert=True)


def take_out_of_the_work(item: Item) -> None:
    """Remove the item from its task, and the task if nothing else is in it. Raises NoGold if somebody was given it."""
    if AssignmentItem.objects.filter(item=item).exists():
        raise NoGold(f"{item} was given to somebody as work, so it cannot be for training. Choose another.")
    in_task = TaskItem.objects.filter(item=item).first()
    if in_task is None:
        return
    task = in_task.task
    in_task.delete()
    if not task.task_items.exists() and not task.assignments.exists():
        Task.objects.filter(pk=task.pk).delete()


def asked_criteria(item: Item) -> QuerySet[Criterion]:
    """Return the criteria that people are asked about the item, in their order."""
    shape = TASK_TYPES.get(item.task_type)
    asked_of_it = [one for one in shape.criteria if not one.after_no or item.report_id] if shape else []
    names = [criterion.name for criterion in asked_of_it]
    asked = Criterion.objects.filter(study=item.study_id, task_type=item.task_type, name__in=names)
    return asked.select_related("scale").order_by("position", "pk")


# --- A file ---------------------------------------------------------------------------------------


@transaction.atomic
def mark_from_csv(*, study: Study, file: InputFile, by: User, at: datetime) -> int:
    """Mark every row of a CSV file, or none. Returns how many. Raises BrokenFile, which says where and why."""
    with file:
        rows = list(csv_rows(file, needed=NEEDED, remedy=f"The columns are {', '.join(COLUMNS)}."))
    return mark_rows(study=study, rows=rows, name=file.name, by=by, at=at)


@transaction.atomic
def mark_rows(
    *, study: Study, rows: Iterable[tuple[int, Mapping[str, str | None]]], name: str, by: User, at: datetime
) -> int:
    """Mark numbered rows with the fields COLUMNS, all of them or none. Raises BrokenFile."""
    rows = list(rows)
    ids = {row.get("item_id") for _, row in rows}
    items = {item.item_id: item for item in study.items.filter(item_id__in=[i for i in ids if i])}
    criteria = {criterion.name: criterion for criterion in study.criteria.select_related("scale")}
    problems: list[Problem] = []
    for line, row in rows:
        try:
            _mark_row(row, items, criteria, by=by, at=at)
        except BrokenLine as broken:
            problems.append(Problem(line, broken.reason, broken.remedy))
        if len(problems) >= MOST_PROBLEMS:
            break
    if problems:
        raise BrokenFile(name, problems)
    return len(rows)


def _mark_row(
    row: Mapping[str, str | None],
    items: Mapping[str, Item],
    criteria: Mapping[str, Criterion],
    *,
    by: User,
    at: datetime,
) -> None:
    item = items.get(row.get("item_id") or "")
    if item is None:
        raise BrokenLine(
            f"The study has no item “{row.get('item_id')}”.", "Use an item_id from the study’s export of items."
        )
    criterion = criteria.get(row.get("criterion") or "")
    if criterion is None:
        raise BrokenLine(f"The study has no criterion “{row.get('criterion')}”.", f"It has {', '.join(criteria)}.")
    purpose = row.get("purpose") or GoldGrade.Purpose.GOLD
    if purpose not in GoldGrade.Purpose.values:
        raise BrokenLine(f"“{purpose}” is not a purpose.", "Use gold or training.")
    try:
        mark_gold(
            item=item,
            criterion=criterion,
            grade=read_number(row.get("grade") or "", "grade"),
            tolerance=read_number(row.get("tolerance") or "0", "tolerance"),
            purpose=purpose,
            explanation=row.get("explanation") or "",
            by=by,
            at=at,
        )
    except NoGold as refused:
        raise BrokenLine(str(refused)) from refused


# --- How well people meet it ----------------------------------------------------------------------


@dataclass(frozen=True)
class GoldScore:
    """How many of a person's judgments meet silent gold, of how many."""

    right: int
    n: int

    @property
    def share(self) -> float:
        return self.right / self.n


def gold_scores(study: Study) -> dict[int, GoldScore]:
    """Return each rater's score on the study's silent gold, by the rater's key. One query; ungraded are no answer."""
    rows = (
        Judgment.objects.filter(
            criterion__study=study,
            item__gold_grades__criterion=F("criterion"),
            item__gold_grades__purpose=GoldGrade.Purpose.GOLD,
        )
        .graded()
        .values_list("rater_id", "grade", "item__gold_grades__grade", "item__gold_grades__tolerance")
    )
    found: dict[int, list[bool]] = {}
    for rater, grade, gold, tolerance in rows:
        if grade is not None:
            found.setdefault(rater, []).append(abs(grade - gold) <= tolerance)
    return {rater: GoldScore(sum(right), len(right)) for rater, right in found.items()}
