"""What `make run` starts goes on whatever ends: no worker takes the site down with it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from django.conf import settings

KEEP_RUNNING = Path(settings.BASE_DIR) / "config/keep_running"


def wait_until(true: Callable[[], bool], *, seconds: float = 60) -> None:
    late = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < late, "It did not happen in time."
        time.sleep(0.1)


def children_of(pid: int) -> dict[int, str]:
    """Return all processes below this one, with their command lines."""
    listed = subprocess.run(["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    below: dict[int, str] = {}
    parents = {pid}
    while parents:
        found = {int(row[0]): row[2] for row in rows if int(row[1]) in parents}
        below |= found
        parents = set(found)
    return below


def test_runs_again_what_ends_and_stops_when_it_is_told_to(tmp_path: Path) -> None:
    began = tmp_path / "began"
    keeping = subprocess.Popen(
        [KEEP_RUNNING, "sh", "-c", f"echo x >> {began}; exit 1"], start_new_session=True, stderr=subprocess.PIPE
    )

    wait_until(lambda: began.exists() and len(began.read_text().split()) >= 2)
    os.killpg(keeping.pid, signal.SIGTERM)
    said = keeping.communicate(timeout=10)[1].decode()

    assert "ended (1); it starts again in 1 s." in said
    assert "in 2 s." in said


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def site(tmp_path: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The site as `make run` starts it, on a folder of its own."""
    environment = {
        **os.environ,
        "DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path}/assize.sqlite3",
        "CELERY_BROKER_URL": "embedded://",
        "PORT": str(port),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    set_up = [sys.executable, "manage.py", "set_up", "--port", str(port)]
    subprocess.run(set_up, cwd=settings.BASE_DIR, env=environment, check=True, capture_output=True)
    honcho = subprocess.Popen(["honcho", "start", "--no-prefix"], cwd=settings.BASE_DIR, env=environment)
    yield honcho
    honcho.send_signal(signal.SIGINT)
    try:
        honcho.wait(20)
    finally:
        honcho.kill()


@pytest.mark.slow
def test_the_site_outlives_killed_workers_and_web_processes_and_stops_at_once(
    site: subprocess.Popen[bytes], port: int
) -> None:
    def answers() -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/", trust_env=False).status_code in {200, 302}
        except httpx.HTTPError:
            return False

    def running(words: str) -> list[int]:
        return [
            pid for pid, command in children_of(site.pid).items() if words in command and "keep_running" not in command
        ]

    queues = ("--queues celery", "--queues fetching", "--queues pages")
    wait_until(lambda: answers() and all(map(running, queues)))
    for words in (*queues, "granian"):
        before = running(words)
        os.kill(min(before), signal.SIGKILL)
        wait_until(lambda words=words, before=before: bool(set(running(words)) - set(before)))  # type: ignore[misc]
    wait_until(answers)
    started = set(children_of(site.pid))
    site.send_signal(signal.SIGINT)
    began = time.monotonic()
    code = site.wait(20)

    assert code == 130
    assert time.monotonic() - began < 10
    wait_until(lambda: not [pid for pid in started if Path(f"/proc/{pid}").exists()], seconds=5)
