"""Models that think, and servers that refuse parameters: grades are read as of any other, none is lost unseen."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from collection.http import Answer
from judging.engines import EngineUnavailable, GradeRequest, Reply
from judging.engines.dialect import Dialect, refusal_in
from judging.engines.http import Access, client_for
from judging.engines.log_probabilities import Position, choice_log_probabilities
from judging.engines.openai import OpenAIEngine
from judging.engines.server_probe import Findings, examine, identify
from judging.engines.thinking import Thinking, split_message, split_text
from judging.prompts.grade_parsing import read_reply
from tests.judging.scripted_server import MODEL
from tests.judging.thinking_server import THINKS_FOR, THOUGHT, ThinkingServer

DIGITS = ("0", "1")
MakeServer = Callable[..., ThinkingServer]
OFF, ON = {"thinking": "off"}, {"thinking": "on"}


@pytest.fixture
def make_server() -> Iterator[MakeServer]:
    made: list[ThinkingServer] = []

    def make(*args: Any, **settings: Any) -> ThinkingServer:
        made.append(ThinkingServer(*args, **settings))
        return made[-1]

    yield make
    for server in made:
        server.stop()


def found_at(server: ThinkingServer, decoding: dict[str, Any] | None = None) -> Findings:
    with client_for(server.url, timeout=5) as client:
        return examine(client, identify(client, MODEL), model=MODEL, timeout=5, decoding=decoding)


def an_engine(server: ThinkingServer, **decoding: Any) -> OpenAIEngine:
    decoding = {"temperature": 0.0, "seed": 0, **decoding}
    return OpenAIEngine(
        servers=[Access(server.url)],
        model=MODEL,
        decoding=decoding,
        timeout=5,
        attempts=3,
        first_delay=0.01,
        patience=1,
    )


def replies_of(engine: OpenAIEngine, count: int = 4, **settings: Any) -> list[Reply]:
    requests = [GradeRequest(n, DIGITS, "q", "t", prompt="Grade it.", **settings) for n in range(count)]
    return [reply for _, reply in engine.grade(requests, stopping=lambda: False)]


def grades_of(replies: list[Reply]) -> list[int | None]:
    return [read_reply(reply, DIGITS)[0] for reply in replies]


# --- as the server does, off, on ---


@pytest.mark.parametrize("manner", ["parser", "plain", "hosted", "parts"])
@pytest.mark.parametrize("decoding", [{}, ON, OFF, {"thinking": "high"}], ids=str)
def test_each_manner_of_thinking_is_graded(make_server: MakeServer, manner: str, decoding: dict[str, Any]) -> None:
    if decoding == OFF and manner == "parts":
        pytest.skip("this one thinks always")
    server = make_server(manner)

    replies = replies_of(an_engine(server, **decoding))

    assert grades_of(replies) == [1] * 4
    thought = decoding != OFF and not (manner == "plain" and not decoding)
    assert {reply.thinking for reply in replies} == {THOUGHT if thought and manner != "hosted" else ""}
    if manner == "hosted" and thought:
        assert {reply.thinking_tokens for reply in replies} == {THINKS_FOR}


def test_a_plain_server_whose_reply_is_bound_does_not_think_and_is_said_to_think_where_it_is_free(
    make_server: MakeServer,
) -> None:
    abilities = found_at(make_server("plain")).abilities

    assert (abilities.thinks, abilities.thinks_freely) == (False, True)


def test_replies_of_sentences_get_room_where_only_they_are_thought_about(make_server: MakeServer) -> None:
    server = make_server("plain")

    replies = replies_of(an_engine(server), reply_tokens=50)

    assert grades_of(replies) == [1] * 4
    assert {reply.thinking for reply in replies} == {THOUGHT}


def test_what_says_nothing_of_thinking_is_sent_nothing_of_it(make_server: MakeServer) -> None:
    server = make_server(by_default=False)
    replies_of(an_engine(server))

    assert not any({"chat_template_kwargs", "reasoning_effort", "thinking"} & set(body) for body in server.requests)
    assert server.requests[-1]["max_tokens"] < 20


def test_a_switch_that_turns_nothing_off_is_not_believed(make_server: MakeServer) -> None:
    server = make_server(switch="reasoning_effort")

    assert found_at(server, OFF).abilities.switch == {"reasoning_effort": "none"}


@pytest.mark.parametrize("manner", ["plain", "parts"])
def test_a_server_that_thinks_all_the_same_is_refused(make_server: MakeServer, manner: str) -> None:
    server = make_server(manner, switch="none that we know")

    with pytest.raises(EngineUnavailable, match="however it is asked not to"):
        found_at(server, OFF)


def test_a_server_that_does_not_think_is_refused_where_it_shall(make_server: MakeServer) -> None:
    server = make_server(switch="none that we know", by_default=False)

    with pytest.raises(EngineUnavailable, match="however it is asked to"):
        found_at(server, ON)


def test_one_that_thinks_only_when_asked_is_asked(make_server: MakeServer) -> None:
    server = make_server(by_default=False)

    abilities = found_at(server, ON).abilities

    assert abilities.thinks
    assert abilities.switch["chat_template_kwargs"]["enable_thinking"] is True


# --- room, budgets, running out ---


def test_a_budget_is_used_where_it_was_seen_to_be_kept(make_server: MakeServer) -> None:
    kept, ignored = make_server(), make_server()
    kept.keeps_budget = True
    decoding = {**ON, "thinking_tokens": 100}

    assert found_at(kept).abilities.budget == found_at(kept, decoding).abilities.budget == "thinking_token_budget"
    assert found_at(ignored, decoding).abilities.budget == ""
    replies = replies_of(an_engine(kept, **decoding))
    assert grades_of(replies) == [1] * 4
    assert {reply.thinking_tokens for reply in replies} == {100}


def test_a_reply_that_ran_out_while_thinking_is_asked_for_again_with_more_room_and_both_are_paid(
    make_server: MakeServer,
) -> None:
    server = make_server()
    server.thinks_for = 150
    (reply,) = replies_of(an_engine(server, **ON, thinking_tokens=100), 1)

    assert grades_of([reply]) == [1]
    first, second = (body["max_tokens"] for body in server.requests[-2:])
    assert second > first
    assert reply.prompt_tokens == 200
    assert reply.completion_tokens == first + 151


def test_a_model_may_take_its_time_to_think(make_server: MakeServer) -> None:
    server = make_server()
    engine = an_engine(server)
    engine.timeout = 0.2
    answer = server.completion

    def slowly(body: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.5)
        return answer(body, schema)

    engine.state()
    server.completion = slowly  # type: ignore[method-assign]

    assert grades_of(replies_of(engine, 2)) == [1] * 2


@pytest.mark.parametrize("at_once", [1, 4])
def test_one_of_many_prompts_is_asked_again_alone_where_its_reply_ran_out(
    make_server: MakeServer, at_once: int
) -> None:
    server = make_server("plain")
    server.batches = True
    engine = an_engine(server)
    engine.state()
    engine.pace.size = at_once
    server.thinks_for = 3000

    replies = replies_of(engine, reply_tokens=50)

    assert engine.pool.members[0].findings.abilities.many  # type: ignore[union-attr]
    assert grades_of(replies) == [1] * 4
    assert all((reply.completion_tokens or 0) > server.thinks_for for reply in replies)


@pytest.mark.parametrize("decoding", [{}, ON], ids=str)
def test_a_thought_without_marks_that_was_cut_off_is_not_the_grade(
    make_server: MakeServer, decoding: dict[str, Any]
) -> None:
    server = make_server("opened")
    engine = an_engine(server, **decoding)
    engine.state()
    server.thinks_for = 10**6

    (reply,) = replies_of(engine, 1, reply_tokens=50)

    assert (reply.ungraded, reply.text) == ("cut_off", "")
    assert THOUGHT in reply.thinking
    assert server.requests[-1]["max_tokens"] > server.requests[-2]["max_tokens"]


def test_a_server_whose_template_begins_the_thinking_is_not_believed_to_be_off(make_server: MakeServer) -> None:
    with pytest.raises(EngineUnavailable, match="however it is asked not to"):
        found_at(make_server("opened", switch="none that we know"), OFF)


def test_a_first_attempt_is_paid_where_the_second_is_refused(make_server: MakeServer) -> None:
    server = make_server()
    engine = an_engine(server, **ON)
    engine.state()
    server.thinks_for = 10**6
    answer = server.completion

    def once(body: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
        server.refuses = {"max_tokens": "This model's maximum context length is 4096 tokens."}
        return answer(body, schema)

    server.completion = once  # type: ignore[method-assign]
    (reply,) = replies_of(engine, 1)

    assert reply.ungraded == "cut_off"
    assert (reply.completion_tokens or 0) > 2000


def test_an_odd_answer_to_the_probe_holds_no_job_up(make_server: MakeServer) -> None:
    server = make_server("parts")
    server.message = lambda text, **_: {"content": [{"type": "text"}]}  # type: ignore[method-assign]
    engine = an_engine(server)

    engine.state()

    assert not engine.pool.members[0].looking


def test_what_the_probe_raises_leaves_the_server_to_be_looked_at_again(
    make_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = an_engine(make_server())
    monkeypatch.setattr("judging.engines.pool.examine", lambda *_, **__: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        engine.pool.look()

    assert not engine.pool.members[0].looking


def test_thinking_that_never_ends_is_cut_off_and_never_a_grade(make_server: MakeServer) -> None:
    server = make_server("loops")

    replies = replies_of(an_engine(server), 2)

    assert [(reply.ungraded, reply.text) for reply in replies] == [("cut_off", "")] * 2
    assert all("thinking" in reply.error for reply in replies)
    assert all(reply.completion_tokens and reply.completion_tokens > 4096 for reply in replies)


def test_tokens_of_replies_equal_what_the_server_counted(make_server: MakeServer) -> None:
    server = make_server()
    engine = an_engine(server)
    engine.state()
    before = server.spent

    replies = replies_of(engine, 20)

    assert sum(reply.completion_tokens or 0 for reply in replies) == server.spent - before


def test_room_is_at_most_half_of_the_context() -> None:
    thinking = Thinking.of({})

    assert thinking.room(thinks=True, context_length=2048) == 1024
    assert thinking.room(thinks=True, context_length=None) == 4096
    assert thinking.room(thinks=False, context_length=None) == 0
    assert Thinking.of({**ON, "thinking_tokens": 300}).room(thinks=False, context_length=None) == 300
    assert Thinking.of(OFF).room(thinks=True, context_length=None) == 0


# --- what stands where ---


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"content": "1", "reasoning": "Hm."}, ("Hm.", "1")),
        ({"content": "1", "reasoning_content": "Hm.", "reasoning": None}, ("Hm.", "1")),
        ({"content": None, "reasoning": "Hm."}, ("Hm.", "")),
        ({"content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "1"}]}, ("Hm.", "1")),
        ({"content": "<think>Is it 0? No.</think>\n\n1"}, ("Is it 0? No.", "1")),
        ({"content": "Is it 0? No.\n</think>\n1"}, ("Is it 0? No.", "1")),
        ({"content": "[THINK]0?[/THINK]1"}, ("0?", "1")),
        ({"content": "<think>It is 1, or is it"}, ("It is 1, or is it", "")),
        ({"content": "<think>\n\n</think>\n\n1"}, ("", "1")),
        ({"content": "1"}, ("", "1")),
        ({}, ("", "")),
    ],
)
def test_thinking_is_kept_apart(message: dict[str, Any], said: tuple[str, str]) -> None:
    assert split_message(message) == said


def test_content_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError):
        split_message({"content": 3})


def test_a_reply_that_speaks_of_no_mark_stays_as_it_is() -> None:
    assert split_text("2\nI think so.") == ("", "2\nI think so.")


def test_a_whole_reply_that_was_filed_as_thinking_counts_where_the_model_does_not_think(
    make_server: MakeServer,
) -> None:
    for decoding in ({}, OFF):
        server = make_server(by_default=False)
        server.message = lambda text, **_: {"content": None, "reasoning": text}  # type: ignore[method-assign]

        (reply,) = replies_of(an_engine(server, **decoding), 1)

        assert grades_of([reply]) == [1]
        assert (reply.text, reply.thinking) == ("1", "")


# --- hosted servers ---


def test_what_a_hosted_server_refuses_is_renamed_or_left_out_and_its_own_sentence_is_kept(
    make_server: MakeServer,
) -> None:
    server = make_server("hosted")

    abilities = found_at(server, {"seed": 0}).abilities

    assert abilities.dialect.cap == "max_completion_tokens"
    assert set(abilities.dialect.dropped) == {"temperature", "seed"}
    assert any("Use 'max_completion_tokens' instead" in sentence for sentence in abilities.dialect.sentences)
    assert abilities.constraint == "json_object"


def test_what_was_really_sent_is_kept_with_each_reply(make_server: MakeServer) -> None:
    (reply,) = replies_of(an_engine(make_server("hosted")), 1)

    assert reply.sent is not None
    assert {"max_tokens", "temperature", "seed", "messages"} & set(reply.sent) == set()
    assert reply.sent["max_completion_tokens"] > THINKS_FOR


def test_a_parameter_that_is_refused_later_is_left_out_from_then_on(make_server: MakeServer) -> None:
    server = make_server()
    engine = an_engine(server)
    engine.state()
    server.refuses = {"seed": "Unknown parameter: 'seed'."}

    replies = replies_of(engine, 30)

    assert grades_of(replies) == [1] * 30
    assert sum("seed" in body for body in server.requests[-30:]) < 30
    assert "seed" not in server.requests[-1]


def test_a_server_that_refuses_everything_is_quoted(make_server: MakeServer) -> None:
    server = make_server()
    server.refuses = {"messages": "This key may not use the model."}

    with pytest.raises(EngineUnavailable, match="This key may not use the model"):
        found_at(server)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"error": {"message": "Bad.", "param": "seed"}}, "seed"),
        ([{"error": {"code": 400, "message": 'Unknown name "seed": Cannot find field.'}}], "seed"),
        ({"object": "error", "message": "max_tokens is not supported", "code": 400}, "max_tokens"),
        ({"error": {"message": "max_tokens=5000 cannot be greater than max_model_len=1024."}}, "max_tokens"),
        ({"error": "temperature must be 1"}, "temperature"),
        ({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}, "seed"),
        ({"error": {"message": "The messages are odd.", "param": None}}, ""),
        ({"error": {"message": "This model's maximum context length is 4096 tokens, max_tokens is 5000."}}, ""),
        ("Not JSON at all", ""),
        ({"error": {"message": ["odd"], "param": ["odd"]}}, ""),
    ],
)
def test_the_parameter_that_a_refusal_names(body: Any, name: str) -> None:
    sent = {"model": "m", "messages": [], "seed": 0, "temperature": 0, "max_tokens": 9}
    content = body.encode() if isinstance(body, str) else json.dumps(body).encode()

    sentence, found = refusal_in(Answer(400, content), sent)

    assert found == name
    assert sentence


def test_nobody_is_adapted_to_twice() -> None:
    refused = Answer(400, b'{"error": {"message": "Not supported: max_tokens.", "param": "max_tokens"}}')
    once = Dialect().adapted(refused, {"max_tokens": 1})

    assert once is not None
    assert once.adapted(refused, {"max_tokens": 1}) == once
    assert once.adapted(refused, {"max_completion_tokens": 1}) is None
    too_many = Answer(400, b'{"error": {"message": "max_tokens=9 cannot be greater than 8", "param": "max_tokens"}}')
    assert Dialect().adapted(too_many, {"max_tokens": 9}) is None


def test_a_grade_in_an_object_has_its_log_probabilities() -> None:
    likely = Position("1", (("1", -0.1), ("0", -2.4)))
    reply = [Position(token, ((token, 0.0),)) for token in ('{"', "grade", '": "')]

    found = choice_log_probabilities(DIGITS, [*reply, likely, Position('"}', (('"}', 0.0),))], quoted=True)

    assert found == pytest.approx({"1": -0.1, "0": -2.4})


def test_findings_of_thinking_are_remembered_as_they_were(make_server: MakeServer) -> None:
    found = found_at(make_server("hosted"), OFF)

    assert Findings.from_dict(json.loads(json.dumps(found.as_dict()))) == found
    assert found.abilities == replace(found.abilities)
