"""Looking over a random part of what an assessor submitted."""

from __future__ import annotations

import random
from datetime import datetime

from django.db import transaction

from annotate.models import Assignment, SpotCheck
from collection.models import Rater, Study, User

_random = random.SystemRandom()


class NothingToCheck(Exception):
    """Everything that this assessor submitted is drawn already, or they submitted nothing."""


@transaction.atomic
def draw_spot_checks(*, study: Study, rater: Rater, n: int, at: datetime) -> list[SpotCheck]:
    """Draw up to n of the rater's submitted assignments that were not drawn before. Raises NothingToCheck.

    The probability of each is that of this drawing: n of those that were left.
    """
    submitted = Assignment.objects.filter(task__study=study, rater=rater, state=Assignment.State.SUBMITTED)
    left = list(submitted.filter(spot_check=None).select_for_update(of=("self",)))
    if not left:
        raise NothingToCheck(f"Everything that {rater} has submitted is already drawn.")
    drawn = _random.sample(left, min(n, len(left)))
    return SpotCheck.objects.bulk_create(
        SpotCheck(assignment=assignment, inclusion_probability=len(drawn) / len(left), drawn_at=at)
        for assignment in drawn
    )


def record_verdict(*, check: SpotCheck, verdict: SpotCheck.Verdict, note: str, by: User, at: datetime) -> SpotCheck:
    """Note what was found. It may be changed; who said it last, and when, stands beside it."""
    check.verdict, check.note, check.checked_by, check.checked_at = verdict, note, by, at
    check.save(update_fields=["verdict", "note", "checked_by", "checked_at"])
    return check
