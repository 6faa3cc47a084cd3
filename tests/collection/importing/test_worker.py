"""A real Celery worker imports a large file. Killed in the middle, it leaves nothing, and the next one does it all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as project
from django.db import connection
from django.utils.timezone import now
from pytest_django.fixtures import Settings

from collection.importing.background import beat_of
from collection.models import Collection, Passage, Upload
from collection.models.uploads import uploads_folder

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

# So many that reading them takes a fast machine a few seconds: a worker says how far it is every second.
PASSAGES = 100_000
StartWorker = Callable[[], subprocess.Popen[bytes]]


@pytest.fixture
def start_worker(settings: Settings, tmp_path: Path) -> Iterator[StartWorker]:
    """Start workers, as `make run` does, on the test's database and folder; all are gone when the test ends."""
    settings.MEDIA_ROOT = tmp_path / "media"
    queue = f"test-{os.getpid()}-{tmp_path.name}"
    workers: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        worker = subprocess.Popen(
            [
                sys.executable, "-m", "celery", "-A", "tests.judging.celery_on_test_database", "worker",
                "--pool", "threads", "--concurrency", "1", "--loglevel", "WARNING",
                "--without-gossip", "--without-heartbeat", "--without-mingle",
                "--queues", queue, "--hostname", f"w{len(workers)}@test",
            ],
            cwd=project.BASE_DIR,
            env={
                **os.environ,
                "CELERY_BROKER_URL": os.environ.get("CELERY_BROKER_URL", "embedded://"),
                "DATA_DIR": str(tmp_path),
                "QUEUE": queue,
                "TEST_DATABASE": str(connection.settings_dict["NAME"]),
            },
        )  # fmt: skip
        workers.append(worker)
        return worker

    yield start
    for worker in workers:
        if worker.poll() is None:
            worker.kill()
        worker.wait()


@pytest.fixture
def upload(start_worker: StartWorker, collection: Collection) -> Upload:
    """A large file that was confirmed a while ago; the message about it was lost."""
    path = uploads_folder() / "many.jsonl"
    with path.open("w") as file:
        for number in range(PASSAGES):
            file.write(json.dumps({"id": f"p{number}", "contents": "x" * 500}) + "\n")
    return Upload.objects.create(
        collection=collection,
        user=collection.owner,
        stored_as=path.name,
        name=path.name,
        size=path.stat().st_size,
        file_format="passages",
        state=Upload.State.IMPORTING,
        generation=1,
        uploaded_at=now(),
        asked_at=now() - timedelta(minutes=5),
    )


def wait_until(true: Callable[[], bool], *, seconds: float = 120) -> None:
    late = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < late, "It did not happen in time."
        time.sleep(0.05)


def bytes_read(upload: Upload) -> int:
    upload.refresh_from_db()
    return beat_of(upload).bytes_read() or 0


def test_a_killed_worker_leaves_nothing_and_the_next_one_imports_it_all(
    upload: Upload, start_worker: StartWorker
) -> None:
    worker = start_worker()
    wait_until(lambda: bytes_read(upload) > 0)

    worker.send_signal(signal.SIGKILL)
    worker.wait()
    state = Upload.objects.get().state
    left = Passage.objects.filter(passage_id__startswith="p").count()
    start_worker()
    wait_until(lambda: Upload.objects.get().state == Upload.State.IMPORTED)

    assert (state, left) == (Upload.State.IMPORTING, 0)
    assert Passage.objects.filter(passage_id__startswith="p").count() == PASSAGES
    wait_until(lambda: not upload.path.exists())
