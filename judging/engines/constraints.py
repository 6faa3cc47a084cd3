"""The ways in which a server is bound to the replies that are allowed, and how its reply is read under each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from judging.engines import Sampling

Endpoint = Literal["chat", "completions"]
Constraint = Literal["structured_outputs", "grammar", "response_format", "json_object", "guided_choice", ""]
# A JSON schema puts the reply in quotes; one whose root must be an object gives it this name too.
IN_JSON = ("response_format", "json_object")
NAME = "grade"

# How those that take a grammar are sent one.
GRAMMARS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "structured_outputs": lambda grammar: {"structured_outputs": {"grammar": grammar}},
    "guided_choice": lambda grammar: {"guided_grammar": grammar},
    "grammar": lambda grammar: {"grammar": grammar},
}


def constraint_parameters(way: Constraint, choices: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that bind a server to the choices in this way."""
    match way:
        case "structured_outputs":
            return {"structured_outputs": {"choice": list(choices)}}
        case "guided_choice":
            return {"guided_choice": list(choices)}
        case "grammar":
            # A JSON string is a literal of llama.cpp's grammar too.
            return {"grammar": "root ::= " + " | ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)}
        case "response_format":
            return _bound_to_schema({"type": "string", "enum": list(choices)})
        case "json_object":
            return _bound_to_schema(
                {
                    "type": "object",
                    "properties": {NAME: {"type": "string", "enum": list(choices)}},
                    "required": [NAME],
                    "additionalProperties": False,
                }
            )
    return {}


def _bound_to_schema(schema: Mapping[str, Any], name: str = NAME) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}}


def sampling_parameters(sampling: Sampling, way: Constraint) -> dict[str, Any]:
    """Return how a text is drawn, bound to its form as the server was seen to be bound to choices.

    That is its grammar where the server takes one, else its schema.
    """
    asked: dict[str, Any] = {"temperature": sampling.temperature, "top_p": sampling.top_p}
    if sampling.seed is not None:
        asked["seed"] = sampling.seed
    if sampling.stop:
        asked["stop"] = list(sampling.stop)
    if sampling.grammar and way in GRAMMARS:
        return asked | GRAMMARS[way](sampling.grammar)
    if not sampling.schema or not way:
        return asked
    schema = json.loads(sampling.schema)
    match way:
        case "structured_outputs":
            return asked | {"structured_outputs": {"json": schema}}
        case "guided_choice":
            return asked | {"guided_json": schema}
    return asked | _bound_to_schema(schema, "reply")


def log_probability_parameters(endpoint: Endpoint, many: int) -> dict[str, Any]:
    """Return the parameters that ask for so many log-probabilities of each token."""
    if not many:
        return {}
    return {"logprobs": True, "top_logprobs": many} if endpoint == "chat" else {"logprobs": many}


def unwrapped(text: str, way: Constraint) -> str:
    """Return the choice without the JSON that a schema puts round it; any other text as it is."""
    if way not in IN_JSON:
        return text.strip()
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
    if way == "json_object" and isinstance(said, dict):
        said = said.get(NAME)
    return said if isinstance(said, str) else text.strip()
