"""Any server that speaks OpenAI's chat completions: vLLM's first of all.

What such servers do with a parameter they do not know: ignore it and answer 200. So the server is
asked first what it is, the constraint is sent in its own way, and the reply is still read by the
strict rule of `judging.replies`.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Literal

import httpx

from collection.models import Judgment
from judging.engines import EngineState, EngineUnavailable, GradeRequest, Reply
from judging.replies import choice_log_probabilities

Kind = Literal["vllm", "llama.cpp", "other"]

# One reply is a grade; a server that sends more than this is not answering the question.
MOST_BYTES = 1_000_000
TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
# How servers say that the prompt is longer than their context.
TOO_LONG_MARKS = ("input_tokens", "context_length_exceeded", "exceed_context_size", "maximum context length")
TOP_LOG_PROBABILITIES: Mapping[Kind, int] = {"vllm": 20, "llama.cpp": 200}


@dataclass(frozen=True)
class Server:
    """What a server said about itself."""

    kind: Kind
    version: str
    models: tuple[str, ...]
    context_length: int | None

    @property
    def identity(self) -> str:
        return f"{self.kind} {self.version}".strip()


@dataclass(frozen=True)
class Answer:
    """An HTTP answer that was read completely."""

    status: int
    content: bytes
    retry_after: str


class ReplyTooBig(Exception):
    """The server sent more than any grade needs."""


def root_of(base_url: str) -> str:
    """Return the address without the /v1 that people do or do not write at its end."""
    return base_url.rstrip("/").removesuffix("/v1")


def client_for(base_url: str, *, api_key: str = "", timeout: float, connections: int = 32) -> httpx.Client:
    """Return a client that waits this long for a reply and never for ever. It uses no proxy: the server is ours."""
    return httpx.Client(
        base_url=root_of(base_url),
        headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
        timeout=httpx.Timeout(timeout, connect=min(timeout, 10.0), pool=None),
        limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
        trust_env=False,
    )


def probe(client: httpx.Client) -> Server:
    """Ask the server what it is and which models it serves. Raises EngineUnavailable."""
    where = str(client.base_url).rstrip("/")
    try:
        models = _json_of(client.get("/v1/models", timeout=10))
    except httpx.HTTPError as error:
        raise EngineUnavailable(
            f"No answer from {where}: {error or type(error).__name__}. Is the server running, and JUDGE_BASE_URL right?"
        ) from error
    rows = [row for row in (models or {}).get("data") or [] if isinstance(row, dict) and row.get("id")]
    if not rows:
        raise EngineUnavailable(f"{where}/v1/models lists no model. Is JUDGE_API_KEY right, and is this such a server?")
    names = tuple(str(row["id"]) for row in rows)
    version = _json_of(_ask(client, "/version"))
    if version and "version" in version:
        return Server("vllm", str(version["version"]), names, rows[0].get("max_model_len"))
    props = _json_of(_ask(client, "/props"))
    if props and "default_generation_settings" in props:
        context = props["default_generation_settings"].get("n_ctx")
        return Server("llama.cpp", str(props.get("build_info", "")), names, context)
    return Server("other", "", names, None)


def _ask(client: httpx.Client, path: str) -> httpx.Response | None:
    try:
        return client.get(path, timeout=10)
    except httpx.HTTPError:
        return None


def _json_of(response: httpx.Response | None) -> dict[str, Any] | None:
    """Return the JSON object of a good answer, None for any other."""
    if response is None or response.status_code != 200:
        return None
    try:
        said = json.loads(response.content)
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def constraint(kind: Kind, choices: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that bind this kind of server to the choices; none if we know no way."""
    if kind == "vllm":
        return {"structured_outputs": {"choice": list(choices)}}
    if kind == "llama.cpp":
        # A JSON string is a literal of llama.cpp's grammar too.
        return {"grammar": "root ::= " + " | ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)}
    return {}


def chat_request(request: GradeRequest, *, model: str, kind: Kind, decoding: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of one chat completion."""
    messages = [{"role": "system", "content": request.system}] if request.system else []
    body: dict[str, Any] = {
        "model": model,
        "messages": [*messages, {"role": "user", "content": request.prompt}],
        "temperature": decoding.get("temperature", 0),
        # A token holds at least one byte, so every choice has room, and a word or two show what else was said.
        "max_tokens": max(len(choice.encode()) for choice in request.choices) + 8,
        **constraint(kind, request.choices),
    }
    if "seed" in decoding:
        body["seed"] = decoding["seed"]
    if kind in TOP_LOG_PROBABILITIES:
        body |= {"logprobs": True, "top_logprobs": TOP_LOG_PROBABILITIES[kind]}
    return body


class OpenAIEngine:
    """Sends chat completions to one server, many at a time, and repeats what failed for a passing reason."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        decoding: Mapping[str, Any],
        api_key: str = "",
        timeout: float = 120.0,
        concurrency: int = 16,
        attempts: int = 5,
        first_delay: float = 1.0,
    ) -> None:
        if not base_url:
            raise EngineUnavailable("JUDGE_BASE_URL is not set: it names the server that grades.")
        self.model = model
        self.decoding = decoding
        self.concurrency = concurrency
        self.timeout = timeout
        self.attempts = attempts
        self.first_delay = first_delay
        self.client = client_for(base_url, api_key=api_key, timeout=timeout, connections=concurrency)

    def server(self) -> Server:
        """Ask what the server is now: it may have been restarted. Raises EngineUnavailable if it lacks the model."""
        server = probe(self.client)
        if self.model not in server.models:
            raise EngineUnavailable(f"The server has no model “{self.model}”; it serves {', '.join(server.models)}.")
        return server

    def state(self) -> EngineState:
        try:
            server = self.server()
        except EngineUnavailable as error:
            return EngineState(available=False, reason=str(error))
        return EngineState(
            available=True,
            identity=server.identity,
            models=server.models,
            details={"kind": server.kind, "version": server.version, "context_length": server.context_length},
        )

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        server = self.server()
        waiting = iter(requests)
        with ThreadPoolExecutor(self.concurrency, thread_name_prefix="judge") as pool:
            running: dict[Future[Reply | None], GradeRequest] = {}
            while True:
                while len(running) < self.concurrency and not stopping():
                    request = next(waiting, None)
                    if request is None:
                        break
                    running[pool.submit(self.reply_to, request, server, stopping)] = request
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    request, reply = running.pop(future), future.result()
                    if reply is not None:
                        yield request, reply

    def reply_to(self, request: GradeRequest, server: Server, stopping: Callable[[], bool]) -> Reply | None:
        """Send one request until it has an answer; None if told to stop meanwhile. Raises EngineUnavailable."""
        body = chat_request(request, model=self.model, kind=server.kind, decoding=self.decoding)
        began = time.perf_counter()
        problem = ""
        unreachable = False
        for attempt in range(self.attempts):
            if attempt and not self._pause(attempt, stopping):
                return None
            try:
                answer = self._post(body)
            except httpx.TimeoutException as error:
                problem, unreachable = f"No reply in time ({type(error).__name__}).", False
            except httpx.RequestError as error:
                problem = f"The connection failed: {error or type(error).__name__}."
                unreachable = isinstance(error, httpx.TransportError)
            except ReplyTooBig:
                return self._engine_error(server, began, f"The reply is longer than {MOST_BYTES:,} bytes.")
            else:
                unreachable = False
                if answer.status not in TRANSIENT:
                    return self._read(answer, request, server, began)
                problem = f"The server answered {answer.status}: {_excerpt(answer.content)}"
                if answer.retry_after.isdigit() and not _wait(min(int(answer.retry_after), 60), stopping):
                    return None
        if unreachable:
            raise EngineUnavailable(f"{str(self.client.base_url).rstrip('/')} cannot be reached. {problem}")
        return self._engine_error(server, began, f"{problem} Tried {self.attempts} times.")

    def _pause(self, attempt: int, stopping: Callable[[], bool]) -> bool:
        """Wait before another attempt, longer each time and never in step with others."""
        delay = self.first_delay * 2 ** (attempt - 1)
        return _wait(min(delay, 30.0) * random.uniform(0.5, 1.0), stopping)  # noqa: S311

    def _post(self, body: Mapping[str, Any]) -> Answer:
        late = time.monotonic() + self.timeout
        with self.client.stream("POST", "/v1/chat/completions", json=body) as response:
            content = bytearray()
            for part in response.iter_bytes():
                content += part
                if len(content) > MOST_BYTES:
                    raise ReplyTooBig
                if time.monotonic() > late:  # it drips: no single wait was too long, but all of them are
                    raise httpx.ReadTimeout("The reply never ended.")
            return Answer(response.status_code, bytes(content), response.headers.get("Retry-After", ""))

    def _read(self, answer: Answer, request: GradeRequest, server: Server, began: float) -> Reply:
        """Turn an answer into a reply. Whatever is odd about it is an engine error, never a grade."""
        if answer.status != 200:
            said = answer.content.decode("utf-8", "replace")
            if answer.status in {400, 413, 422} and any(mark in said for mark in TOO_LONG_MARKS):
                return self._ungraded(Judgment.Ungraded.TOO_LONG, server, began, _excerpt(answer.content))
            return self._engine_error(server, began, f"The server answered {answer.status}: {_excerpt(answer.content)}")
        try:
            said = json.loads(answer.content)
            choice = said["choices"][0]
            message = choice["message"]
            text = message.get("content") or ""
            if not isinstance(text, str):
                raise TypeError("the content is no text")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            return self._engine_error(
                server, began, f"The reply is no chat completion ({type(error).__name__}): {_excerpt(answer.content)}"
            )
        answered_by = str(said.get("model") or self.model)
        if answered_by != self.model and not answered_by.startswith(f"{self.model}-"):
            return self._engine_error(server, began, f"“{answered_by}” replied, not “{self.model}”.", text=text)
        finish_reason = str(choice.get("finish_reason") or "")
        if message.get("refusal") or finish_reason == "content_filter":
            refusal = str(message.get("refusal") or "The server's content filter stopped it.")
            return self._ungraded(Judgment.Ungraded.REFUSED, server, began, refusal, text=text)
        usage = said.get("usage") if isinstance(said.get("usage"), dict) else {}
        return Reply(
            text=_storable(text),
            finish_reason=finish_reason[:30],
            log_probabilities=choice_log_probabilities(request.choices, _first_tokens(choice)),
            prompt_tokens=_count(usage.get("prompt_tokens")),
            completion_tokens=_count(usage.get("completion_tokens")),
            seconds=time.perf_counter() - began,
            identity=self._identity(server, answered_by),
        )

    def _engine_error(self, server: Server, began: float, error: str, *, text: str = "") -> Reply:
        return self._ungraded(Judgment.Ungraded.ENGINE_ERROR, server, began, error, text=text)

    def _ungraded(self, kind: str, server: Server, began: float, error: str, *, text: str = "") -> Reply:
        return Reply(
            text=_storable(text),
            ungraded=kind,
            error=_storable(error),
            seconds=time.perf_counter() - began,
            identity=self._identity(server, self.model),
        )

    def _identity(self, server: Server, model: str) -> str:
        return f"{server.identity}, {model}"[:300]


def _wait(seconds: float, stopping: Callable[[], bool]) -> bool:
    """Wait, in short steps. Returns False as soon as told to stop."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if stopping():
            return False
        time.sleep(min(left, 0.2))
    return not stopping()


def _first_tokens(choice: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return the likeliest first tokens of the reply with their log-probabilities; none if it brings none."""
    try:
        likeliest = choice["logprobs"]["content"][0]["top_logprobs"]
        return [(str(row["token"]), float(row["logprob"])) for row in likeliest]
    except (KeyError, IndexError, TypeError, ValueError):
        return []


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and 0 <= value < 2**31 else None


def _excerpt(content: bytes) -> str:
    return content[:500].decode("utf-8", "replace")


def _storable(text: str) -> str:
    """Return the text without what a database cannot hold: NUL and lone surrogates."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
