"""Prolific and Mechanical Turk as far as a study meets them: small HTTP servers on hosts of their own.

They answer on 127.0.0.1, the product on localhost: to a browser these are two sites, as the real ones are,
so cookies and frames behave as they do out there.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><link rel="icon" href="data:,"></head><body><h1>{title}</h1>{body}</body></html>"""


class FakeSite:
    """What both sites do: serve pages, and remember what they were sent (`told`, by path)."""

    def __init__(self) -> None:
        self.told: list[dict[str, str]] = []
        self.study_url = ""
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                self.answer(site.get(parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()}))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                sent = {name: values[0] for name, values in parse_qs(body).items()}
                self.answer(site.post(urlsplit(self.path).path, sent))

            def answer(self, page: str | None) -> None:
                body = (page or "nothing here").encode()
                self.send_response(200 if page else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def serving(self) -> Iterator[FakeSite]:
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def get(self, path: str, query: dict[str, str]) -> str | None:
        raise NotImplementedError

    def post(self, path: str, sent: dict[str, str]) -> str | None:
        return None


class FakeProlific(FakeSite):
    """`/study/?pid=…&submission=…` links to the study as Prolific does; the completion page takes known codes."""

    study_id = "6a0000000000000000000001"

    def __init__(self, *, codes: dict[str, str]) -> None:
        super().__init__()
        self.codes = codes

    def get(self, path: str, query: dict[str, str]) -> str | None:
        if path == "/study/":
            ids = {
                "PROLIFIC_PID": query["pid"],
                "STUDY_ID": self.study_id,
                "SESSION_ID": query["submission"],
            }
            return PAGE.format(
                title="Fake Prolific", body=f'<a href="{self.study_url}?{urlencode(ids)}">Open study</a>'
            )
        if path == "/submissions/complete":
            self.told.append(query)
            status = self.codes.get(query.get("cc", ""), "unknown code")
            return PAGE.format(title="Fake Prolific", body=f"<p>Your submission: {status}.</p>")
        if path == "/submissions/":
            return PAGE.format(title="Fake Prolific", body="<p>Return your submission here.</p>")
        return None


class FakeMTurk(FakeSite):
    """`/hit/?worker=…&assignment=…` frames the external question; without a worker it previews it."""

    hit_id = "3H0000000000000000000000000001"

    def get(self, path: str, query: dict[str, str]) -> str | None:
        if path != "/hit/":
            return None
        ids = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": self.hit_id, "turkSubmitTo": self.url}
        if "worker" in query:
            ids |= {"workerId": query["worker"], "assignmentId": query["assignment"]}
        frame = f'<iframe title="The HIT" width="100%" height="600" src="{self.study_url}?{urlencode(ids)}"></iframe>'
        return PAGE.format(title="Fake Mechanical Turk", body=frame.replace("&", "&amp;"))

    def post(self, path: str, sent: dict[str, str]) -> str | None:
        if path != "/mturk/externalSubmit" or "assignmentId" not in sent or len(sent) < 2:
            return None
        self.told.append(sent)
        return PAGE.format(title="Fake Mechanical Turk", body="<p>The HIT has been submitted.</p>")
