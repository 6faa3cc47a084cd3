"""Assessors at their browsers, for the bench: `python client.py` reads its orders as JSON from standard input.

Each assessor is a thread with one connection, who opens a task, answers every question with a choice and the
highlights that the orders tell, submits it with the last, whose reply brings the pages of the tasks ahead, and goes on
after the pause that is ordered, until time is over. Prints what was timed, as JSON.
"""

from __future__ import annotations

import json
import random
import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.bench.web.server import Server

ANSWERS = re.compile(rb'<script id="answers" type="application/json">(.*?)</script>', re.DOTALL)
TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="([^"]+)"')


class UnexpectedAnswer(Exception):
    """The server answered something else than a browser would have gone on with."""


class Browser:
    """One connection with its cookies. `timings` collects seconds by kind of request."""

    def __init__(self, port: int, session: str, timings: dict[str, list[float]]) -> None:
        self.connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self.cookies = {"sessionid": session}
        self.token = ""
        self.timings = timings
        self.bytes = 0

    def ask(self, kind: str, method: str, path: str, body: str | None = None, content: str = "") -> tuple[Any, bytes]:
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        headers["Accept-Encoding"] = "identity"
        if body is not None:
            headers |= {"Content-Type": content, "X-CSRFToken": self.token}
        start = time.perf_counter()
        self.connection.request(method, path, body, headers)
        response = self.connection.getresponse()
        page = response.read()
        self.timings[kind].append(time.perf_counter() - start)
        self.keep_cookies(response)
        if response.status not in (200, 302):
            raise UnexpectedAnswer(f"{method} {path}: {response.status} {page[:300]!r}")
        return response, page

    def keep_cookies(self, response: HTTPResponse) -> None:
        for cookie in response.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.split(";")[0].partition("=")
            self.cookies[name] = value

    def post(self, kind: str, path: str) -> str:
        response, _ = self.ask(kind, "POST", path, "", "application/x-www-form-urlencoded")
        return str(response.headers["Location"])


def assess(
    browser: Browser, study: str, quotes: list[str], spans: list[list[int]], begin: Callable[[], float], pause: float
) -> None:
    """Work through reports as the page does. All assessors are at their first one when the time begins."""
    browser.ask("queue", "GET", "/work/")
    _, page = browser.ask("queue", "GET", "/account/")
    browser.token = found(TOKEN, page).decode()
    address = browser.post("next", f"/work/next/{study}/")
    end = begin()
    marked = [{"start": start, "end": end, "quote": quote} for (start, end), quote in zip(spans, quotes, strict=True)]
    pages: dict[str, bytes] = {}
    while time.perf_counter() < end and "/done/" not in address:
        page = pages.pop(address, b"") or browser.ask("page", "GET", address)[1]
        questions = [
            {"item": int(item), "criterion": int(criterion), "grade": 1, "spans": marked, "seconds": 0.1}
            for item, answers in json.loads(found(ANSWERS, page)).items()
            for criterion in answers
        ]
        held = [int(address.split("/")[2]) for address in pages]
        questions[-1] |= {"submit": True, "held": held}  # and the reply says what comes next, and brings the pages
        for choice in questions:
            time.sleep(pause * 2 * random.random())
            _, said = browser.ask("save", "POST", f"{address}choice/", json.dumps(choice), "application/json")
            reply = json.loads(said)
            if reply["state"] != "judged":
                raise UnexpectedAnswer(said.decode())
        address = reply["next"]
        pages |= {where: page.encode() for where, page in reply["pages"].items()}


def insert(browser: Browser, begin: Callable[[], float]) -> None:
    """Send the baseline one row after the other."""
    end = begin()
    body = "x" * 400
    while time.perf_counter() < end:
        browser.ask("insert", "POST", "/insert/", body, "application/json")


def found(pattern: re.Pattern[bytes], page: bytes) -> bytes:
    match = pattern.search(page)
    if match is None:
        raise UnexpectedAnswer(page[:500].decode())
    return match[1]


def main() -> None:
    orders = json.load(sys.stdin)
    timings: dict[str, list[float]] = defaultdict(list)
    failures: list[str] = []
    server = Server(orders["port"], orders["pid"])
    started: dict[str, float] = {}

    def start() -> None:
        timings.clear()
        started.update(at=time.perf_counter(), cpu=server.cpu_seconds())

    everybody = threading.Barrier(len(orders["sessions"]), action=start)

    def begin() -> float:
        everybody.wait()
        return started["at"] + float(orders["seconds"])

    def work(session: str) -> None:
        browser = Browser(orders["port"], session, timings)
        try:
            if orders["study"]:
                assess(browser, orders["study"], orders["quotes"], orders["spans"], begin, orders["pause"])
            else:
                insert(browser, begin)
        except Exception as failure:
            everybody.abort()
            failures.append(repr(failure))

    threads = [threading.Thread(target=work, args=[session]) for session in orders["sessions"]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took, cpu = time.perf_counter() - started["at"], server.cpu_seconds() - started["cpu"]
    json.dump({"took": took, "cpu": cpu, "timings": timings, "failures": failures}, sys.stdout)


if __name__ == "__main__":
    main()
