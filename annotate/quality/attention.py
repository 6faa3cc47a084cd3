"""Attention checks under Prolific's rules.

A check must say explicitly what to choose, and be about the question itself, not about instructions above it and
nothing that has to be remembered. In a study of five minutes or more a participant must fail two before anything
may follow, in a shorter one a single failure is enough (docs/quality.md names the source and its date).
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from annotate.models import AttentionAnswer, AttentionCheck, QualityRules, ScreenOut
from annotate.quality.gates import due_checks
from annotate.quality.screening import screen_out
from annotate.sessions.offers import offer_to
from collection.models import Study, User

LONG_STUDY_MINUTES = 5


class NotOnOffer(ValueError):
    """The check has no such option."""


def failures_that_count(expected_minutes: int) -> int:
    """Return how many checks somebody must fail before anything may follow."""
    return 2 if expected_minutes >= LONG_STUDY_MINUTES else 1


def next_check(*, study: Study, user: User) -> AttentionCheck | None:
    """Return the check that the person must answer now."""
    return due_checks(user=user).filter(study=study).order_by("after", "pk").first()


@transaction.atomic
def answer_check(*, check: AttentionCheck, user: User, chosen: int, at: datetime) -> AttentionAnswer:
    """Keep what the person chose; the first answer counts. Labels are never touched.

    Where the study says so, whoever has failed as often as counts gets no more work. Raises NotOnOffer.
    """
    if not 0 <= chosen < len(check.options):
        raise NotOnOffer(gettext("Choose one of the answers."))
    answer, _ = AttentionAnswer.objects.get_or_create(
        check_asked=check,
        user=user,
        defaults={"chosen": chosen, "passed": chosen == check.right, "answered_at": at},
    )
    offer = offer_to(study=check.study, user=user)
    failed = AttentionAnswer.objects.filter(check_asked__study=check.study_id, user=user, passed=False).count()
    stops = offer.rules.consequence == QualityRules.Consequence.STOP
    if not answer.passed and stops and failed >= failures_that_count(offer.minutes):
        screen_out(study=check.study, user=user, reason=ScreenOut.Reason.ATTENTION, at=at)
    return answer


@transaction.atomic
def add_check(*, study: Study, after: int, question: str, options: list[str], right: int) -> AttentionCheck:
    """Add a check that comes after so many submitted tasks; whoever is past that meets it next. Raises NotOnOffer."""
    if not 0 <= right < len(options):
        raise NotOnOffer("The right answer must be one of the answers.")
    return AttentionCheck.objects.create(study=study, after=after, question=question, options=options, right=right)


def retire_check(*, check: AttentionCheck, at: datetime) -> None:
    """Ask it no more; its answers are kept."""
    if check.answers.exists():
        check.retired_at = at
        check.save(update_fields=["retired_at"])
    else:
        check.delete()
