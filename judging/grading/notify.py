"""Messages that wake workers up. They only say that there is work; what it is stands in the tables."""

from __future__ import annotations

import logging

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from judging.models import GradingJob

logger = logging.getLogger(__name__)

# How many messages, and so how many workers, a job gets at once. Each sends the next when its turn is over.
MESSAGES = 8


def send_messages(job: GradingJob) -> None:
    """Wake workers up when the transaction is through."""
    pk, generation, queue = job.pk, job.generation, job.judge.queue
    messages = min(job.chunks.filter(finished_at=None).count(), MESSAGES)
    transaction.on_commit(lambda: _send(pk, generation, messages, queue))


def _send(pk: int, generation: int, messages: int, queue: str | None) -> None:
    try:
        for _ in range(messages):
            current_app.send_task("judging.grade", args=[pk, generation], queue=queue, retry=False)
    except OperationalError:
        # The job is in the database; the next look for stalled jobs sends them.
        logger.warning("The broker does not answer; job %s waits until it does.", pk, exc_info=True)
