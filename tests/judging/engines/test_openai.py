"""The engine against a server that behaves, and against one that misbehaves in every way we know of."""

from __future__ import annotations

import json
import math
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils.timezone import now

from collection.models import Judgment, Study
from judging.engines import EngineUnavailable, GradeRequest, Reply, Stopping
from judging.engines.http import MOST_BYTES, Access, client_for
from judging.engines.openai import OpenAIEngine
from judging.engines.server_probe import identify
from judging.grading.jobs import start_job
from judging.grading.progress import counts_of_job
from judging.grading.worker import take_turn
from judging.judges.registry import load_shipped, make_judge
from judging.models import GradingJob, Judge, PromptTemplate
from judging.prompts.grade_parsing import read_reply
from tests.judging.scripted_server import MODEL, Raw, ScriptedServer, chat_completion
from tests.judging.world import criterion_of, many_items

DIGITS = ("0", "1", "2", "3", "4", "5")


def an_engine(server: ScriptedServer, *, key: str = "", concurrency: int = 16, **settings: Any) -> OpenAIEngine:
    return OpenAIEngine(
        servers=[Access(server.url, key, concurrency)],
        model=MODEL,
        **{
            "decoding": {"temperature": 0.0, "seed": 0},
            "timeout": 0.5,
            "attempts": 3,
            "first_delay": 0.01,
            "patience": 1.0,
            **settings,
        },
    )


def ask(engine: OpenAIEngine, count: int = 1) -> list[Reply]:
    requests = [GradeRequest(n, DIGITS, "q", "t", prompt="Grade it.", system="You grade.") for n in range(count)]
    return [reply for _, reply in engine.grade(requests, stopping=lambda: False)]


def grade_of(reply: Reply) -> int | None:
    return read_reply(reply, DIGITS)[0]


def test_asks_vllm_in_its_own_way(server: ScriptedServer) -> None:
    server.script(lambda body: chat_completion("4"))

    (reply,) = ask(an_engine(server))

    (body,) = server.asked
    assert body["structured_outputs"] == {"choice": list(DIGITS)}
    assert "grammar" not in body
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert (body["model"], body["temperature"], body["seed"]) == (MODEL, 0.0, 0)
    assert grade_of(reply) == 4
    assert (reply.identity, reply.prompt_tokens, reply.completion_tokens) == ("vllm 0.32.0, judge-model", 100, 1)


@pytest.mark.parametrize(("kind", "constraint"), [("llama.cpp", "grammar"), ("other", None)])
def test_asks_other_servers_in_theirs(kind: str, constraint: str | None) -> None:
    server = ScriptedServer(kind=kind)

    ask(an_engine(server))

    (body,) = server.asked
    assert "structured_outputs" not in body
    assert body.get("grammar") == ('root ::= "0" | "1" | "2" | "3" | "4" | "5"' if constraint else None)
    server.stop()


def test_tells_what_the_server_is(server: ScriptedServer) -> None:
    with client_for(server.url, timeout=5) as client:
        found = identify(client)

    assert (found.kind, found.version, found.models, found.context_length) == ("vllm", "0.32.0", (MODEL,), 4096)


def test_the_address_may_end_with_v1_or_not(server: ScriptedServer) -> None:
    engine = OpenAIEngine(servers=[Access(server.url.removesuffix("/v1") + "/")], model=MODEL, decoding={}, timeout=1)

    assert grade_of(ask(engine)[0]) == 1


def test_keeps_the_log_probabilities_of_the_grades(server: ScriptedServer) -> None:
    answer = chat_completion("1")
    likeliest = [{"token": digit, "logprob": math.log(0.5 if digit == "1" else 0.1)} for digit in DIGITS]
    answer["choices"][0]["logprobs"] = {"content": [{"token": "1", "logprob": -0.7, "top_logprobs": likeliest}]}
    server.script(lambda body: answer)

    (reply,) = ask(an_engine(server))

    assert reply.log_probabilities is not None
    assert sum(map(math.exp, reply.log_probabilities.values())) == pytest.approx(1)


