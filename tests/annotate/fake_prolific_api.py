"""Prolific's API as far as it is asked here: recorded answers, what was asked of it, and faults to order."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "fake-prolific-token-0123456789"


class FakeProlificApi:
    """`asked` is what came, `paid` how much each submission got, in cents.

    `faults`: by a part of the path, the status to answer with; 0 closes the connection after the work is done, as a
    network does that loses the answer. `changed`: by a part of the path, what to answer in the place of the recorded.
    """

    def __init__(self) -> None:
        self.reset()
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.answer("GET")

            def do_POST(self) -> None:
                self.answer("POST")

            def do_PATCH(self) -> None:
                self.answer("PATCH")

            def answer(self, method: str) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
                parts = urlsplit(self.path)
                status, said = api.ask(method, parts.path, body, parse_qs(parts.query), self.headers["Authorization"])
                if status == 0:
                    self.close_connection = True
                    return
                content = json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                if status == 302:
                    self.send_header("Location", "http://127.0.0.1:1/elsewhere/")
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def reset(self) -> None:
        self.asked: list[tuple[str, str, dict[str, Any]]] = []
        self.studies: dict[str, dict[str, Any]] = {}
        self.submissions: list[dict[str, str]] = []
        self.approved: list[str] = []
        self.returns: dict[str, list[str]] = {}
        self.bonuses: dict[str, dict[str, int]] = {}
        self.paid: dict[str, int] = {}
        self.faults: dict[str, int] = {}
        self.changed: dict[str, dict[str, Any]] = {}

    @contextmanager
    def serving(self) -> Iterator[FakeProlificApi]:
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def ask(
        self, method: str, path: str, body: dict[str, Any], query: dict[str, list[str]], authorization: str
    ) -> tuple[int, Any]:
        self.asked.append((method, path, body))
        if authorization != f"Token {TOKEN}":
            return 401, {"error": {"status": 401, "title": "Unauthorized", "detail": f"Not valid: {authorization}"}}
        fault = next((status for part, status in self.faults.items() if part in f"{method} {path}"), None)
        changed = next((said for part, said in self.changed.items() if part in path), {})
        if fault:
            return fault, {"error": {"status": fault, "title": "A fault", "detail": "Ordered by a test."}} | changed
        status, said = self.do(method, path.removeprefix("/api/v1"), body, query)
        return (0, None) if fault == 0 else (status, said | changed)

    def do(self, method: str, path: str, body: dict[str, Any], query: dict[str, list[str]]) -> tuple[int, Any]:
        if (method, path) == ("POST", "/studies/"):
            study_id = f"6b{len(self.studies):022d}"
            self.studies[study_id] = {**body, "id": study_id, "status": "UNPUBLISHED"}
            return 201, self.studies[study_id]
        if (method, path) == ("GET", "/studies/"):
            return 200, {"results": self.page(list(self.studies.values()), query)}
        if method == "GET" and re.fullmatch(r"/studies/\w+/submissions/", path):
            return 200, {"results": self.page(self.submissions, query)}
        if method == "PATCH" and (found := re.fullmatch(r"/studies/(\w+)/", path)):
            self.studies.setdefault(found[1], {"id": found[1]}).update(body)
            return 200, self.studies[found[1]]
        if path == "/submissions/bulk-approve/":
            self.approved += body["submission_ids"]
            return 200, {"message": "The request to bulk approve has been made successfully."}
        if found := re.fullmatch(r"/submissions/(\w+)/request-return/", path):
            self.returns[found[1]] = body["request_return_reasons"]
            return 200, {"id": found[1], "status": "AWAITING REVIEW"}
        if path == "/submissions/bonus-payments/":
            lines = [line.split(",") for line in body["csv_bonuses"].split("\n")]
            bonus_id = f"6c{len(self.bonuses):022d}"
            self.bonuses[bonus_id] = {who: round(float(amount) * 100) for who, amount in lines}
            amount = sum(self.bonuses[bonus_id].values())
            told = {"amount": amount, "fees": amount / 3, "vat": 0, "total_amount": amount * 4 / 3}
            return 201, {"id": bonus_id, "study": body["study_id"], **told}
        if found := re.fullmatch(r"/bulk-bonus-payments/(\w+)/pay/", path):
            for who, cents in self.bonuses[found[1]].items():  # not idempotent, as the real one
                self.paid[who] = self.paid.get(who, 0) + cents
            return 202, {"message": "Bulk payment is being processed."}
        return 404, {"error": {"status": 404, "title": "Not found", "detail": f"Nothing at {path}."}}

    def page(self, rows: list[Any], query: dict[str, list[str]]) -> list[Any]:
        start, size = int(query["offset"][0]), int(query["limit"][0])
        return rows[start : start + size]
