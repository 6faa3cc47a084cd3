"""From a server's answer to replies. Whatever is odd about an answer is an engine error, never a grade."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collection.http import Answer, storable
from collection.models import Judgment
from judging.engines import GradeRequest, Reply
from judging.engines.answers import cached_tokens, count_of, thinking_tokens
from judging.engines.constraints import IN_JSON, unwrapped
from judging.engines.dialect import TOO_LONG_MARKS, sentence_of
from judging.engines.log_probabilities import choice_log_probabilities, positions_of
from judging.engines.server_probe import Findings
from judging.engines.thinking import split_message

ANOTHER_NAME = "Gateways rename models: if this one is meant, make a trial run, after which its name is accepted."


class NotOneReplyEach(Exception):
    """The answer to many prompts does not hold exactly one reply for each."""


@dataclass(frozen=True)
class Question:
    """What a reader of an answer must know of its question."""

    model: str
    findings: Findings
    seconds: float
    sent: Mapping[str, Any] | None = None
    # The names, other than the model’s own, under which it may reply; None for any.
    other_names: Collection[str] | None = ()

    def accepts(self, name: str) -> bool:
        """Whether a reply under this name is the model's: hosted ones often add a date to theirs."""
        known = name == self.model or name.startswith(f"{self.model}-")
        return known or self.other_names is None or name in self.other_names

    @property
    def identity(self) -> str:
        """Server and model, as they are kept with the completion."""
        return storable(f"{self.findings.server.identity}, {self.model}"[:300])

    def ungraded(self, kind: str, error: str, *, text: str = "") -> Reply:
        """Return a reply that can never be a grade."""
        return Reply(
            text=storable(text),
            ungraded=kind,
            error=storable(error),
            seconds=self.seconds,
            identity=self.identity,
            sent=self.sent,
        )

    def engine_error(self, error: str, *, text: str = "") -> Reply:
        """Return the reply that a failure of the server is."""
        return self.ungraded(Judgment.Ungraded.ENGINE_ERROR, error, text=text)


def read_answer(answer: Answer, requests: Sequence[GradeRequest], asked: Question) -> list[Reply]:
    """Return one reply for each request. Raises NotOneReplyEach where many were asked and they cannot be told apart."""
    if answer.status != 200:
        if len(requests) > 1:
            raise NotOneReplyEach
        return [_refused_request(answer, asked)]
    try:
        said = json.loads(answer.content)
        choices = said["choices"]
        answered_by = str(said.get("model") or asked.model)
        rows = [_only(choices)] if len(requests) == 1 else _in_order(choices, len(requests))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        if len(requests) > 1:
            raise NotOneReplyEach from error
        return [_odd(answer, asked, error)]
    usage = _shared_out(said, len(requests))
    return [
        _read_choice(row, request, asked, answer, answered_by=answered_by, usage=usage[number])
        for number, (row, request) in enumerate(zip(rows, requests, strict=True))
    ]


def _refused_request(answer: Answer, asked: Question) -> Reply:
    if answer.status in {400, 413, 422} and any(mark in answer.text for mark in TOO_LONG_MARKS):
        return asked.ungraded(Judgment.Ungraded.TOO_LONG, answer.excerpt)
    return asked.engine_error(f"The server answered {answer.status}: {sentence_of(answer)}")


def _odd(answer: Answer, asked: Question, error: Exception) -> Reply:
    return asked.engine_error(f"The reply is not a completion ({type(error).__name__}): {answer.excerpt}")


def _only(choices: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the one choice that an answer to one prompt has. Raises ValueError where several come."""
    (choice,) = choices
    index = choice.get("index", 0)
    if isinstance(index, bool) or index not in {0, None}:
        raise ValueError(f"the choice has the index {index!r}")
    return choice


def _in_order(choices: Sequence[Mapping[str, Any]], count: int) -> list[Mapping[str, Any]]:
    by_index = {choice["index"]: choice for choice in choices}
    if len(choices) != count or set(by_index) != set(range(count)):
        raise NotOneReplyEach
    return [by_index[number] for number in range(count)]


def _read_choice(
    choice: Mapping[str, Any],
    request: GradeRequest,
    asked: Question,
    answer: Answer,
    *,
    answered_by: str,
    usage: Mapping[str, int | None],
) -> Reply:
    try:
        message = choice["message"] if "message" in choice else {"content": choice["text"]}
        thought, text = split_message(message)
    except (KeyError, TypeError, AttributeError) as error:
        return _odd(answer, asked, error)
    if not asked.accepts(answered_by):
        return asked.engine_error(f"“{answered_by}” replied, not “{asked.model}”. {ANOTHER_NAME}", text=text)
    finish_reason = str(choice.get("finish_reason") or "")
    if message.get("refusal") or finish_reason == "content_filter":
        refusal = str(message.get("refusal") or "The server’s content filter stopped it.")
        return asked.ungraded(Judgment.Ungraded.REFUSED, refusal, text=text)
    abilities = asked.findings.abilities
    quoted = request.constrained and abilities.constraint in IN_JSON
    expected = abilities.thinks if request.constrained else abilities.thinks_freely
    if not expected and not text and (not request.constrained or thought.strip() in request.choices):
        thought, text = "", thought.strip()  # some parsers file the whole reply of a model that does not think so
    elif expected and not thought and finish_reason == "length" and not usage["thinking_tokens"]:
        thought, text = text, ""  # without its end mark, which it did not come to
    thinks = bool(thought or usage["thinking_tokens"] or abilities.thinks or abilities.thinks_freely)
    ran_out = finish_reason == "length" and not text.strip() and thinks
    return Reply(
        text=storable(unwrapped(text, abilities.constraint) if quoted else text),
        ungraded=Judgment.Ungraded.CUT_OFF if ran_out else "",
        error="The reply ran out of tokens while the model was thinking." if ran_out else "",
        finish_reason=storable(finish_reason[:30]),
        log_probabilities=None if thought else _of_choices(request, choice, quoted=quoted),
        prompt_tokens=usage["prompt_tokens"],
        completion_tokens=usage["completion_tokens"],
        cached_tokens=usage["cached_tokens"],
        seconds=asked.seconds,
        identity=storable(f"{asked.findings.server.identity}, {answered_by}"[:300]),
        thinking=storable(thought),
        thinking_tokens=usage["thinking_tokens"],
        ran_out=ran_out,
        sent=asked.sent,
        answered_as="" if answered_by == asked.model else storable(answered_by[:300]),
    )


def _of_choices(request: GradeRequest, choice: Mapping[str, Any], *, quoted: bool) -> dict[str, float] | None:
    """Return the choices' log-probabilities; none where the reply need not begin with one."""
    if not request.constrained:
        return None
    return choice_log_probabilities(request.choices, positions_of(choice), quoted=quoted)


def _shared_out(said: Mapping[str, Any], count: int) -> list[dict[str, int | None]]:
    """Return each reply's tokens. An answer to many prompts tells their sum only: it is shared out, to the token."""
    told = said.get("usage")
    usage = told if isinstance(told, dict) else {}
    totals = {
        "prompt_tokens": count_of(usage.get("prompt_tokens")),
        "completion_tokens": count_of(usage.get("completion_tokens")),
        "cached_tokens": cached_tokens(said),
        "thinking_tokens": thinking_tokens(said),
    }
    return [
        {name: None if total is None else total // count + (number < total % count) for name, total in totals.items()}
        for number in range(count)
    ]