def test_keeps_them_where_a_json_schema_puts_quotes_round_the_grade(server: ScriptedServer) -> None:
    server.honours = {"response_format"}
    likeliest = [{"token": digit, "logprob": math.log(0.5 if digit == "1" else 0.1)} for digit in DIGITS]
    quote = {"token": '"', "logprob": 0.0, "top_logprobs": []}
    answer = chat_completion('"1"')
    answer["choices"][0]["logprobs"] = {
        "content": [quote, {"token": "1", "logprob": -0.7, "top_logprobs": likeliest}, quote]
    }
    server.script(lambda body: answer)

    (reply,) = ask(an_engine(server))

    assert reply.text == "1"
    assert reply.log_probabilities is not None
    assert math.exp(reply.log_probabilities["1"]) == pytest.approx(0.5)


def test_an_ignored_constraint_gives_free_text_and_no_grade(server: ScriptedServer) -> None:
    server.script(lambda body: chat_completion("The passage deserves a 4.", finish_reason="length"))

    (reply,) = ask(an_engine(server))

    assert read_reply(reply, DIGITS)[:2] == (None, Judgment.Ungraded.CUT_OFF)
    assert reply.text == "The passage deserves a 4."


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_failure_is_tried_again(server: ScriptedServer, status: int) -> None:
    answers: Iterator[Any] = iter([Raw(status=status, headers={"Retry-After": "0"}), chat_completion("2")])
    server.script(lambda body: next(answers))

    (reply,) = ask(an_engine(server))

    assert grade_of(reply) == 2
    assert len(server.asked) == 2


def test_a_failure_that_stays_is_an_engine_error(server: ScriptedServer) -> None:
    server.script(lambda body: Raw(status=500, body=b"out of memory"))

    (reply,) = ask(an_engine(server))

    assert reply.ungraded == Judgment.Ungraded.ENGINE_ERROR
    assert "500" in reply.error
    assert "out of memory" in reply.error
    assert len(server.asked) == 3


def test_a_refused_request_is_not_repeated(server: ScriptedServer) -> None:
    server.script(lambda body: Raw(status=400, body=b'{"error": {"message": "top_logprobs > 20"}}'))

    (reply,) = ask(an_engine(server))

    assert reply.ungraded == Judgment.Ungraded.ENGINE_ERROR
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "too many tokens", "param": "input_tokens", "code": 400}},
        {"error": {"type": "exceed_context_size_error", "message": "the request exceeds the available context size"}},
        {"error": {"code": "context_length_exceeded", "message": "reduce the length"}},
    ],
)
def test_a_prompt_that_is_too_long_is_too_long(server: ScriptedServer, body: dict[str, Any]) -> None:
    server.script(lambda asked: Raw(status=400, body=json.dumps(body).encode()))

    assert ask(an_engine(server))[0].ungraded == Judgment.Ungraded.TOO_LONG


def hang(body: dict[str, Any]) -> Any:
    time.sleep(1)
    return chat_completion("5")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (hang, "No reply in time"),
        (lambda body: Raw(body=b'{"choices": []}'), "not a completion"),
        (lambda body: Raw(body=b"not JSON"), "not a completion"),
        (lambda body: Raw(body=b"[]"), "not a completion"),
        (lambda body: Raw(body=b'{"choices": [{"message": {"content": "\xff\xfe5"}}]}'), "not a completion"),
        (lambda body: Raw(body=b'{"choices": [{"message": {"content": 5}}]}'), "not a completion"),
        (lambda body: Raw(body=b'{"choices": [{"message": null}]}'), "not a completion"),
        (lambda body: chat_completion("5", model="another-model"), "another-model"),
        (lambda body: chat_completion("5" * 10_000_000), f"longer than {MOST_BYTES:,}"),
        (lambda body: Raw(status=401, body=b"who are you"), "401"),
        (lambda body: Raw(status=404, body=b"no such model"), "404"),
    ],
    ids=["hang", "no-choices", "no-json", "list", "utf-8", "number", "null", "model", "big", "401", "404"],
)
def test_an_odd_answer_is_an_engine_error_and_no_grade(server: ScriptedServer, script: Any, said: str) -> None:
    server.script(script)

    (reply,) = ask(an_engine(server, attempts=2))

    assert grade_of(reply) is None
    assert reply.ungraded == Judgment.Ungraded.ENGINE_ERROR
    assert said in reply.error


def test_a_dated_name_of_the_same_model_is_the_same_model(server: ScriptedServer) -> None:
    server.script(lambda body: chat_completion("5", model=f"{MODEL}-2026-11-01"))

    assert grade_of(ask(an_engine(server))[0]) == 5


