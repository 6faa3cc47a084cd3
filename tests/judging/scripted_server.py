"""An OpenAI-compatible server that a test tells what to say, however badly."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "judge-model"


@dataclass
class Raw:
    """An answer in full."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


Script = Callable[[dict[str, Any]], Any]


def chat_completion(
    text: str | None, *, finish_reason: str = "stop", model: str = MODEL, **message: Any
) -> dict[str, Any]:
    return {
        "model": model,
        "choices": [
            {"message": {"role": "assistant", "content": text, **message}, "finish_reason": finish_reason, "index": 0}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 1},
    }


class ScriptedServer:
    """Replies with what the script returns: a chat completion as a dict, or a Raw answer."""

    def __init__(self, *, kind: str = "vllm") -> None:
        self.kind = kind
        self.models = [MODEL]
        self.asked: list[dict[str, Any]] = []
        self.replied = 0
        self.now = 0
        self.most_at_once = 0
        self._lock = threading.Lock()
        self._script: Script = lambda body: chat_completion("1")
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.http.daemon_threads = True
        self.http.request_queue_size = 128
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}/v1"

    def script(self, script: Script) -> None:
        self._script = script

    def stop(self) -> None:
        self.http.shutdown()
        self.http.server_close()

    def answer_to_get(self, path: str) -> Raw:
        if path == "/v1/models":
            rows = [{"id": name, "object": "model", "max_model_len": 4096} for name in self.models]
            return Raw(body=json.dumps({"object": "list", "data": rows}).encode())
        if path == "/version" and self.kind == "vllm":
            return Raw(body=b'{"version": "0.32.0"}')
        if path == "/props" and self.kind == "llama.cpp":
            return Raw(body=b'{"default_generation_settings": {"n_ctx": 2048}, "build_info": "b9000"}')
        return Raw(status=404, body=b"{}")

    def answer_to_post(self, body: dict[str, Any]) -> Raw:
        with self._lock:
            self.asked.append(body)
            self.now += 1
            self.most_at_once = max(self.most_at_once, self.now)
        try:
            said = self._script(body)
        finally:
            with self._lock:
                self.now -= 1
                self.replied += 1
        return said if isinstance(said, Raw) else Raw(body=json.dumps(said).encode())

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.send(server.answer_to_get(self.path))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.send(server.answer_to_post(body))

            def send(self, answer: Raw) -> None:
                try:
                    self.send_response(answer.status)
                    self.send_header("Content-Length", str(len(answer.body)))
                    for name, value in answer.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(answer.body)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the client did not wait

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        return Handler
