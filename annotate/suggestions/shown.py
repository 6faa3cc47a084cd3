"""What of a judge an assignment's page shows, and what its assessor had said before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from annotate.models import Assignment
from collection.models import Arm, Suggestion

By = Mapping[tuple[int, int], Suggestion]


def seen_suggestions(assignment: Assignment) -> By:
    """Return the suggestions that the assignment's page may show now, by item and criterion.

    In the arm *after* nothing is in it before the assessor's own answers are stored.
    """
    if assignment.arm not in (Arm.AFTER, Arm.VERIFY, Arm.POST_EDIT):
        return {}
    stored = _of(assignment).select_related("criterion__scale")
    return {(one.item_id, one.criterion_id): one for one in stored if one.is_seen}


def show_after(assignment: Assignment, own: Iterable[tuple[int, int, float | None, float]], *, at: datetime) -> bool:
    """Let a finished assignment of the arm *after* show what the judge said. Returns whether its assessor must look.

    `own` are the assessor's answers, each with its item, criterion, grade and seconds, which are kept as they are now.
    The caller has locked the assignment.
    """
    waiting = {(one.item_id, one.criterion_id): one for one in _of(assignment).filter(decided_at=None)}
    fresh = []
    for item, criterion, grade, seconds in own:
        one = waiting.get((item, criterion))
        if one is not None and one.shown_at is None and grade is not None:
            one.own_grade, one.own_seconds, one.shown_at = grade, seconds, at
            fresh.append(one)
    Suggestion.objects.bulk_update(fresh, ["own_grade", "own_seconds", "shown_at"])
    return any(one.shown_at is not None for one in waiting.values())


def note_decision(
    assignment: Assignment,
    *,
    at: datetime,
    item: int | None = None,
    criterion: int | None = None,
    seconds: float | None = None,
) -> None:
    """Note that the assessor kept or changed what they had said, having seen the judge's grade: all, or of one item."""
    if assignment.arm != Arm.AFTER:
        return
    shown = _of(assignment).filter(shown_at__isnull=False)
    if item is not None:
        shown = shown.filter(item=item, criterion=criterion)
    shown.filter(decided_at=None).update(decided_at=at, decided_seconds=seconds)


def as_shown(suggestion: Suggestion | None) -> dict[str, Any] | None:
    """Return what a page's scripts and the API tell of a suggestion that may be seen."""
    if suggestion is None:
        return None
    told: dict[str, Any] = {"arm": suggestion.arm, "spans": suggestion.spans}
    if suggestion.arm != Arm.VERIFY:
        told["grade"] = suggestion.grade
    if suggestion.arm == Arm.AFTER:
        told |= {"reason": suggestion.reason, "decided": suggestion.decided_at is not None}
    return told


def _of(assignment: Assignment) -> QuerySet[Suggestion]:
    return Suggestion.objects.filter(rater=assignment.rater_id, item__asked__assignment=assignment.pk)
