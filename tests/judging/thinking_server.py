"""A server whose model thinks before it replies, in the manner of one of those that are in use."""

from __future__ import annotations

import json
from typing import Any

from judging.engines.constraints import NAME
from judging.engines.server_probe import PROVOKING
from tests.judging.scripted_server import MODEL, Raw, ScriptedServer, prompts_of

THOUGHT = "The text names the answer outright."
# Tokens that a thought takes; a reply takes as many as it has letters.
THINKS_FOR = 400


class ThinkingServer(ScriptedServer):
    """Thinks for so many tokens, unless it is asked not to.

    `manner`: “parser” is vLLM's with a reasoning parser, “plain” the same without one, whose constraint binds from the
    first token on; “hosted” keeps the thinking to itself and refuses what hosted reasoning models refuse, “parts” puts
    it among the content's parts, “loops” never comes to an end of it. “opened” is a plain one whose template writes the
    beginning mark itself. `batches`: it takes many conversations in one request.
    """

    def __init__(
        self, manner: str = "parser", *, switch: str = "chat_template_kwargs", by_default: bool = True
    ) -> None:
        super().__init__(kind="other" if manner in {"hosted", "parts"} else "vllm")
        self.manner = manner
        self.batches = False
        self.switch = switch
        self.by_default = by_default
        self.thinks_for = THINKS_FOR
        self.keeps_budget = False
        self.answers_as = MODEL
        self.refuses: dict[str, str] = {}
        if manner == "hosted":
            self.refuses = {
                "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                "temperature": "Unsupported value: 'temperature' does not support 0 with this model.",
                "seed": "Unsupported parameter: 'seed' is not supported with this model.",
                **dict.fromkeys(("logprobs", "top_logprobs"), "logprobs are not supported with this model."),
                **{
                    name: f"Unrecognized request argument supplied: {name}"
                    for name in ("structured_outputs", "grammar", "guided_choice", "chat_template_kwargs", "thinking")
                },
            }
        self.spent = 0
        self.requests: list[dict[str, Any]] = []

    def answer_to_post(self, body: dict[str, Any], path: str) -> Raw:
        self.requests.append(body)
        if self.batches and path.endswith("/batch"):
            return self.answer_to_many(body)
        if path != "/v1/chat/completions":
            return Raw(status=404, body=b"{}")
        for name, sentence in self.refuses.items():
            if name in body:
                return refusal(sentence, name)
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        if self.manner == "hosted" and schema and schema["type"] != "object":
            return refusal(
                "Invalid schema for response_format: schema must be a JSON Schema of 'type: \"object\"'.", None
            )
        return Raw(body=json.dumps(self.completion(body, schema)).encode())

    def answer_to_many(self, body: dict[str, Any]) -> Raw:
        each = [self.completion({**body, "messages": messages}, {}) for messages in body["messages"]]
        usage = {name: sum(one["usage"][name] for one in each) for name in ("prompt_tokens", "completion_tokens")}
        choices = [{**one["choices"][0], "index": index} for index, one in enumerate(each)]
        return Raw(body=json.dumps({"model": self.answers_as, "choices": choices, "usage": usage}).encode())

    def completion(self, body: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
        cap = body.get("max_tokens") or body["max_completion_tokens"]
        choices = body.get("structured_outputs", {}).get("choice") or _enum(schema)
        asked = prompts_of(body)[0] == PROVOKING
        reply = (choices[0] if choices else "Apple.") if asked else "1"
        if schema and choices:
            reply = json.dumps({NAME: reply})
        thinks = self.thinks(body) and not (choices and self.manner in {"plain", "opened"})
        budget = body.get("thinking_token_budget") if self.keeps_budget else None
        thinking = (
            (min(self.thinks_for, budget or self.thinks_for) if self.manner != "loops" else 10**9) if thinks else 0
        )
        room = max(cap - thinking, 0)
        text = reply[:room]
        took = min(thinking, cap)
        self.spent += took + len(text)
        choice = {
            "index": 0,
            "finish_reason": "stop" if text == reply else "length",
            "message": self.message(text, thought=THOUGHT if thinks else "", ended=thinking <= cap),
        }
        usage: dict[str, Any] = {"prompt_tokens": 100, "completion_tokens": took + len(text)}
        if self.manner in {"parser", "hosted"}:
            usage["completion_tokens_details"] = {"reasoning_tokens": took}
        return {"model": self.answers_as, "choices": [choice], "usage": usage}

    def thinks(self, body: dict[str, Any]) -> bool:
        if "reasoning_effort" in body and self.manner == "hosted":
            return bool(body["reasoning_effort"] != "none")
        asked = body.get(self.switch, {})
        if self.switch == "chat_template_kwargs":
            return bool(asked.get("enable_thinking", self.by_default))
        return self.by_default if self.switch not in body else bool(asked != "none")

    def message(self, text: str, *, thought: str, ended: bool) -> dict[str, Any]:
        if self.manner in {"parser", "loops"}:
            return {"content": text or None, "reasoning": thought or None}
        if self.manner == "parts" and thought:
            parts = [{"type": "thinking", "thinking": [{"type": "text", "text": thought}]}]
            return {"content": parts + ([{"type": "text", "text": text}] if text else [])}
        if self.manner in {"plain", "opened"} and thought:
            begun = thought if self.manner == "opened" else f"<think>{thought}"
            return {"content": f"{begun}\n</think>\n\n{text}" if ended else f"{begun}\n1"}
        return {"content": text}


def refusal(sentence: str, name: str | None) -> Raw:
    error = {"message": sentence, "type": "invalid_request_error", "param": name, "code": "unsupported_parameter"}
    return Raw(status=400, body=json.dumps({"error": error}).encode())


def _enum(schema: dict[str, Any]) -> list[str]:
    where = schema.get("properties", {}).get(NAME, schema)
    return list(where.get("enum", []))
