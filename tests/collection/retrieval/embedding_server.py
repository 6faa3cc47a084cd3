"""A server of embeddings on this machine: a text's vector counts letters; and it misbehaves as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def vector_of(text: str) -> list[float]:
    return [float(text.lower().count(letter)) for letter in LETTERS] + [0.01]


class EmbeddingServer(ThreadingHTTPServer):
    """`asked` are the texts that came; `fails` is answered first, `broken` makes answers of another shape."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.keys: set[str | None] = set()
        self.fails: list[int] = []
        self.broken: dict[str, Any] | None = None
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.keys.add(self.headers["Authorization"])
        status = self.server.fails.pop(0) if self.server.fails else 200
        if status == 200:
            self.server.asked += body["input"]
        rows = [{"index": n, "embedding": vector_of(text)} for n, text in enumerate(body["input"])]
        said: Any = self.server.broken or {"data": rows[::-1]} if status == 200 else {"error": "busy"}
        sent = json.dumps(said).encode()
        self.send_response(status if self.path == "/v1/embeddings" else 404)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    server = EmbeddingServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
