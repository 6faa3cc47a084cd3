"""Several servers: used evenly, left alone while they fail, waited for. Many prompts in one request."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any

import pytest

from collection.models import Judgment
from judging.engines import EngineUnavailable, GradeRequest, Heard, Reply, Stopping
from judging.engines import pool as pool_of_servers
from judging.engines.http import Access
from judging.engines.openai import OpenAIEngine
from judging.engines.pool import FAILURES_IN_A_ROW, Pool
from tests.judging.scripted_server import MODEL, Raw, ScriptedServer, chat_completion, completions, prompts_of

DIGITS = ("0", "1", "2", "3", "4", "5")
MakeServer = Callable[..., ScriptedServer]


@pytest.fixture
def make_server() -> Iterator[MakeServer]:
    """Makes servers that are gone when the test ends."""
    made: list[ScriptedServer] = []

    def make(**settings: Any) -> ScriptedServer:
        made.append(ScriptedServer(**settings))
        return made[-1]

    yield make
    for server in made:
        server.stop()


def an_engine(*servers: ScriptedServer, endpoint: str = "chat", concurrency: int = 4, **settings: Any) -> OpenAIEngine:
    return OpenAIEngine(
        servers=[Access(server.url, concurrency=concurrency) for server in servers],
        model=MODEL,
        decoding={"temperature": 0.0, "endpoint": endpoint},
        **{"timeout": 5.0, "attempts": 3, "first_delay": 0.01, "patience": 5.0, **settings},
    )


def asking(number: int, **more: Any) -> GradeRequest:
    return GradeRequest(number, DIGITS, "q", "", prompt=f"Grade {number}.", **more)


def ask(engine: OpenAIEngine, *numbers: int) -> dict[int, Reply]:
    requests = [asking(number) for number in numbers]
    replies = [(request.item_id, reply) for request, reply in engine.grade(requests, stopping=lambda: False)]
    assert len(replies) == len(dict(replies))
    return dict(replies)


def prompts_asked(server: ScriptedServer) -> list[str]:
    return [prompt for body in server.asked for prompt in prompts_of(body)]


def takes_many(server: ScriptedServer, reply_to: Callable[[str], str] = lambda prompt: "1", **usage: int) -> None:
    """Let the server take many prompts in one request, and reply to each by itself."""
    server.takes_many = True

    def script(body: dict[str, Any]) -> Any:
        endpoint = "completions" if "prompt" in body else "chat"
        return completions([reply_to(prompt) for prompt in prompts_of(body)], endpoint=endpoint, **usage)

    server.script(script)


def after(seconds: float, script: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    """The same script, later."""

    def wait_and_answer(body: dict[str, Any]) -> Any:
        time.sleep(seconds)
        return script(body)

    return wait_and_answer


def a_short_turn(engine: OpenAIEngine, *, seconds: float) -> list[Reply]:
    over = time.monotonic() + seconds
    return [reply for _, reply in engine.grade([asking(1)], stopping=lambda: time.monotonic() > over)]


# --- several servers ---


def test_servers_are_used_evenly(make_server: MakeServer) -> None:
    servers = [make_server() for _ in range(3)]

    replies = ask(an_engine(*servers), *range(60))

    assert len(replies) == 60
    assert all(10 <= len(server.asked) <= 30 for server in servers)


def test_a_server_that_fails_is_left_alone_and_the_others_do_its_work(make_server: MakeServer) -> None:
    good, bad = make_server(), make_server()
    bad.script(lambda body: Raw(status=500, body=b"out of memory"))

    replies = ask(an_engine(good, bad, first_delay=5.0), *range(40))

    assert {reply.text for reply in replies.values()} == {"1"}
    assert len(bad.asked) < 10


def test_a_server_that_was_gone_is_used_again_when_it_is_back(make_server: MakeServer) -> None:
    good, other = make_server(), make_server()
    engine = an_engine(good, other)
    ask(engine, *range(4))
    port = other.http.server_port
    other.stop()
    assert len(ask(engine, *range(10, 20))) == 10

    back = make_server(port=port)
    time.sleep(0.2)
    ask(engine, *range(20, 40))

    assert back.asked


def test_one_that_serves_another_model_is_not_asked(make_server: MakeServer) -> None:
    good, other = make_server(), make_server()
    other.models = ["another-model"]

    assert len(ask(an_engine(good, other), *range(8))) == 8
    assert not other.asked


def test_says_of_every_server_why_it_cannot_be_used(make_server: MakeServer) -> None:
    gone, other = make_server(), make_server()
    other.models = ["another-model"]
    gone.stop()

    with pytest.raises(EngineUnavailable, match=r"No answer from http.*has no model “judge-model”"):
        ask(an_engine(gone, other), 1)


def test_a_server_that_asks_for_rest_gets_it(make_server: MakeServer) -> None:
    calm, busy = make_server(), make_server()
    answers = iter([Raw(status=429, headers={"Retry-After": "30"})])
    busy.script(lambda body: next(answers, chat_completion("2")))

    began = time.monotonic()
    replies = ask(an_engine(calm, busy, concurrency=1), *range(20))

    assert {reply.text for reply in replies.values()} == {"1"}
    assert len(busy.asked) == 1
    assert time.monotonic() - began < 10


def test_all_questions_about_a_text_go_to_the_server_that_has_it(
    make_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_of_servers, "SPILL", 48)  # however the threads run
    servers = [make_server() for _ in range(3)]
    requests = [
        GradeRequest(number, DIGITS, "q", f"text {number // 4}", prompt=f"{number // 4}/{number}")
        for number in range(48)
    ]
    engine = an_engine(*servers, concurrency=48)

    assert len(list(engine.grade(requests, stopping=lambda: False))) == 48

    asked = [{prompt.split("/")[0] for prompt in prompts_asked(server)} for server in servers]
    assert sum(len(texts) for texts in asked) == 12  # no text was read by two
    assert sum(map(bool, asked)) > 1


def test_a_text_whose_server_has_too_much_to_do_goes_to_another(make_server: MakeServer) -> None:
    first, second = make_server(), make_server()
    pool = an_engine(first, second, concurrency=40).pool
    pool.look()

    taken = Counter(member.address for _ in range(40) if (member := pool.take(lambda: False, text="one")) is not None)

    assert sorted(taken.values()) == [16, 24]  # it keeps eight more than the other


# --- gone and back ---


def test_a_server_that_restarts_in_the_middle_is_waited_for(make_server: MakeServer) -> None:
    first = make_server()
    port = first.http.server_port
    engine = an_engine(first, concurrency=1)
    begun = iter(engine.grade([asking(number) for number in range(20)], stopping=lambda: False))
    replies = dict(next(begun) for _ in range(3))

    first.stop()
    threading.Timer(0.5, lambda: make_server(port=port)).start()
    replies |= dict(begun)

    assert len(replies) == 20
    assert {reply.text for reply in replies.values()} == {"1"}


def test_a_turn_that_ends_while_the_server_is_gone_loses_nothing_and_does_not_raise(make_server: MakeServer) -> None:
    server = make_server()
    engine = an_engine(server)
    ask(engine, 1)
    server.stop()
    over = time.monotonic() + 0.3

    replies = list(engine.grade([asking(2)], stopping=lambda: time.monotonic() > over))

    assert replies == []


def test_patience_has_an_end(make_server: MakeServer) -> None:
    server = make_server()
    engine = an_engine(server, patience=0.3)
    ask(engine, 1)
    server.stop()

    with pytest.raises(EngineUnavailable, match=r"cannot be reached|No answer"):
        ask(engine, 2)


def asked_by_a_job(engine: OpenAIEngine, number: int, *, seconds: float = 10, **heard: float) -> list[str]:
    """Ask in a turn of a job that began, or had its last reply, so many seconds ago."""
    at = time.monotonic()
    of_job = Heard(**{name: at - ago for name, ago in heard.items()})
    stopping = Stopping(lambda: time.monotonic() > at + seconds, lambda: False, lambda: of_job)
    return [reply.text for _, reply in engine.grade([asking(number)], stopping=stopping)]


def test_patience_counts_from_the_last_reply_to_the_job_also_where_another_process_had_it(
    make_server: MakeServer,
) -> None:
    server = make_server()
    port = server.http.server_port
    server.stop()
    threading.Timer(0.5, lambda: make_server(port=port)).start()

    assert asked_by_a_job(an_engine(server), 1, began=100, replied=1) == ["1"]


def waited_for_it(pool: Pool, *, seconds: float, **heard: float) -> float:
    """Let the only server fail until it is left alone, and return how long a job's turn of so long waits for it."""
    began = time.monotonic()
    for _ in range(FAILURES_IN_A_ROW):
        member = pool.take(lambda: False)
        assert member is not None
        pool.failed(member, "The server answered 500.")
    of_job = Heard(**{name: began - ago for name, ago in heard.items()})
    pool.take(Stopping(lambda: time.monotonic() > began + seconds, lambda: False, lambda: of_job))
    return time.monotonic() - began


