"""Consent: a text in versions, and what each person said to it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from annotate.assignments.assignments import take_back_assignment
from annotate.models import Assignment, ConsentAnswer, ConsentText, CrowdSession, ScreenOut
from annotate.quality.gates import consents_for
from annotate.quality.screening import screen_out
from collection.models import Comment, Exclusion, Rater, Study, User

OnWithdrawal = ConsentText.OnWithdrawal
WITHDREW = "Withdrew consent."


class OtherVersion(Exception):
    """The text that the person read is not in force any more."""


@transaction.atomic
def revise_consent(
    *, study: Study, markdown: str, on_withdrawal: str = OnWithdrawal.KEEP, by: User, at: datetime
) -> ConsentText | None:
    """Put a new text in force, for new sessions and everybody without one. The same words make no version.

    An empty one asks nothing.
    """
    Study.objects.select_for_update().get(pk=study.pk)
    newest = consent_in_force(study)
    in_force = (newest.markdown, newest.on_withdrawal) if newest else ("", on_withdrawal)
    if in_force == (markdown, on_withdrawal):
        return newest
    version = newest.version + 1 if newest else 1
    return ConsentText.objects.create(
        study=study, version=version, markdown=markdown, on_withdrawal=on_withdrawal, created_at=at, created_by=by
    )


def consent_in_force(study: Study) -> ConsentText | None:
    return study.consent_texts.order_by("-version").first()


def consent_for(*, study: Study, user: User) -> ConsentText | None:
    """Return the text that this person is asked about: in a session, the one that was in force when it began."""
    return consents_for(user=user).filter(study=study).order_by("-version").first()


@transaction.atomic
def answer_consent(*, study: Study, user: User, version: int, agrees: bool, at: datetime) -> ConsentAnswer:
    """Keep what the person said to this version. Who declines gets no work, and what they held goes back.

    Raises OtherVersion if another text is in force for them: they agree to what they read, and to nothing else.
    """
    text, before = consent_for(study=study, user=user), last_answer(study=study, user=user)
    if before and before.agreed and not agrees and before.text.version == version:
        text = before.text  # what they agreed to they may withdraw, whatever is in force now
    if text is None or text.version != version:
        raise OtherVersion(gettext("The text was changed while you were reading it. Please read it again."))
    answer = ConsentAnswer.objects.create(text=text, user=user, agreed=agrees, answered_at=at)
    if not agrees:
        screen_out(study=study, user=user, reason=ScreenOut.Reason.CONSENT, at=at)
        if before and before.agreed:
            _withdraw(study, user, before.text, at=at)
    return answer


def last_answer(*, study: Study, user: User) -> ConsentAnswer | None:
    answers = ConsentAnswer.objects.filter(text__study=study, user=user).select_related("text")
    return answers.order_by("answered_at", "pk").last()


def withdrawal_of(*, study: Study, user: User) -> ConsentAnswer | None:
    """Return the answer by which the person withdrew their consent, if that is their last one."""
    last = last_answer(study=study, user=user)
    agreed = ConsentAnswer.objects.filter(text__study=study, user=user, agreed=True).exists()
    return last if last and not last.agreed and agreed else None


def consent_at_the_end(study: Study, user: User) -> dict[str, Any]:
    """Return what a last page shows: that the person withdrew their consent, or that they may, where they agreed."""
    last = last_answer(study=study, user=user)
    return {"withdrawn": withdrawal_of(study=study, user=user), "consent": last and last.agreed}


def _withdraw(study: Study, user: User, agreed_to: ConsentText, *, at: datetime) -> None:
    """Do with the person's labels what the text says that they had agreed to, and leave word in the inbox.

    Their session has ended before this, and what it earned stays.
    """
    rater = Rater.objects.get(user=user)
    if agreed_to.on_withdrawal == OnWithdrawal.EXCLUDE:
        Exclusion.objects.get_or_create(
            study=study, rater=rater, lifted_at=None, defaults={"reason": WITHDREW, "excluded_at": at}
        )
    elif agreed_to.on_withdrawal == OnWithdrawal.TAKE_OUT:
        theirs = Assignment.objects.filter(task__study=study, rater=rater).exclude(state=Assignment.State.RETURNED)
        for assignment in theirs.order_by("pk"):
            take_back_assignment(assignment=assignment, because=Assignment.Because.WITHDRAWN, at=at)
        # What went back with a returned session is not brought back either.
        CrowdSession.objects.filter(participant__user=user, entry__study=study).update(taken_back=None)
    said = f"{WITHDREW} Their labels: {agreed_to.get_on_withdrawal_display()}"
    Comment.objects.create(study=study, rater=rater, text=said, made_at=at)
