"""An OpenAI-compatible server that a test tells what to say, however badly."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from judging.engines.server_probe import ALLOWED, PROVOKING

MODEL = "judge-model"


@dataclass
class Raw:
    """An answer in full."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    # How many bytes to promise, where that is another number than are sent before the connection is dropped.
    promised: int | None = None


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


def completions(texts: list[str], *, endpoint: str = "chat", **usage: int) -> dict[str, Any]:
    """The answer to many prompts in one request."""
    rows: list[dict[str, Any]] = [{"index": number, "finish_reason": "stop"} for number in range(len(texts))]
    for row, text in zip(rows, texts, strict=True):
        row |= {"message": {"role": "assistant", "content": text}} if endpoint == "chat" else {"text": text}
    return {"model": MODEL, "choices": rows, "usage": usage}


def prompts_of(body: dict[str, Any]) -> list[str]:
    """The last words of each prompt of a request, for chats and completions, one or many."""
    if "prompt" in body:
        return body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
    many = isinstance(body["messages"][0], list)
    return [chat[-1]["content"] for chat in (body["messages"] if many else [body["messages"]])]


class ScriptedServer:
    """Replies with what the script returns: a chat completion as a dict, or a Raw answer.

    The question by which an engine finds out what a server honours is answered apart: with one of the
    two replies that are allowed if it is asked in a way that is in `honours`, and freely otherwise.
    """

    def __init__(self, *, kind: str = "vllm", port: int = 0) -> None:
        self.kind = kind
        self.version = "0.32.0"
        self.honours = {"vllm": {"structured_outputs"}, "llama.cpp": {"grammar"}}.get(kind, set())
        self.most_log_probabilities = {"vllm": 20, "llama.cpp": 200}.get(kind, 0)
        self.takes_many = False
        self.counts_many = True
        self.not_taken: set[str] = set()
        self.before_examination: list[Raw] = []
        self.examined = 0
        self.models = [MODEL]
        self.asked: list[dict[str, Any]] = []
        # What came as Authorization.
        self.keys: set[str] = set()
        # What other paths than those of completions are answered with.
        self.posts: dict[str, Raw] = {}
        self.replied = 0
        self.now = 0
        self.most_at_once = 0
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._script: Script = lambda body: chat_completion("1")
        self.http = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self.http.daemon_threads = True
        self.http.request_queue_size = 128
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}/v1"

    def script(self, script: Script) -> None:
        self._script = script

    def stop(self) -> None:
        """Be gone, with every connection that is open."""
        self.http.shutdown()
        self.http.server_close()
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def answer_to_get(self, path: str) -> Raw:
        if path == "/v1/models":
            rows = [{"id": name, "object": "model", "max_model_len": 4096} for name in self.models]
            return Raw(body=json.dumps({"object": "list", "data": rows}).encode())
        if path == "/version" and self.kind == "vllm":
            return Raw(body=json.dumps({"version": self.version}).encode())
        if path == "/props" and self.kind == "llama.cpp":
            return Raw(body=b'{"default_generation_settings": {"n_ctx": 2048}, "build_info": "b9000"}')
        return Raw(status=404, body=b"{}")

    def answer_to_examination(self, body: dict[str, Any], path: str) -> Raw:
        self.examined += 1
        if self.before_examination:
            return self.before_examination.pop(0)
        many = len(prompts_of(body))
        if many > 1 and not self.takes_many:
            return Raw(status=404, body=b"{}")
        if self.not_taken & set(body):
            return Raw(status=400, body=b'{"error": {"message": "Not with these settings."}}')
        if body.get("top_logprobs", 0) > self.most_log_probabilities:
            return Raw(status=400, body=b'{"error": {"message": "greater than max allowed"}}')
        text = ALLOWED[0] if self.honours & set(body) else "Apple."
        if "response_format" in self.honours & set(body):
            text = json.dumps(text)
        endpoint = "completions" if path == "/v1/completions" else "chat"
        said = completions([text] * many, endpoint=endpoint, prompt_tokens=9 * (many if self.counts_many else 1))
        if "logprobs" in body:
            said["choices"][0]["logprobs"] = {"content": [{"token": text, "logprob": 0.0, "top_logprobs": []}]}
        return Raw(body=json.dumps(said).encode())

    def answer_to_post(self, body: dict[str, Any], path: str) -> Raw:
        if path in self.posts:
            return self.posts[path]
        if set(prompts_of(body)) == {PROVOKING}:
            return self.answer_to_examination(body, path)
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

            def setup(self) -> None:
                super().setup()
                server._connections.add(self.connection)

            def finish(self) -> None:
                server._connections.discard(self.connection)
                with suppress(OSError):
                    super().finish()

            def do_GET(self) -> None:
                server.keys.add(self.headers.get("Authorization", ""))
                self.send(server.answer_to_get(self.path))

            def do_POST(self) -> None:
                server.keys.add(self.headers.get("Authorization", ""))
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.send(server.answer_to_post(body, self.path))

            def send(self, answer: Raw) -> None:
                try:
                    self.send_response(answer.status)
                    self.send_header("Content-Length", str(answer.promised or len(answer.body)))
                    for name, value in answer.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(answer.body)
                    if answer.promised is not None:
                        self.close_connection = True
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the client did not wait

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        return Handler