def test_replies_to_other_jobs_and_looks_at_servers_do_not_count(make_server: MakeServer) -> None:
    server = make_server()
    engine = an_engine(server, patience=0.5, first_delay=100)
    ask(engine, 1)

    with pytest.raises(EngineUnavailable):
        waited_for_it(engine.pool, seconds=10, began=0, replied=100)

    server.stop()
    with pytest.raises(EngineUnavailable):
        asked_by_a_job(engine, 3, began=100, replied=100)


def test_a_job_waits_for_a_server_that_does_nothing_but_fail_since_it_began(make_server: MakeServer) -> None:
    engine = an_engine(make_server(), patience=100, first_delay=100)
    ask(engine, 1)

    assert waited_for_it(engine.pool, seconds=0.3, began=0) > 0.3


def test_a_job_waits_from_its_beginning_for_a_server_that_was_there_since(make_server: MakeServer) -> None:
    server = make_server()
    engine = an_engine(server, patience=2)
    ask(engine, 1)
    server.stop()

    began = time.monotonic()
    with pytest.raises(EngineUnavailable):
        asked_by_a_job(engine, 2, began=1.5)

    assert time.monotonic() - began > 0.2


def test_what_was_replied_is_kept_when_the_server_goes_for_good(make_server: MakeServer) -> None:
    server = make_server()
    engine = an_engine(server, patience=0.3, concurrency=1)

    def gone_at_the_third(body: dict[str, Any]) -> Any:
        if prompts_of(body) == ["Grade 3."]:
            server.stop()
        return chat_completion("4")

    server.script(gone_at_the_third)
    kept: list[int] = []

    def keep() -> None:
        for request, _ in engine.grade([asking(number) for number in range(6)], stopping=lambda: False):
            kept.append(request.item_id)

    with pytest.raises(EngineUnavailable):
        keep()

    assert kept == [0, 1, 2]


