"""The Celery jobs: mails with notices, looks at Prolific that a study has switched on, and planned closings."""

from __future__ import annotations

import logging
import threading
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.utils.timezone import now
from kombu.exceptions import OperationalError

from annotate.notices import mails
from annotate.prolific import unattended
from annotate.studies import lifecycle
from collection.models import User

MOST_TRIES = 6
FIRST_PAUSE = 60  # seconds, doubled each time
LOOK_SECONDS = 300.0

logger = logging.getLogger(__name__)
_stopping = threading.Event()


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


@shared_task(name="annotate.look_at_prolific", ignore_result=True)
def look_at_prolific() -> None:
    unattended.look_at_entries(at=now())


@shared_task(name="annotate.close_what_is_done", ignore_result=True)
def close_what_is_done() -> None:
    lifecycle.close_what_is_done(at=now())


@worker_ready.connect
def keep_looking_at_prolific(**_: Any) -> None:
    """Ask for looks and closings while a worker lives; which entries and studies are due, the tables tell."""
    threading.Thread(target=_keep_looking, name="look-at-prolific", daemon=True).start()


def _keep_looking() -> None:
    while not _stopping.wait(LOOK_SECONDS):
        try:
            look_at_prolific.delay()
            close_what_is_done.delay()
        except OperationalError:
            logger.warning("The broker does not answer.", exc_info=True)


@worker_shutting_down.connect
def stop_looking(**_: Any) -> None:
    _stopping.set()
