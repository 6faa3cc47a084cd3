"""The Celery jobs: mails with notices."""

from __future__ import annotations

from typing import Any

from celery import shared_task
from django.utils.timezone import now

from annotate.notices import mails
from collection.models import User

MOST_TRIES = 6
FIRST_PAUSE = 60  # seconds, doubled each time


@shared_task(name="annotate.mail_notices", bind=True, ignore_result=True, max_retries=MOST_TRIES)
def mail_notices(self: Any, pk: int) -> None:
    """Mail somebody their notices; again where the last mail is too recent, or the mail server does not answer."""
    user = User.objects.filter(pk=pk).first()
    if user is None:
        return
    try:
        wait = mails.mail_notices(user=user, at=now())
    except OSError as unsent:
        raise self.retry(exc=unsent, countdown=FIRST_PAUSE * 2**self.request.retries) from unsent
    if wait:
        mail_notices.apply_async(args=(pk,), countdown=int(wait.total_seconds()) + 1)
