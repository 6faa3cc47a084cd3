"""What a web process holds after a tour of all pages: `python tests/bench/memory.py [--readers 4] [--json]`.

The demonstration is set up in a folder of its own, with a web server of one process and a worker for what pages wait
for. Readers who are signed in as its researcher open every page, chart and download that is linked anywhere, several
at once. What is measured is the process's own memory (private pages, from smaps_rollup), beside that of a process
that serves a bare view. The bench fails where it is over 200 MB.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from http.client import HTTPConnection
from pathlib import Path
from queue import Empty, Queue
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.web.server import ROOT, Server, serving

MOST_MB = 200
# Of one kind of page, with whatever choices.
MOST_OF_A_KIND = 3
LINKS = re.compile(r'(?:href|src|hx-get)="([^"]+)"')
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
FOREVER = 60.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=4)
    parser.add_argument("--folder", help="a DATA_DIR with the demonstration; else one is made")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assize-bench-") as made:
        environment = {**os.environ, "DATA_DIR": arguments.folder or made, "DEMONSTRATION": "1", "DEBUG": "0"}
        if not arguments.folder:
            command = [sys.executable, "manage.py", "set_up", "--port", "0"]
            subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        found = measure(environment, arguments.readers)
    sys.stdout.write(json.dumps(found, indent=1) if arguments.json else as_text(found))
    sys.stdout.write("\n")
    if found["after"] > MOST_MB:
        raise SystemExit(f"A web process holds more than {MOST_MB} MB after a tour.")


def measure(environment: dict[str, str], readers: int) -> dict[str, Any]:
    bare = {**environment, "DATABASE_URL": f"sqlite:///{environment['DATA_DIR']}/bare.sqlite3"}
    with serving("tests.bench.web.bare:application", workers=1, threads=4, environment=bare) as server:
        baseline = own_mb(server)
    with (
        a_worker(environment),
        serving("config.wsgi:application", workers=1, threads=4, environment=environment) as one,
    ):
        before = own_mb(one)
        tour = Tour(one.port)
        tour.walk(readers)
        return {
            "baseline": baseline,
            "before": before,
            "after": own_mb(one),
            "ratio": round(own_mb(one) / baseline, 1),
            "pages": sum(tour.statuses.values()),
            "statuses": dict(tour.statuses),
            "slowest": [f"{seconds:.1f} s {path}" for seconds, path in sorted(tour.took, reverse=True)[:5]],
        }


def own_mb(server: Server) -> int:
    """Return what the largest process of the server holds alone."""
    return max(_private_kb(pid) for pid in server._pids()[1:]) // 1024


def _private_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean:", "Private_Dirty:")))


class a_worker:  # noqa: N801 - reads as what it is
    """A worker on the queue of pages, as `Procfile` starts it."""

    def __init__(self, environment: dict[str, str]) -> None:
        options = "--queues pages --hostname pages@bench --pool prefork --concurrency 2 --loglevel WARNING"
        quiet = "--without-gossip --without-heartbeat --without-mingle"
        celery = str(Path(sys.executable).parent / "celery")
        command = [celery, "--quiet", "-A", "config", "worker", *options.split(), *quiet.split()]
        self._process = subprocess.Popen(command, cwd=ROOT, env=environment)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(60)


class Tour:
    """Readers who follow every link."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.base = f"http://127.0.0.1:{port}"
        self.kinds: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.took: list[tuple[float, str]] = []
        self.seen: set[str] = set()
        self.todo: Queue[str] = Queue()
        self.lock = threading.Lock()
        self.cookies: dict[str, str] = {}

    def walk(self, readers: int) -> None:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=FOREVER)
        _, page = self.ask(connection, "/sign-in/")
        token = TOKEN.search(page.decode())
        assert token
        fields = {"csrfmiddlewaretoken": token[1], "username": "rosa", "password": "assize-demo"}
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Referer": f"{self.base}/sign-in/"}
        self.ask(connection, "/sign-in/", "POST", urlencode(fields), headers)
        self.found("/", '<a href="/"><a href="/api/schema/"><a href="/studies/">')
        threads = [threading.Thread(target=self.read) for _ in range(readers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def read(self) -> None:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=FOREVER)
        while True:
            try:
                path = self.todo.get(timeout=10)
            except Empty:
                return
            start = time.monotonic()
            status, page = self.ask(connection, path)
            while status == 202 and time.monotonic() - start < FOREVER:
                time.sleep(0.5)
                status, page = self.ask(connection, path)
            with self.lock:
                self.statuses[status] += 1
                self.took.append((time.monotonic() - start, path))
            if page.lstrip()[:9].lower() == b"<!doctype":
                self.found(path, page.decode())

    def found(self, path: str, page: str) -> None:
        for link in LINKS.findall(page):
            url = urlsplit(urljoin(f"{self.base}{path}", html.unescape(link)))
            if url.netloc != f"127.0.0.1:{self.port}" or "sign-out" in url.path or url.path.startswith("/static/"):
                continue
            address = f"{url.path}?{url.query}" if url.query else url.path
            kind = re.sub(r"\d+", "#", url.path) + " ".join(sorted(name for name, _ in parse_qsl(url.query)))
            with self.lock:
                if address in self.seen or self.kinds[kind] >= MOST_OF_A_KIND:
                    continue
                self.seen.add(address)
                self.kinds[kind] += 1
            self.todo.put(address)

    def ask(
        self, connection: HTTPConnection, path: str, method: str = "GET", body: str | None = None, headers: Any = None
    ) -> tuple[int, bytes]:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection.request(method, path, body, {"Cookie": cookies, **(headers or {})})
        response = connection.getresponse()
        page = response.read()
        for cookie in response.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.split(";")[0].partition("=")
            self.cookies[name] = value
        return response.status, page


def as_text(found: dict[str, Any]) -> str:
    return (
        f"{found['pages']} pages, charts and downloads {found['statuses']}; own memory of the web process\n"
        f"  before {found['before']} MB, after {found['after']} MB: {found['ratio']} times a bare view's "
        f"({found['baseline']} MB)\n  slowest: " + "; ".join(found["slowest"])
    )


if __name__ == "__main__":
    main()
