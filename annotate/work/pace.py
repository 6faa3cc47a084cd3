"""Keeping an assessor's work flowing: the next task fetched ahead, a task skipped with a reason, the time left."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from statistics import median

from django.core.cache import cache
from django.db import models, transaction
from django.utils.translation import gettext_lazy

from annotate.assignments.assignments import AHEAD, claim, return_assignment
from annotate.assignments.kept_work import kept_of
from annotate.models import Assignment, SkippedWork
from annotate.sessions.sessions import session_of
from collection.models import Comment, Rater, Study, User

PACE_OF_LAST = 20
FEWEST_FOR_A_PACE = 2
PAY_KNOWN_FOR = 300  # seconds


class SkipReason(models.TextChoices):
    """Why an assessor passes a task on."""

    UNCLEAR = "unclear", gettext_lazy("I don’t understand the text or the question")
    BROKEN = "broken", gettext_lazy("Something is broken: text missing, garbled, wrong language")
    DISTRESSING = "distressing", gettext_lazy("I’d rather not read this")
    OTHER = "other", gettext_lazy("Another reason")


@transaction.atomic
def skip_assignment(*, assignment: Assignment, reason: SkipReason, words: str, at: datetime) -> None:
    """Give the task back with a reason, which reaches the researcher. Doing it twice changes nothing.

    What was answered goes into the history; the place is free for somebody else.
    """
    stored = Assignment.objects.select_for_update(of=("self",)).get(pk=assignment.pk)
    (work,) = kept_of([stored])
    if not return_assignment(assignment=assignment, because=Assignment.Because.SKIPPED, at=at):
        return
    items = list(assignment.asked.values_list("item", flat=True))
    comment = Comment.objects.create(
        study=assignment.task.study,
        item_id=items[0] if items else None,
        whole_task=len(items) > 1,
        rater=assignment.rater,
        text=f"Skipped: {reason.label}. {words}".strip(),
        broken=reason == SkipReason.BROKEN,
        made_at=at,
    )
    SkippedWork.objects.update_or_create(assignment=stored, defaults={"work": work, "comment": comment})


def claim_ahead(*, assignment: Assignment, at: datetime) -> list[Assignment]:
    """Put the tasks that follow this one into the assessor's hands already, so that their pages can be fetched.

    Nothing is claimed where tasks wait for this one (they come next, once it is submitted), nor when it is submitted.
    """
    if assignment.state != Assignment.State.OPEN:
        return []
    in_hand = claim(study=assignment.task.study, rater=assignment.rater, at=at, ahead=AHEAD)
    return [one for one in in_hand if one.pk != assignment.pk]


def pace_of(study: Study, rater: Rater) -> float | None:
    """Return the median active seconds of the last tasks that this rater submitted; None before there are some."""
    submitted = Assignment.objects.filter(task__study=study, rater=rater, state=Assignment.State.SUBMITTED)
    seconds = list(submitted.order_by("-submitted_at").values_list("active_seconds", flat=True)[:PACE_OF_LAST])
    return median(seconds) if len(seconds) >= FEWEST_FOR_A_PACE else None


@dataclass(frozen=True)
class SessionPay:
    """What a crowd session pays for all of its tasks, and how many of these are done. `reward` is a plain decimal."""

    reward: str
    currency: str
    done: int
    tasks: int


def pay_so_far(*, study: Study, user: User, nth: int, n_tasks: int | None) -> SessionPay | None:
    """Return the pay of the session in which this is the person's nth task; None where nobody pays by session."""

    def paid() -> tuple[str, str]:
        session = session_of(study=study, user=user)
        return (f"{session.terms.reward:f}", session.terms.currency) if session and session.terms.reward else ("", "")

    reward, currency = cache.get_or_set(f"session-pay:{study.pk}:{user.pk}", paid, PAY_KNOWN_FOR) or ("", "")
    return SessionPay(reward, currency, nth - 1, n_tasks) if reward and n_tasks else None


def minutes_left(pace: float | None, tasks: int) -> int | None:
    """Return the minutes that so many tasks take at this pace, at least one; None where there is no pace."""
    return max(1, round(pace * tasks / 60)) if pace and tasks else None
