"""What an assignment does not take from its assessor, and why."""

from __future__ import annotations

from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext

from annotate.models import Assignment, CrowdSession
from annotate.task_types import RULES
from collection.judgments.compiled_sql import compiled
from collection.models import Criterion, Item, Judgment, Study

# A paused study gives out no new work; what assessors hold they may finish.
TAKES_CHOICES = (Study.State.OPEN, Study.State.PAUSED)
IN_HAND = (Assignment.State.OPEN, Assignment.State.SUBMITTED)


class StudyClosed(Exception):
    """The study takes no choices any more."""


class AssignmentReturned(Exception):
    """The assignment went back: it is no longer in this assessor's hands."""


class NotAsked(ValueError):
    """The assignment does not ask this of its assessor."""


def why_fixed(assignment: Assignment) -> str:
    """Say why a submitted assignment takes no changes any more, or nothing.

    Who came from a crowd site may change what they submitted while their session lives: once it has ended, its code
    was shown and its work is paid as it was.
    """
    sessions = CrowdSession.objects.filter(
        participant__user=assignment.rater.user_id,
        participant__study=assignment.task.study_id,
        arrived_at__lte=assignment.submitted_at,
    )
    session = sessions.order_by("arrived_at", "pk").last()
    if session is None or session.state in {CrowdSession.State.ACTIVE, CrowdSession.State.NO_WORK}:
        return ""
    return gettext("This was submitted in a session that has ended, so it can no longer be changed.")


def refuse_if_over(assignment: Assignment) -> None:
    """Raise AssignmentReturned or StudyClosed if the assignment takes nothing any more.

    It is read again, after it was locked: what was read while waiting for the lock may be older than the wait.
    """
    (stored,) = _as_stored(pk=assignment.pk)
    if stored.state == Assignment.State.RETURNED:
        raise AssignmentReturned(gettext("This task is no longer assigned to you: it was returned."))
    if stored.task.study.state not in TAKES_CHOICES:
        is_closed = stored.task.study.state == Study.State.CLOSED
        told = gettext("“{study}” is closed: it accepts no answers now.")
        raise StudyClosed(
            (told if is_closed else gettext("“{study}” is not open: it accepts no answers now.")).format(
                study=stored.task.study
            )
        )


@compiled
def _as_stored(*, pk: int) -> QuerySet[Assignment]:
    return Assignment.objects.filter(pk=pk).select_related("task__study")


def refuse_out_of_step(assignment: Assignment, criterion: Criterion) -> None:
    """Raise NotAsked if the assignment is not yet, or no longer, at the step that asks the criterion."""
    first_step = RULES[assignment.task.task_type].first_step
    if not first_step:
        return
    revealed = Assignment.objects.filter(pk=assignment.pk, revealed_at__isnull=False).exists()
    if revealed and criterion.name in first_step:
        raise NotAsked(
            gettext("“{criterion}” is fixed: it was asked before you saw the passages.").format(
                criterion=criterion.question
            )
        )
    if not revealed and criterion.name not in first_step:
        says = gettext("“{criterion}” is asked when the passages are shown.")
        raise NotAsked(says.format(criterion=criterion.question))


def refuse_before_its_gate(assignment: Assignment, item: Item, criterion: Criterion) -> None:
    """Raise NotAsked if the criterion follows another, whose answer does not open it."""
    rules = RULES[assignment.task.task_type]
    gate = rules.follows.get(criterion.name)
    if gate is None:
        return
    after_no = criterion.name in rules.after_no
    threshold = F("criterion__threshold")
    opened = Judgment.objects.filter(
        item=item,
        rater=assignment.rater_id,
        criterion__study=criterion.study_id,
        criterion__name=gate,
        **({"grade__lt": threshold} if after_no else {"grade__gte": threshold}),
    )
    if not opened.exists():
        gates = Criterion.objects.filter(study=criterion.study_id, name=gate)
        says = (
            gettext("“{criterion}” is asked only after a negative answer to “{gate}”.")
            if after_no
            else gettext("“{criterion}” is asked only after a positive answer to “{gate}”.")
        )
        raise NotAsked(says.format(criterion=criterion.question, gate=gates.get().question))


def refuse_behind_a_closed_gate(assignment: Assignment, item: Item, criterion: Criterion) -> None:
    """Raise NotAsked if an answer about this item, or about its report, has closed the criterion."""
    closing = RULES[assignment.task.task_type].closed_by.get(criterion.name)
    if closing is None:
        return
    of_its_report = Q(item__report=item.report_id) & ~Q(item__task_type=item.task_type)
    closed = Judgment.objects.filter(
        Q(item=item) | (of_its_report if item.report_id else Q()),
        rater=assignment.rater_id,
        criterion__study=criterion.study_id,
        criterion__name__in=closing,
        grade__gte=F("criterion__threshold"),
    )
    if by := closed.select_related("criterion").first():
        raise NotAsked(
            gettext("“{criterion}” is not asked after a positive answer to “{gate}”.").format(
                criterion=criterion.question, gate=by.criterion.question
            )
        )
