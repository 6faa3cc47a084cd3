"""How a text is drawn: what each server is sent, and what the embedded model's replies become."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import httpx
import pytest

from judging.engines import GradeRequest, Sampling
from judging.engines.constraints import sampling_parameters
from judging.engines.embedded_text import EmbeddedWriter
from judging.engines.openai import request_body
from judging.engines.server_probe import Abilities, Findings, Server

SCHEMA = {"type": "object"}
REQUEST = GradeRequest(
    1, (), "", "", prompt="Write.", system="You write.", reply_tokens=50,
    sampling=Sampling(0.7, 0.95, 3, ("</q>",), json.dumps(SCHEMA)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("way", "bound"),
    [
        ("structured_outputs", {"structured_outputs": {"json": SCHEMA}}),
        ("guided_choice", {"guided_json": SCHEMA}),
        (
            "response_format",
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
                }
            },
        ),
        ("", {}),
    ],
)
def test_a_server_is_bound_to_the_schema_in_its_own_way(way: Any, bound: dict[str, Any]) -> None:
    abilities = Abilities(
        constraint=way, log_probabilities=20, found=True, renormalised=True, many=True, reports_cache=True
    )
    findings = Findings(Server("vllm", "1", ("m",)), abilities)

    body = request_body([REQUEST], model="m", endpoint="chat", findings=findings, decoding={"temperature": 0})

    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "You write."}, {"role": "user", "content": "Write."}],
        "temperature": 0.7, "top_p": 0.95, "seed": 3, "stop": ["</q>"], "max_tokens": 50, **bound,
    }  # fmt: skip


GRAMMAR = 'root ::= "<q>"'


@pytest.mark.parametrize(
    ("way", "bound"),
    [
        ("structured_outputs", {"structured_outputs": {"grammar": GRAMMAR}}),
        ("guided_choice", {"guided_grammar": GRAMMAR}),
        ("grammar", {"grammar": GRAMMAR}),
        ("", {}),
    ],
)
def test_a_server_that_takes_grammars_is_bound_to_the_grammar(way: Any, bound: dict[str, Any]) -> None:
    both = replace(REQUEST, sampling=replace(REQUEST.sampling, grammar=GRAMMAR))  # type: ignore[type-var]
    abilities = Abilities(constraint=way)

    body = request_body(
        [both], model="m", endpoint="chat", findings=Findings(Server("other", "", ("m",)), abilities), decoding={}
    )

    binding = {"structured_outputs", "guided_choice", "guided_grammar", "guided_json", "grammar", "response_format"}
    assert {name: value for name, value in body.items() if name in binding} == bound


def test_a_server_that_takes_no_grammar_is_bound_to_the_schema() -> None:
    assert sampling_parameters(Sampling(schema=json.dumps(SCHEMA), grammar=GRAMMAR), "response_format") == {
        "temperature": 0.0, "top_p": 1.0,
        "response_format": {
            "type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
        },
    }  # fmt: skip
    assert "response_format" not in sampling_parameters(Sampling(grammar=GRAMMAR), "response_format")


def test_the_embedded_model_is_bound_to_the_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judging.engines.embedded_text.version", lambda _: "1")
    server = FakeServer(200, HELLO)
    both = replace(REQUEST, sampling=replace(REQUEST.sampling, grammar=GRAMMAR))  # type: ignore[type-var]

    list(EmbeddedWriter(server=server).grade([both], stopping=lambda: False))  # type: ignore[arg-type]

    assert server.sent[0]["grammar"] == GRAMMAR
    assert "response_format" not in server.sent[0]


def test_a_choice_is_asked_for_with_its_probabilities() -> None:
    choice = replace(REQUEST, choices=("YES", "NO"), reply_tokens=None, sampling=Sampling(seed=3))
    others = [{"token": "YES", "logprob": -0.1}, {"token": "NO", "logprob": -2.4}]
    said = {"message": {"content": "YES"}, "logprobs": {"content": [{**others[0], "top_logprobs": others}]}}
    server = FakeServer(200, {"choices": [said]})

    ((_, reply),) = EmbeddedWriter(server=server).grade([choice], stopping=lambda: False)  # type: ignore[arg-type]

    assert reply.log_probabilities == pytest.approx({"YES": -0.1, "NO": -2.4})
    assert (server.sent[0]["grammar"], server.sent[0]["top_logprobs"]) == ('root ::= "YES" | "NO"', 200)


HELLO = {
    "choices": [{"message": {"content": "Hello"}, "finish_reason": "length"}],
    "usage": {"prompt_tokens": 4, "completion_tokens": 2},
}


class FakeServer:
    """Answers as the embedded server would."""

    def __init__(self, status: int, said: Any) -> None:
        self.sent: list[dict[str, Any]] = []
        self.answer = status, said

    def client(self) -> httpx.Client:
        def handle(request: httpx.Request) -> httpx.Response:
            self.sent.append(json.loads(request.content))
            return httpx.Response(self.answer[0], json=self.answer[1])

        return httpx.Client(transport=httpx.MockTransport(handle), base_url="http://embedded")

    def reading(self, stopping: Any) -> Any:

        return nullcontext(enter_result=True)


@pytest.mark.parametrize(
    ("status", "said", "text", "ungraded"),
    [
        (200, HELLO, "Hello", ""),
        (400, {"error": {"type": "exceed_context_size_error"}}, "", "too_long"),
        (500, {"error": "?"}, "", "engine_error"),
        (200, {"choices": []}, "", "engine_error"),
    ],
)  # fmt: skip
def test_the_embedded_model_writes_or_says_why_not(
    status: int, said: Any, text: str, ungraded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judging.engines.embedded_text.version", lambda _: "1")
    server = FakeServer(status, said)

    ((_, reply),) = EmbeddedWriter(server=server).grade([REQUEST], stopping=lambda: False)  # type: ignore[arg-type]

    assert (reply.text, reply.ungraded) == (text, ungraded)
    assert server.sent[0]["top_p"] == 0.95
    if text:
        assert (reply.prompt_tokens, reply.completion_tokens, reply.finish_reason) == (4, 2, "length")
