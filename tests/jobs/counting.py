"""A Celery application that notes numbers, on the embedded broker; as a program, a writer that sends some.

    COUNTING=FOLDER python -m tests.jobs.counting NAME COUNT

sends NAME:0 to NAME:COUNT-1 and notes how far it came, so that it goes on there when it is started again.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from celery import Celery

import config.celery  # noqa: F401  # it gives the transport its name

FOLDER = Path(os.environ.get("COUNTING", "."))

app = Celery("counting", broker="embedded://")
app.conf.update(
    broker_transport_options={"folder": str(FOLDER / "broker"), "polling_interval": 0.02},
    broker_connection_retry_on_startup=True,
    task_ignore_result=True,
    task_acks_late=True,
    worker_prefetch_multiplier=1,
)


@app.task(name="note")
def note(number: str) -> None:
    """Append the number after a moment of work; one write to the end of a file is whole."""
    time.sleep(0.01)
    with (FOLDER / "noted").open("a") as noted:
        noted.write(f"{number}\n")


def send(name: str, count: int) -> None:
    sent = FOLDER / f"sent-{name}"
    first = int(sent.read_text() or 0) if sent.exists() else 0
    for number in range(first, count):
        note.delay(f"{name}:{number}")
        beside = sent.with_suffix(".new")
        beside.write_text(str(number + 1))
        beside.replace(sent)


if __name__ == "__main__":
    send(sys.argv[1], int(sys.argv[2]))
