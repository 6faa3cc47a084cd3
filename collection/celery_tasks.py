"""The Celery jobs: figures for pages, uploads, texts of documents, the look for lost workers, mails about accounts."""

from __future__ import annotations

import threading
from typing import Any

from celery import Task, shared_task
from celery.signals import worker_ready
from django.utils.timezone import now

from collection.accounts import mails
from collection.documents import fetching
from collection.documents.found import FetchFailed
from collection.documents.sources import NoSource
from collection.importing import background
from collection.models import Collection
from collection.retrieval import jobs as retrieval_jobs
from collection.signs_of_life import LONG_PATIENCE, PATIENCE
from collection.source_turns import AGAIN_SECONDS
from collection.web import cached_results


@shared_task(name="collection.compute", ignore_result=True)
def compute(kind: str, study: int | None, asked: dict[str, Any], key: str, lately: bool = False) -> None:
    cached_results.compute(kind=kind, study=study, asked=asked, key=key, lately=lately)


@shared_task(name="collection.work_on_upload", ignore_result=True)
def work_on_upload(pk: int, generation: int) -> None:
    background.work_on_upload(pk=pk, generation=generation, at=now())


@shared_task(name="collection.requeue_stalled_uploads", ignore_result=True)
def requeue_stalled_uploads() -> None:
    background.requeue_stalled_uploads(at=now())


@shared_task(name="collection.fetch_texts", ignore_result=True)
def fetch_texts(pk: int, generation: int) -> None:
    fetching.take_turn(pk=pk, generation=generation)


@shared_task(name="collection.fetch_text", bind=True, max_retries=None, ignore_result=True)
def fetch_text(self: Task[..., None], collection: int, docno: str) -> None:
    try:
        fetching.fetch_one(collection=Collection.objects.get(pk=collection), docno=docno)
    except fetching.SourceBusy:
        raise self.retry(countdown=AGAIN_SECONDS) from None
    except (NoSource, fetching.NotNamed, FetchFailed):
        return  # it is noted beside the document


@shared_task(name="collection.requeue_stalled_fetching", ignore_result=True)
def requeue_stalled_fetching() -> None:
    fetching.ask_stalled_again(at=now())


@shared_task(name="collection.retrieve", ignore_result=True)
def retrieve(pk: int, generation: int) -> None:
    retrieval_jobs.work_within_limits(pk=pk, generation=generation)


@shared_task(name="collection.requeue_stalled_retrievals", ignore_result=True)
def requeue_stalled_retrievals() -> None:
    retrieval_jobs.ask_stalled_again(at=now())


# A mail server that does not answer is asked again, after 10, 20, 40 … seconds.
RETRIED: dict[str, Any] = {"autoretry_for": (OSError,), "retry_backoff": 10, "max_retries": 5, "ignore_result": True}


@shared_task(name="collection.mail_reset", **RETRIED)
def mail_reset(address: str) -> None:
    mails.mail_reset(address)


@shared_task(name="collection.mail_confirmation", **RETRIED)
def mail_confirmation(user: int, address: str) -> None:
    mails.mail_confirmation(user, address)


@worker_ready.connect
def look_for_stalled_uploads(**_: Any) -> None:
    """Ask for a look when the worker starts, and for another when those that died just before it are quiet."""
    requeue_stalled_uploads.delay()
    looks = [(patience, requeue_stalled_uploads) for patience in (PATIENCE, LONG_PATIENCE)]
    looks += [
        (fetching.PATIENCE, requeue_stalled_fetching),
        (retrieval_jobs.PATIENCE, requeue_stalled_retrievals),
    ]
    for patience, look in looks:
        later = threading.Timer(patience.total_seconds() + 1, look.delay)
        later.daemon = True
        later.start()
