"""The embedded broker: messages of many processes, which are killed at any time, reach a worker, every one."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from kombu import Connection

from config.broker import Store
from config.celery import app
from tests.attacks.mutations import FULL

WRITERS, READERS = 4, 2
KILLS = 60
# A busy machine takes its time to start processes, so none is killed before more has arrived.
STANDSTILL_SECONDS = 180
Process = subprocess.Popen[bytes]


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Any]:
    with Connection(transport="config.broker:Transport", transport_options={"folder": str(tmp_path)}) as made:
        yield made


@pytest.fixture
def processes() -> Iterator[list[Process]]:
    """Processes of a test; none is left when it ends."""
    started: list[Process] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


def test_gives_messages_in_the_order_in_which_they_were_sent(connection: Any) -> None:
    queue = connection.SimpleQueue("grading")

    for number in range(3):
        queue.put(number)

    assert [queue.get(timeout=1).payload for _ in range(3)] == [0, 1, 2]


def test_keeps_queues_apart(connection: Any) -> None:
    connection.SimpleQueue("grading").put("a turn")

    with pytest.raises(connection.SimpleQueue("pages").Empty):
        connection.SimpleQueue("pages").get(timeout=0.1)


def test_gives_a_message_to_one_reader_alone(tmp_path: Path) -> None:
    first, second = Store(tmp_path), Store(tmp_path)
    first.put("grading", "tag", "{}")

    assert first.take("grading") == "{}"
    assert second.take("grading") is None


def test_frees_what_a_closed_channel_did_not_acknowledge(connection: Any) -> None:
    queue = connection.SimpleQueue("grading")
    queue.put("first")
    queue.put("second")
    queue.get(timeout=1).ack()
    queue.get(timeout=1)

    connection.close()

    assert connection.SimpleQueue("grading").get(timeout=1).payload == "second"


def test_leaves_what_a_living_reader_holds(tmp_path: Path) -> None:
    here, there = Store(tmp_path), Store(tmp_path)
    here.put("grading", "tag", "{}")
    here.take("grading")

    assert there.free_messages_of_the_dead() == 0


def test_frees_what_a_dead_reader_held_and_leaves_no_file_of_it(tmp_path: Path) -> None:
    take_and_die = (
        f"from pathlib import Path; import os; from config.broker import Store; s = Store(Path({str(tmp_path)!r}));"
        "s.put('grading', 'tag', '{}'); assert s.take('grading'); os.kill(os.getpid(), 9)"
    )

    subprocess.run([sys.executable, "-c", take_and_die], cwd=settings.BASE_DIR, check=False)

    assert Store(tmp_path).take("grading") == "{}"
    assert len(list(tmp_path.glob("*.reader"))) == 1


def test_opens_a_new_file_from_many_processes_at_once(tmp_path: Path, processes: list[Process]) -> None:
    put = (
        "from pathlib import Path; from config.broker import Store; import sys;"
        f"Store(Path({str(tmp_path)!r})).put('q', sys.argv[1], '')"
    )

    commands = [[sys.executable, "-c", put, str(number)] for number in range(6)]
    processes.extend(subprocess.Popen(command, cwd=settings.BASE_DIR) for command in commands)

    assert [process.wait(60) for process in processes] == [0] * 6
    assert Store(tmp_path).size("q") == 6


def test_an_import_does_not_queue_up_behind_hours_of_grading(tmp_path: Path) -> None:
    options = {"folder": str(tmp_path)}
    with Connection(transport="config.broker:Transport", transport_options=options) as connection:
        producer = connection.Producer()
        for task in ("judging.grade", "judging.grade", "collection.work_on_upload", "judging.requeue_stalled"):
            app.send_task(task, args=[1, 1], producer=producer)

    assert (Store(tmp_path).size("celery"), Store(tmp_path).size("pages")) == (2, 2)


def on_the_way(folder: Path) -> list[tuple[str | None, int]]:
    """Return how many messages each reader holds; None is for those that nobody has."""
    with sqlite3.connect(folder / "broker" / "messages.sqlite3") as connection:
        return connection.execute("SELECT reader, count(*) FROM message GROUP BY reader").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize(
    "messages", [400, pytest.param(10_000, marks=pytest.mark.skipif(not FULL, reason="60 kills: make nightly"))]
)
def test_no_message_is_lost_and_no_worker_ends_while_writers_and_readers_are_killed(
    messages: int, tmp_path: Path, processes: list[Process]
) -> None:
    environment = {**os.environ, "COUNTING": str(tmp_path)}
    chance = random.Random(10)

    def start(*command: str) -> Process:
        process = subprocess.Popen([sys.executable, "-m", *command], cwd=settings.BASE_DIR, env=environment)
        processes.append(process)
        return process

    def write(name: int) -> Process:
        return start("tests.jobs.counting", str(name), str(messages // WRITERS))

    def read(number: int) -> Process:
        return start("celery", "--quiet", "-A", "tests.jobs.counting", "worker", "--pool", "threads",
                     "--concurrency", "2", "--loglevel", "WARNING", "--hostname", f"r{number}@test")  # fmt: skip

    def noted() -> set[str]:
        return set((tmp_path / "noted").read_text().split()) if (tmp_path / "noted").exists() else set()

    writers = [write(number) for number in range(WRITERS)]
    readers = [read(number) for number in range(READERS)]
    arrived, moved = 0, time.monotonic()
    killed = 0
    while len(noted()) < messages:
        time.sleep(chance.uniform(0.1, min(3, messages / 1000)))
        assert [reader.poll() for reader in readers] == [None] * READERS
        assert {writer.poll() for writer in writers} <= {None, 0}
        if len(noted()) == arrived:
            assert time.monotonic() - moved < STANDSTILL_SECONDS, f"{arrived} arrived; held: {on_the_way(tmp_path)}"
            continue
        arrived, moved = len(noted()), time.monotonic()
        alive = [(group, again, place) for group, again in ((writers, write), (readers, read))
                 for place, process in enumerate(group) if process.poll() is None]  # fmt: skip
        group, again, place = chance.choice(alive)
        if killed < KILLS:
            killed += 1
            group[place].send_signal(signal.SIGKILL)
            group[place].wait()
            group[place] = again(place)

    assert noted() == {f"{name}:{number}" for name in range(WRITERS) for number in range(messages // WRITERS)}
    assert killed > 0
