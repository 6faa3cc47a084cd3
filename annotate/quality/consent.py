"""Consent: a text in versions, and what each person said to it."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from annotate.models import ConsentAnswer, ConsentText, ScreenOut
from annotate.quality.screening import screen_out
from collection.models import Study, User


class OtherVersion(Exception):
    """The text that the person read is not in force any more."""


@transaction.atomic
def revise_consent(*, study: Study, markdown: str, by: User, at: datetime) -> ConsentText | None:
    """Put a new text in force; everybody is asked anew. An empty one asks nothing. The same words make no version."""
    Study.objects.select_for_update().get(pk=study.pk)
    newest = consent_in_force(study)
    if markdown == (newest.markdown if newest else ""):
        return newest
    version = newest.version + 1 if newest else 1
    return ConsentText.objects.create(study=study, version=version, markdown=markdown, created_at=at, created_by=by)


def consent_in_force(study: Study) -> ConsentText | None:
    return study.consent_texts.order_by("-version").first()


@transaction.atomic
def answer_consent(*, study: Study, user: User, version: int, agrees: bool, at: datetime) -> ConsentAnswer:
    """Keep what the person said to this version. Who declines gets no work, and what they held goes back.

    Raises OtherVersion if another text is in force: they agree to what they read, and to nothing else.
    """
    text = consent_in_force(study)
    if text is None or text.version != version:
        raise OtherVersion(gettext("The text was changed while you were reading it. Please read it again."))
    answer = ConsentAnswer.objects.create(text=text, user=user, agreed=agrees, answered_at=at)
    if not agrees:
        screen_out(study=study, user=user, reason=ScreenOut.Reason.CONSENT, at=at)
    return answer
