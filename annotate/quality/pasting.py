"""Text pasted into written answers: noticed in the browser, kept as counts, shown to researchers as a sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from annotate.assignments.shown import Screen
from annotate.models import AssignmentItem, Pasting
from collection.models import Study, User

MOST = 2**31 - 1


@dataclass(frozen=True)
class Pasted:
    """How often text from elsewhere was pasted into an answer so far, and how many characters it had in all."""

    times: int
    characters: int


def pasted_into(screen: Screen) -> Pasting | None:
    """Return what was noticed so far at a task that asks for one written answer."""
    return Pasting.objects.filter(asked__assignment=screen.assignment).first()


def note_pasting(*, asked: AssignmentItem, pasted: Pasted, at: datetime) -> None:
    """Keep what the browser counts. It counts on, so the largest is kept: sent twice, nothing counts twice."""
    if not pasted.times:
        return
    pasting, is_new = Pasting.objects.get_or_create(
        asked=asked, defaults={"times": pasted.times, "characters": pasted.characters, "noted_at": at}
    )
    if is_new or (pasting.times >= pasted.times and pasting.characters >= pasted.characters):
        return
    pasting.times = max(pasting.times, pasted.times)
    pasting.characters = max(pasting.characters, pasted.characters)
    pasting.noted_at = at
    pasting.save(update_fields=["times", "characters", "noted_at"])


def pastings_of(*, study: Study, user: User) -> QuerySet[Pasting]:
    """Return what was noticed of this person in the study, answer by answer."""
    return Pasting.objects.filter(
        asked__assignment__task__study=study, asked__assignment__rater__user=user
    ).select_related("asked__item")


def pasted_by_rater(study: Study) -> Sequence[tuple[int, int, int]]:
    """Return rater, times and characters of every answer of the study into which something was pasted."""
    rows = Pasting.objects.filter(asked__assignment__task__study=study).order_by("pk")
    return list(rows.values_list("asked__assignment__rater_id", "times", "characters"))
