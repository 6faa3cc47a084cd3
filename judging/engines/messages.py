"""A grade request in the words and with the room that a language model gets."""

from __future__ import annotations

import json
from collections.abc import Sequence

from judging.engines import GradeRequest


def conversation(request: GradeRequest) -> list[dict[str, str]]:
    """Return the messages of a chat."""
    system = [{"role": "system", "content": request.system}] if request.system else []
    return [*system, {"role": "user", "content": request.prompt}]


def completion_prompt(request: GradeRequest) -> str:
    """Return the plain text that a model without a chat template goes on with."""
    return "\n\n".join(filter(None, (request.system, request.prompt)))


def room_for(choices: Sequence[str], *, named: bool = False) -> int:
    """Return tokens enough for the longest choice, written as JSON too: a token holds at least one byte.

    A few more show what else was said. `named`: it stands in an object, behind a name.
    """
    return max(len(json.dumps(choice)) for choice in choices) + (24 if named else 8)
