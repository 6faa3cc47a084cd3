"""A web server under measurement: granian in a process of its own, with its CPU time and its memory."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Server:
    """A running server. CPU and memory are of its process and all below it."""

    port: int
    pid: int

    def cpu_seconds(self) -> float:
        return sum(_cpu_seconds(pid) for pid in self._pids())

    def memory_mb(self) -> float:
        """Proportional set size: what is shared between the processes counts once."""
        return sum(_proportional_kb(pid) for pid in self._pids()) / 1024

    def _pids(self) -> list[int]:
        below = [int(pid) for pid in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()]
        return [self.pid, *below]


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _proportional_kb(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


@contextmanager
def serving(application: str, *, workers: int, threads: int, environment: dict[str, str]) -> Iterator[Server]:
    """Run granian with this application on a free port, and stop it at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        str(Path(sys.executable).parent / "granian"),
        "--interface=wsgi",
        "--host=127.0.0.1",
        f"--port={port}",
        f"--workers={workers}",
        f"--blocking-threads={threads}",
        "--no-ws",
        "--log-level=error",
        application,
    ]
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        _wait_for(port, process)
        yield Server(port, process.pid)
    finally:
        process.terminate()
        process.wait(20)


def _wait_for(port: int, process: subprocess.Popen[bytes], *, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"The server ended with status {process.returncode} before it answered.")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError("The server did not answer.")
