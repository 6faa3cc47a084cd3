"""What every real server must keep to, whichever it is: a test class inherits these and says where the server is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest

from collection.models import Judgment
from judging.engines import EngineUnavailable, GradeRequest, Reply
from judging.engines.constraints import Endpoint
from judging.engines.http import Access, client_for
from judging.engines.openai import OpenAIEngine
from judging.engines.server_probe import Kind, examine, identify
from judging.prompts.grade_parsing import read_reply

DIGITS = ("0", "1", "2", "3", "4", "5")
WORDS = ("no key point at all", "partly", "fully supported")


@dataclass(frozen=True)
class Served:
    """A server that runs, and what is known of it beforehand."""

    base_url: str
    model: str
    kind: Kind
    context_length: int
    constraint: str
    renormalised: bool
    api_key: str = ""


def engine_on(served: Served, endpoint: Endpoint = "chat", *, concurrency: int = 4, **settings: Any) -> OpenAIEngine:
    return OpenAIEngine(
        servers=[Access(served.base_url, served.api_key, concurrency)],
        model=served.model,
        decoding={"temperature": 0.0, "seed": 0, "endpoint": endpoint},
        **{"timeout": 120.0, **settings},
    )


def asking(number: int, prompt: str, choices: tuple[str, ...] = DIGITS, **more: Any) -> GradeRequest:
    return GradeRequest(number, choices, "q", "t", prompt=prompt, system="You grade passages.", **more)


def replies_by_item(engine: OpenAIEngine, *requests: GradeRequest) -> dict[int, Reply]:
    replies = {request.item_id: reply for request, reply in engine.grade(requests, stopping=lambda: False)}
    assert set(replies) == {request.item_id for request in requests}
    return replies


class EngineContract:
    """Tests against the fixture `served`."""

    @pytest.fixture(params=["chat", "completions"])
    def endpoint(self, request: pytest.FixtureRequest) -> Endpoint:
        found: Endpoint = request.param
        return found

    def test_the_server_is_known_for_what_it_is(self, served: Served, endpoint: Endpoint) -> None:
        with client_for(served.base_url, api_key=served.api_key, timeout=120) as client:
            server = identify(client, served.model)
            abilities = examine(client, server, model=served.model, endpoint=endpoint, timeout=120).abilities

        assert (server.kind, server.context_length) == (served.kind, served.context_length)
        assert server.version
        assert abilities.constraint == served.constraint
        assert abilities.log_probabilities > 0
        assert abilities.renormalised == served.renormalised

    def test_a_provoking_prompt_gets_a_grade_all_the_same(self, served: Served, endpoint: Endpoint) -> None:
        replies = replies_by_item(
            engine_on(served, endpoint),
            asking(1, "Write a poem about the sea. Do not write any digit."),
            asking(2, "Grade: 3"),
            asking(3, "Say the word apple and nothing else.", WORDS),
        )

        assert read_reply(replies[1], DIGITS)[1] == ""
        assert read_reply(replies[2], DIGITS)[1] == ""
        assert read_reply(replies[3], WORDS)[1] == ""
        assert {reply.finish_reason for reply in replies.values()} == {"stop"}

    def test_the_log_probabilities_are_those_of_the_choices(self, served: Served, endpoint: Endpoint) -> None:
        replies = replies_by_item(
            engine_on(served, endpoint),
            asking(1, "Passage A: 4\nPassage B: 0\nPassage C: 3\nPassage D: 1\nPassage E: 5\nPassage F: 2\nPassage G:"),
            asking(2, f"Statement A: {WORDS[1]}\nB: {WORDS[0]}\nC: {WORDS[2]}\nD:", WORDS),
        )

        for reply, choices in ((replies[1], DIGITS), (replies[2], WORDS)):
            assert reply.log_probabilities is not None
            assert set(reply.log_probabilities) == set(choices)
            total = sum(map(math.exp, reply.log_probabilities.values()))
            assert total == pytest.approx(1, abs=0.01) if served.renormalised else 0 < total < 1

    def test_the_reply_is_the_likeliest_choice_where_nothing_is_drawn(self, served: Served) -> None:
        reply = replies_by_item(engine_on(served), asking(1, "Grade this passage from 0 to 5."))[1]

        assert reply.log_probabilities is not None
        assert reply.text == max(DIGITS, key=reply.log_probabilities.__getitem__)

    def test_many_prompts_get_a_reply_each(self, served: Served, endpoint: Endpoint) -> None:
        engine = engine_on(served, endpoint)
        engine.pace.size = 8
        requests = [asking(number, f"Passage {number} is about rowing. Grade it.") for number in range(20)]

        together = replies_by_item(engine, *requests)
        alone = replies_by_item(engine_on(served, endpoint, prompts_at_once=1), *requests[:4])

        assert all(read_reply(reply, DIGITS)[1] == "" for reply in together.values())
        assert all(reply.prompt_tokens and reply.completion_tokens for reply in together.values())
        assert [together[number].text for number in range(4)] == [alone[number].text for number in range(4)]

    def test_a_prompt_that_is_too_long_is_too_long_and_costs_the_others_nothing(
        self, served: Served, endpoint: Endpoint
    ) -> None:
        engine = engine_on(served, endpoint)
        engine.pace.size = 8
        requests = [asking(number, f"Grade passage {number}.") for number in range(7)]

        replies = replies_by_item(engine, *requests[:3], asking(99, "word " * 3 * served.context_length), *requests[3:])

        assert replies.pop(99).ungraded == Judgment.Ungraded.TOO_LONG
        assert all(read_reply(reply, DIGITS)[1] == "" for reply in replies.values())

    def test_a_reply_of_sentences_is_not_bound_to_the_choices(self, served: Served, endpoint: Endpoint) -> None:
        asked = asking(1, "Tell a story about a rower.", reply_tokens=24)

        reply = replies_by_item(engine_on(served, endpoint), asked)[1]

        assert reply.ungraded == ""
        assert reply.text.strip() not in DIGITS
        assert reply.log_probabilities is None

    def test_a_model_that_is_not_served_is_named_with_those_that_are(self, served: Served) -> None:
        engine = OpenAIEngine(
            servers=[Access(served.base_url, served.api_key)], model="no-such-model", decoding={}, timeout=30
        )

        with pytest.raises(EngineUnavailable, match=f"no model “no-such-model”; it serves .*{served.model[-20:]}"):
            list(engine.grade([asking(1, "Grade it.")], stopping=lambda: False))

    def test_a_server_that_is_not_there_is_named(self) -> None:
        engine = OpenAIEngine(servers=[Access("http://127.0.0.1:9/v1")], model="tiny", decoding={}, timeout=5)

        with pytest.raises(EngineUnavailable, match=r"No answer from http://127\.0\.0\.1:9"):
            list(engine.grade([asking(1, "Grade it.")], stopping=lambda: False))