def test_a_server_that_hangs_is_given_up_on_though_turns_are_short(make_server: MakeServer) -> None:
    server = make_server()
    engine = an_engine(server, timeout=0.2, attempts=3)
    server.script(after(0.5, lambda body: chat_completion("5")))
    replies: list[Reply] = []

    turns = 0
    while not replies and turns < 10:
        turns += 1
        replies = a_short_turn(engine, seconds=0.1)

    assert [reply.ungraded for reply in replies] == [Judgment.Ungraded.ENGINE_ERROR]
    assert "Tried 3 times" in replies[0].error


# --- a connection that breaks, a restart as something else ---


def test_a_body_that_breaks_off_is_tried_again(make_server: MakeServer) -> None:
    server = make_server()
    answers = iter([Raw(body=b'{"choices": [{"message": {"content": "5"', promised=500)])
    server.script(lambda body: next(answers, chat_completion("2")))

    assert ask(an_engine(server), 1)[1].text == "2"


def test_a_body_that_always_breaks_off_is_an_engine_error(make_server: MakeServer) -> None:
    server = make_server()
    server.script(lambda body: Raw(body=b'{"choices": [{"message": {"content": "5"', promised=500))

    reply = ask(an_engine(server), 1)[1]

    assert reply.ungraded == Judgment.Ungraded.ENGINE_ERROR
    assert "connection failed" in reply.error


def test_a_server_that_is_another_now_is_tried_out_again(make_server: MakeServer) -> None:
    server = make_server()
    learnt: list[str] = []
    engine = an_engine(server, remember=lambda _, findings, tokens: learnt.append(findings.server.version))
    ask(engine, 1)
    server.version = "0.33.0"
    for member in engine.pool.members:
        member.looked_at = float("-inf")

    reply = ask(engine, 2)[2]

    assert learnt == ["0.32.0", "0.33.0"]
    assert reply.identity.startswith("vllm 0.33.0")


