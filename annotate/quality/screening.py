"""Ending a person's work in a study, and letting them back in."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from annotate.models import Enrolment, ScreenOut, SurveyQuestion
from annotate.sessions.outcomes import end_session, why_screened_out
from annotate.studies.lifecycle import enrol, unenrol
from collection.models import Study, User


@transaction.atomic
def screen_out(
    *, study: Study, user: User, reason: ScreenOut.Reason, question: SurveyQuestion | None = None, at: datetime
) -> None:
    """Give the person no more work. What they hold goes back, what they submitted stays. Twice changes nothing.

    A visit from a crowd site ends with it (`annotate.sessions.outcomes`). `question`: whose answer was the reason.
    """
    enrolment = Enrolment.objects.select_for_update().get(study=study, user=user)
    why = {"reason": reason, "question": question, "screened_at": at}
    ScreenOut.objects.get_or_create(enrolment=enrolment, lifted_at=None, defaults=why)
    unenrol(study=study, user=user, at=at)
    end_session(study=study, user=user, because=why_screened_out(reason), at=at)


@transaction.atomic
def readmit(*, study: Study, user: User, at: datetime) -> bool:
    """Let a screened-out person back in, with all attempts at the training anew. Returns whether they were out."""
    lifted = ScreenOut.objects.in_force().filter(enrolment__study=study, enrolment__user=user).update(lifted_at=at)
    if lifted:
        enrol(study=study, user=user, at=at)
    return bool(lifted)


def screen_out_of(*, study: Study, user: User) -> ScreenOut | None:
    """Return the screen-out in force, if any."""
    return ScreenOut.objects.in_force().filter(enrolment__study=study, enrolment__user=user).first()