@pytest.mark.parametrize(
    "answer",
    [chat_completion("5", refusal="I cannot help with that."), chat_completion("5", finish_reason="content_filter")],
)
def test_a_refusal_is_refused_whatever_it_says(server: ScriptedServer, answer: dict[str, Any]) -> None:
    server.script(lambda body: answer)

    assert ask(an_engine(server))[0].ungraded == Judgment.Ungraded.REFUSED


def test_an_empty_content_is_unreadable(server: ScriptedServer) -> None:
    server.script(lambda body: chat_completion(None))

    assert read_reply(ask(an_engine(server))[0], DIGITS)[1] == Judgment.Ungraded.UNREADABLE


def test_what_no_database_can_hold_is_replaced(server: ScriptedServer) -> None:
    server.script(lambda body: Raw(body=b'{"choices": [{"message": {"content": "5\\u0000\\ud800"}}]}'))

    (reply,) = ask(an_engine(server))

    assert reply.text.encode()
    assert "\x00" not in reply.text
    assert grade_of(reply) is None


def test_many_requests_are_under_way_at_once(server: ScriptedServer) -> None:
    eight = threading.Barrier(8)

    def when_eight_are_there(body: dict[str, Any]) -> Any:
        eight.wait(20)
        return chat_completion("1")

    server.script(when_eight_are_there)

    replies = ask(an_engine(server, concurrency=8, timeout=30), 24)

    assert len(replies) == 24
    assert server.most_at_once == 8


def test_stops_when_told_to(server: ScriptedServer) -> None:
    engine = an_engine(server)

    replies = list(engine.grade([GradeRequest(1, DIGITS, "q", "t", prompt="p")], stopping=lambda: True))

    assert replies == []


def test_lets_go_of_a_server_that_is_slow_and_has_connections_for_who_comes_next(server: ScriptedServer) -> None:
    engine = an_engine(server, concurrency=2, timeout=60)
    answered = threading.Event()

    def slowly(body: dict[str, Any]) -> Any:
        if len(server.asked) <= 2:
            answered.wait(60)
        return chat_completion("1")

    server.script(slowly)
    cancelled = Stopping(begin_no_more=lambda: len(server.asked) > 1, at_once=lambda: len(server.asked) > 1)
    began = time.monotonic()

    replies = list(engine.grade([GradeRequest(n, DIGITS, "q", "t", prompt="p") for n in range(9)], stopping=cancelled))
    let_go = time.monotonic() - began
    after_that = ask(engine, 2)
    answered.set()

    assert replies == []
    assert let_go < 5
    assert [grade_of(reply) for reply in after_that] == [1, 1]


def test_a_reply_that_is_paid_for_is_waited_for_when_somebody_cancels(server: ScriptedServer) -> None:
    engine = an_engine(server, timeout=60)

    def slowly(body: dict[str, Any]) -> Any:
        time.sleep(1)
        return chat_completion("1")

    server.script(slowly)
    request = GradeRequest(1, DIGITS, "q", "t", prompt="p")

    replies = list(engine.grade([request], stopping=lambda: bool(server.asked)))

    assert len(replies) == 1


def test_says_when_nobody_answers(server: ScriptedServer) -> None:
    engine = an_engine(server)
    server.stop()

    with pytest.raises(EngineUnavailable, match="No answer from http://127"):
        ask(engine)


def test_says_which_models_there_are(server: ScriptedServer) -> None:
    server.models = ["smol", "large"]

    with pytest.raises(EngineUnavailable, match="no model “judge-model”; it serves smol, large"):
        ask(an_engine(server))


def then(*answers: Any) -> Any:
    """A script that gives these answers one after the other, and the last for ever."""
    left = list(answers)
    return lambda body: left.pop(0) if len(left) > 1 else left[0]


def with_log_probabilities(text: str, logprobs: Any) -> Any:
    answer = chat_completion(text)
    answer["choices"][0]["logprobs"] = logprobs
    return lambda body: answer


