"""The Celery jobs: one large upload, and the look for those whose worker is gone."""

from __future__ import annotations

import threading
from typing import Any

from celery import shared_task
from celery.signals import worker_ready
from django.utils.timezone import now

from collection.importing import background


@shared_task(name="collection.work_on_upload", ignore_result=True)
def work_on_upload(pk: int, generation: int) -> None:
    background.work_on_upload(pk=pk, generation=generation, at=now())


@shared_task(name="collection.requeue_stalled_uploads", ignore_result=True)
def requeue_stalled_uploads() -> None:
    background.requeue_stalled_uploads(at=now())


@worker_ready.connect
def look_for_stalled_uploads(**_: Any) -> None:
    """Ask for a look when the worker starts, and for another when those that died just before it are quiet."""
    requeue_stalled_uploads.delay()
    for patience in (background.PATIENCE, background.LONG_PATIENCE):
        later = threading.Timer(patience.total_seconds() + 1, requeue_stalled_uploads.delay)
        later.daemon = True
        later.start()
