"""What returned work held, kept beside it: enough to bring it back, together with the history.

Grades, highlights and texts stand in the history of judgments. Drafts, what was confirmed of an answer and how each
assignment stood are in no history, so they are written down before they go.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Max

from annotate.assignments.revisions import hand_on_answer
from annotate.models import Assignment, Draft, Place
from collection.judgments.pair_orders import record_order
from collection.judgments.services import Span, Written, record_judgment
from collection.models import EarlierJudgment, WrittenAnswer
from collection.models.studies import TaskType

RETURNED = "returned"
DRAFT_FIELDS = (
    "item_id",
    "criterion_id",
    "grade",
    "spans",
    "answer",
    "confirmations",
    "unsure",
    "seconds",
    "saved_at",
    "unfinished",
)


class PlacesGone(Exception):
    """Others have got the places of this work."""


# --- Before it goes -----------------------------------------------------------------------------


def kept_of(assignments: Sequence[Assignment]) -> list[dict[str, Any]]:
    """Return what is written down of the work: as JSON, for a row."""
    return [_kept(assignment) for assignment in assignments]


def _kept(assignment: Assignment) -> dict[str, Any]:
    answers = WrittenAnswer.objects.filter(
        judgment__item__asked__assignment=assignment, judgment__rater=assignment.rater_id
    )
    drafts = [{**draft, "saved_at": draft["saved_at"].isoformat()} for draft in assignment.drafts.values(*DRAFT_FIELDS)]
    return {
        "assignment": assignment.pk,
        "state": assignment.state,
        "active_seconds": assignment.active_seconds,
        "drafts": drafts,
        "confirmed": [
            list(row) for row in answers.values_list("judgment__item", "judgment__criterion", "confirmations")
        ],
    }


# --- And back -----------------------------------------------------------------------------------


def bring_back(work: Sequence[dict[str, Any]], *, returned_at: datetime, at: datetime) -> None:
    """Give the assignments back to their assessor, with places, judgments and drafts. Raises PlacesGone."""
    held = Assignment.objects.select_for_update(of=("self",)).select_related("task", "rater__user")
    stored = held.in_bulk([kept["assignment"] for kept in work])
    seats = {pk: _free_place(assignment) for pk, assignment in stored.items()}
    if gone := [pk for pk, place in seats.items() if place is None]:
        raise PlacesGone(
            f"{len(gone)} of its {len(seats)} task{'s' if len(seats) != 1 else ''} went to others in the meantime, so "
            "the session stays returned. Its labels are in the history; you can still pay the person at the site."
        )
    for kept in work:
        assignment, place = stored[kept["assignment"]], seats[kept["assignment"]]
        assert place is not None
        place.holder = assignment.rater
        place.save(update_fields=["holder"])
        assignment.place, assignment.state = place, kept["state"]
        assignment.active_seconds, assignment.touched_at = kept["active_seconds"], at
        assignment.returned_at, assignment.returned_because = None, ""
        assignment.save(
            update_fields=["place", "state", "active_seconds", "touched_at", "returned_at", "returned_because"]
        )
        _bring_back_judgments(assignment, kept, returned_at=returned_at)
        for draft in kept["drafts"]:
            saved_at = datetime.fromisoformat(draft["saved_at"])
            Draft.objects.create(assignment=assignment, **{**draft, "saved_at": saved_at})
        if assignment.task.task_type == TaskType.WRITTEN_ANSWER and assignment.state == Assignment.State.SUBMITTED:
            for asked in assignment.asked.select_related("item"):
                hand_on_answer(item=asked.item, writer=assignment.rater, at=at)


def _free_place(assignment: Assignment) -> Place | None:
    """Return the assignment's place, or another free one of its task; a task for everyone gets one more."""
    free = Place.objects.select_for_update().filter(task=assignment.task_id, holder=None)
    places = {place.pk: place for place in free}
    if places:
        return places.get(assignment.place_id) or next(iter(places.values()))
    if not assignment.task.everyone:
        return None
    last = assignment.task.places.aggregate(last=Max("number"))["last"] or 0
    return Place.objects.create(task=assignment.task, number=last + 1)


def _bring_back_judgments(assignment: Assignment, kept: dict[str, Any], *, returned_at: datetime) -> None:
    """Judge again as it was judged before; the history keeps that it was withdrawn meanwhile."""
    confirmed = {(item, criterion): names for item, criterion, names in kept["confirmed"]}
    swapped = dict(assignment.asked.values_list("item__pk", "swapped"))
    earlier = EarlierJudgment.objects.filter(
        item__asked__assignment=assignment, rater=assignment.rater_id, replaced_at=returned_at, reason=RETURNED
    )
    related = ("item__passage", "item__report", "criterion__scale", "guideline", "rater")
    for was in earlier.select_related(*related).order_by("pk"):
        names = confirmed.get((was.item_id, was.criterion_id))
        assert was.grade is not None  # people are never ungraded
        judgment = record_judgment(
            item=was.item,
            criterion=was.criterion,
            rater=was.rater,
            grade=was.grade,
            spans=[Span(one["start"] or 0, one["end"] or 0, one["quote"], one["purpose"]) for one in was.highlights],
            seconds=was.seconds,
            guideline=was.guideline,
            unsure=was.unsure,
            written=None if names is None else Written(was.answer, tuple(names)),
            at=was.judged_at,
        )
        if was.item.other_report_id is not None:
            record_order(judgment=judgment, swapped=swapped[was.item_id])