# What a server may do to a prompt, and what the counts must say of it: a grade, or a kind of ungraded.
MISBEHAVIOUR: dict[str, tuple[Any, float | str]] = {
    "behaves": (then(chat_completion("1")), 1.0),
    "behaves too": (then(chat_completion("0")), 0.0),
    "ignores the constraint": (then(chat_completion("Grade: 1")), "unreadable"),
    "ignores it, at length": (then(chat_completion("The report deserves", finish_reason="length")), "cut_off"),
    "says a grade of another scale": (then(chat_completion("5")), "unreadable"),
    "says nothing": (then(chat_completion(None)), "unreadable"),
    "is cut off to a blank": (then(chat_completion("", finish_reason="length")), "cut_off"),
    "refuses": (then(chat_completion("1", refusal="No.")), "refused"),
    "filters": (then(chat_completion("1", finish_reason="content_filter")), "refused"),
    "finds it too long": (then(Raw(status=400, body=b'{"error": {"code": "context_length_exceeded"}}')), "too_long"),
    "is crowded, once": (then(Raw(status=429, headers={"Retry-After": "0"}), chat_completion("1")), 1.0),
    "is crowded, until a date": (
        then(Raw(status=429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}), chat_completion("1")),
        1.0,
    ),
    "is crowded for ever": (then(Raw(status=429, headers={"Retry-After": "0"})), "engine_error"),
    "fails once": (then(Raw(status=500), chat_completion("0")), 0.0),
    "fails for ever": (then(Raw(status=500)), "engine_error"),
    "hangs": (hang, "engine_error"),
    "breaks off, once": (then(Raw(body=b'{"choices": [{"mess', promised=900), chat_completion("1")), 1.0),
    "breaks off for ever": (then(Raw(body=b'{"choices": [{"mess', promised=900)), "engine_error"),
    "has no choices": (then(Raw(body=b'{"choices": []}')), "engine_error"),
    "says nothing at all": (then(Raw(body=b"")), "engine_error"),
    "sends no JSON": (then(Raw(body=b"<html>Bad gateway</html>")), "engine_error"),
    "sends no UTF-8": (then(Raw(body=b'{"choices": [{"message": {"content": "\xff1"}}]}')), "engine_error"),
    "nests without end": (then(Raw(body=b"[" * 100_000)), "engine_error"),
    "is another model": (then(chat_completion("1", model="another-model")), "engine_error"),
    "never stops talking": (then(chat_completion("1" * 10_000_000)), "engine_error"),
    "knows no such path": (then(Raw(status=404, body=b"{}")), "engine_error"),
    "brings odd log-probabilities": (with_log_probabilities("1", {"content": [{"token": 1}]}), 1.0),
    "brings impossible ones": (
        with_log_probabilities("1", {"content": [{"token": "1", "logprob": float("nan"), "top_logprobs": []}]}),
        1.0,
    ),
}


@pytest.mark.django_db
def test_a_server_that_misbehaves_in_turn_leaves_true_counts(judged_study: Study, server: ScriptedServer) -> None:
    criterion = criterion_of(judged_study)
    many_items(judged_study, len(MISBEHAVIOUR) - 6)
    dealt: dict[str, str] = {}

    def one_for_each_prompt(body: dict[str, Any]) -> Any:
        name = dealt.setdefault(body["messages"][-1]["content"], list(MISBEHAVIOUR)[len(dealt) % len(MISBEHAVIOUR)])
        return MISBEHAVIOUR[name][0](body)

    server.script(one_for_each_prompt)
    load_shipped()
    judge, _ = make_judge(
        engine=Judge.Engine.OPENAI,
        model=MODEL,
        template=PromptTemplate.objects.filter(criterion_name="answerability").first(),
        task_type=criterion.task_type,
        criterion_name="answerability",
        scale=criterion.scale,
    )
    job = start_job(criterion=criterion, judge=judge, by=None, at=now())
    engine = an_engine(server, concurrency=1, patience=30.0)

    while take_turn(job_id=job.pk, generation=job.generation, engine_for=lambda judge: engine, seconds=60):
        pass

    job.refresh_from_db()
    counts = counts_of_job(job)
    wanted = [outcome for _, outcome in MISBEHAVIOUR.values()]
    grades = Counter(outcome for outcome in wanted if isinstance(outcome, float))
    kinds = Counter(outcome for outcome in wanted if isinstance(outcome, str))
    assert (job.state, job.reason) == (GradingJob.State.DONE, "")
    assert len(dealt) == job.total == len(MISBEHAVIOUR)
    assert counts.graded == dict(sorted(grades.items()))
    assert {kind: count for kind, count in counts.ungraded.items() if count} == kinds
    assert (counts.waiting, job.graded, job.ungraded) == (0, grades.total(), kinds.total())
    stored = Judgment.objects.filter(rater=judge.rater, grade__isnull=False).values_list("grade", flat=True)
    assert Counter(stored) == grades