def test_what_is_remembered_is_not_tried_out_again(make_server: MakeServer) -> None:
    server = make_server()
    learnt: dict[str, Any] = {}
    ask(an_engine(server, remember=lambda address, found, _: learnt.update({address: found})), 1)
    examined = server.examined

    ask(an_engine(server, known=learnt), 2)

    assert examined > 0
    assert server.examined == examined


# --- many prompts in one request ---


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_many_prompts_go_in_one_request_and_each_gets_its_own_reply(make_server: MakeServer, endpoint: str) -> None:
    server = make_server()
    takes_many(server, lambda prompt: str(int(prompt.split()[1].rstrip(".")) % 6), prompt_tokens=7, completion_tokens=3)

    replies = ask(an_engine(server, endpoint=endpoint, concurrency=1), *range(100))

    assert {number: reply.text for number, reply in replies.items()} == {n: str(n % 6) for n in range(100)}
    assert len(server.asked) < 20
    assert sorted(prompts_asked(server)) == sorted(f"Grade {number}." for number in range(100))


def test_the_tokens_of_one_answer_are_shared_out_to_the_last(make_server: MakeServer) -> None:
    server = make_server()
    takes_many(server, prompt_tokens=103, completion_tokens=4)
    engine = an_engine(server, concurrency=1)
    engine.pace.size = 4

    replies = ask(engine, *range(4))

    assert sorted(reply.prompt_tokens or 0 for reply in replies.values()) == [25, 26, 26, 26]
    assert [reply.completion_tokens for reply in replies.values()] == [1, 1, 1, 1]


def test_one_prompt_that_is_refused_costs_the_others_nothing(make_server: MakeServer) -> None:
    server = make_server()
    takes_many(server)
    well = server._script

    def refuses_number_seven(body: dict[str, Any]) -> Any:
        if "Grade 7." in prompts_of(body):
            return Raw(status=400, body=b'{"error": {"message": "too long", "param": "input_tokens"}}')
        return well(body)

    server.script(refuses_number_seven)
    engine = an_engine(server, concurrency=1)
    engine.pace.size = 16

    replies = ask(engine, *range(16))

    assert replies.pop(7).ungraded == Judgment.Ungraded.TOO_LONG
    assert {reply.text for reply in replies.values()} == {"1"}


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said["choices"].pop(),
        lambda said: said["choices"].append(said["choices"][0]),
        lambda said: said["choices"][0].update(index=1),
        lambda said: said["choices"][0].pop("index"),
        lambda said: said.pop("choices"),
    ],
    ids=["one-missing", "one-too-many", "the-same-twice", "no-index", "none"],
)
def test_replies_that_cannot_be_told_apart_are_asked_for_one_by_one(
    make_server: MakeServer, change: Callable[[dict[str, Any]], object]
) -> None:
    server = make_server()
    takes_many(server, lambda prompt: prompt.split()[1].rstrip("."))
    well = server._script

    def mixed_up(body: dict[str, Any]) -> Any:
        said = well(body)
        if len(prompts_of(body)) > 1:
            change(said)
            return said
        return chat_completion(prompts_of(body)[0].split()[1].rstrip("."))

    server.script(mixed_up)
    engine = an_engine(server, concurrency=1)
    engine.pace.size = 4

    replies = ask(engine, 0, 1, 2, 3)

    assert {number: reply.text for number, reply in replies.items()} == {0: "0", 1: "1", 2: "2", 3: "3"}


def test_requests_with_other_choices_are_not_asked_together(make_server: MakeServer) -> None:
    server = make_server()
    takes_many(server)
    engine = an_engine(server, concurrency=1)
    engine.pace.size = 8
    requests = [
        asking(1),
        asking(2),
        GradeRequest(3, ("yes", "no"), "q", "t", prompt="Grade 3."),
        asking(4, reply_tokens=50),
    ]

    list(engine.grade(requests, stopping=lambda: False))

    assert [len(prompts_of(body)) for body in server.asked] == [2, 1, 1]
    assert "structured_outputs" not in server.asked[2]
    assert server.asked[2]["max_tokens"] == 50


