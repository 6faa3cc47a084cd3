"""A task put aside for later, and one that was skipped taken back."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext, ngettext

from annotate.assignments.assignments import hold_enrolment
from annotate.assignments.design import design_of
from annotate.assignments.errors import refuse_if_over
from annotate.assignments.kept_work import PlacesGone, bring_back
from annotate.assignments.places import quota_is_full
from annotate.models import Assignment, SkippedWork
from annotate.sessions.sessions import has_all_its_tasks, has_ended, session_of
from collection.models import Comment, Study

MOST_SET_ASIDE = 5


class TooManySetAside(Exception):
    """So many tasks are set aside that no other may be."""


class SkippedForGood(Exception):
    """The skipped task cannot come back to its assessor."""


@transaction.atomic
def set_aside(*, assignment: Assignment, at: datetime) -> None:
    """Put the open assignment aside: it keeps its place and its answers, and others come first.

    Doing it twice changes nothing. Raises TooManySetAside, AssignmentReturned and StudyClosed.
    """
    study, rater = assignment.task.study, assignment.rater
    if rater.user_id:
        hold_enrolment(study=study.pk, user=rater.user_id)  # two tabs set aside one after the other
    stored = Assignment.objects.select_for_update(of=("self",)).get(pk=assignment.pk)
    refuse_if_over(stored)
    if stored.state != Assignment.State.OPEN or stored.set_aside_at:
        return
    if Assignment.objects.filter(task__study=study, rater=rater).set_aside().count() >= MOST_SET_ASIDE:
        raise TooManySetAside(
            ngettext(
                "{n} task is set aside already. Finish it first.",
                "{n} tasks are set aside already. Finish one of them first.",
                MOST_SET_ASIDE,
            ).format(n=MOST_SET_ASIDE)
        )
    stored.set_aside_at = stored.touched_at = at
    stored.save(update_fields=["set_aside_at", "touched_at"])


@transaction.atomic
def undo_skip(*, assignment: Assignment, at: datetime) -> None:
    """Give the skipped task back to its assessor with their answers, while a place of it is free.

    Doing it twice changes nothing. Raises SkippedForGood; nothing has changed then.
    """
    study, rater = assignment.task.study, assignment.rater
    session = session_of(study=study, user=rater.user) if rater.user else None
    enrolment = hold_enrolment(study=study.pk, user=rater.user_id) if rater.user_id else None
    stored = Assignment.objects.select_for_update(of=("self",)).get(pk=assignment.pk)
    if stored.state != Assignment.State.RETURNED:
        return
    kept = SkippedWork.objects.filter(assignment=stored).first()
    is_skipped = stored.returned_because == Assignment.Because.SKIPPED
    if not enrolment or not kept or not is_skipped or enrolment.study.state != Study.State.OPEN:
        raise SkippedForGood(gettext("The task you skipped can no longer be taken back."))
    if session and (has_ended(session) or has_all_its_tasks(session)):
        raise SkippedForGood(gettext("The task you skipped can no longer be taken back."))
    if not assignment.task.everyone and quota_is_full(study, rater, design_of(study)):
        raise SkippedForGood(gettext("The task you skipped can no longer be taken back."))
    assert stored.returned_at is not None
    try:
        bring_back([kept.work], returned_at=stored.returned_at, at=at)
    except PlacesGone:
        raise SkippedForGood(gettext("Somebody else has the task you skipped now.")) from None
    if kept.comment_id:
        _say_that_it_was_undone(Comment.objects.get(pk=kept.comment_id))
    kept.delete()


def _say_that_it_was_undone(comment: Comment) -> None:
    comment.text = f"{comment.text} (The assessor took the task back.)"
    comment.save(update_fields=["text"])