@pytest.mark.parametrize("together", [1, 8])
def test_replies_come_while_the_next_request_is_waited_for(make_server: MakeServer, together: int) -> None:
    server = make_server()
    takes_many(server)
    engine = an_engine(server)
    engine.pace.size = together
    first_is_replied_to = threading.Event()

    def source() -> Iterator[GradeRequest]:
        yield asking(1)
        assert first_is_replied_to.wait(5), "The engine kept the first reply until the second request came."
        yield asking(2)

    replied_to = []
    for request, _ in engine.grade(source(), stopping=lambda: False):
        replied_to.append(request.item_id)
        first_is_replied_to.set()

    assert replied_to == [1, 2]


def test_fewer_go_together_when_answers_take_long(make_server: MakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judging.engines.request_size.SLOW_SECONDS", 0.05)
    server = make_server()
    takes_many(server)
    server.script(after(0.1, server._script))
    engine = an_engine(server, concurrency=1)
    engine.pace.size = 8

    ask(engine, *range(16))

    assert engine.pace.size == 1


def test_a_completion_is_asked_in_plain_text(make_server: MakeServer) -> None:
    server = make_server()
    server.script(lambda body: completions(["3"], endpoint="completions"))
    request = GradeRequest(1, DIGITS, "q", "t", prompt="Grade it.", system="You grade.")

    ((_, reply),) = an_engine(server, endpoint="completions").grade([request], stopping=lambda: False)

    (body,) = server.asked
    assert body["prompt"] == "You grade.\n\nGrade it."
    assert (body["logprobs"], body["structured_outputs"]) == (20, {"choice": list(DIGITS)})
    assert "messages" not in body
    assert reply.text == "3"


def test_turns_that_share_a_server_have_no_more_requests_under_way_than_it_may_get_and_ask_nothing_twice(
    make_server: MakeServer,
) -> None:
    server = make_server()
    engine = an_engine(server, concurrency=3)
    turns = [range(start, start + 40) for start in range(0, 160, 40)]

    with ThreadPoolExecutor(len(turns)) as workers:
        replies = list(workers.map(lambda numbers: ask(copy(engine), *numbers), turns))

    assert sum(map(len, replies)) == len(server.asked) == 160
    assert server.most_at_once <= 3


def test_what_hangs_at_a_server_takes_no_place_of_those_that_come_after_it(make_server: MakeServer) -> None:
    engine = an_engine(make_server(), concurrency=1)
    engine.pool.look()
    hangs = engine.pool.take(lambda: False)
    assert hangs is not None
    late = time.monotonic() + 0.3
    assert engine.pool.take(lambda: time.monotonic() > late) is None

    engine.pool.use(engine._new_clients())

    member = engine.pool.take(lambda: False)
    assert member is not None
    engine.pool.failed(hangs, "Too late.")
    assert (member.in_flight, member.failures) == (1, 0)


def test_what_somebody_waits_for_goes_before_everything_that_waits_for_its_turn(make_server: MakeServer) -> None:
    engine = an_engine(make_server(), concurrency=1)
    engine.pool.look()
    busy = engine.pool.take(lambda: False)
    assert busy is not None
    order: list[str] = []

    def enter(name: str) -> None:
        if member := engine.pool.take(lambda: False, urgent=name == "trial"):
            order.append(name)
            engine.pool.succeeded(member)

    threads = [threading.Thread(target=enter, args=(name,)) for name in ("job", "job", "job", "trial")]
    for number, thread in enumerate(threads, start=2):
        thread.start()
        while busy.in_flight < number:
            time.sleep(0.01)
    engine.pool.succeeded(busy)
    for thread in threads:
        thread.join(5)

    assert order == ["trial", "job", "job", "job"]


@pytest.mark.parametrize(
    ("kind", "refused", "sent"), [("vllm", set(), 1), ("vllm", {"priority"}, None), ("llama.cpp", set(), None)]
)
def test_jobs_are_sent_behind_what_somebody_waits_for_where_the_server_takes_a_priority(
    make_server: MakeServer, kind: str, refused: set[str], sent: int | None
) -> None:
    server = make_server(kind=kind)
    server.not_taken = refused
    job = an_engine(server)
    trial = copy(job)
    trial.urgent = True

    ask(job, 1)
    ask(trial, 2)

    assert [body.get("priority") for body in server.asked] == [sent, None]
