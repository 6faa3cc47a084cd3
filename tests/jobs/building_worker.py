"""A worker of builds with an instant engine, forked ready to work, so that hundreds can be killed in minutes.

    TEST_DATABASE=NAME ASKED=FILE python -m tests.jobs.building_worker

forks for each line `build generation` a process that takes that build's turns, says its number and, when it ended, how.
What the engine is asked is noted in the file: a process and a call a line.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any

from judging.engines import EngineState, GradeRequest, Reply

MATERIAL = re.compile(r"\[begin \w+\]\n(.+?)\n\[end \w+\]", re.DOTALL)
NUMBERED = re.compile(r"^\[?(\d+)[\].]", re.MULTILINE)
# One prompt in so many gets a reply that no step can read.
UNREADABLE = 9


class Instant:
    """Replies at once, to the same prompt the same, in whatever form the prompt asks for; `note` hears of each call."""

    def __init__(self, note: Callable[[int], None] = lambda _: None) -> None:
        self.note = note

    def state(self) -> EngineState:
        return EngineState(available=True)

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        for request in requests:
            if stopping():
                return
            self.note(request.item_id)
            yield request, reply_to(request)


def reply_to(request: GradeRequest) -> Reply:
    """Return a reply in the form that the prompt asks for, as far as that can be seen from the prompt."""
    number = int(sha256(request.prompt.encode()).hexdigest(), 16)
    told: dict[str, Any] = {"finish_reason": "stop", "identity": "instant", "prompt_tokens": 3, "completion_tokens": 2}
    if request.choices:
        chosen = request.choices[number % len(request.choices)]
        shares = {choice: -0.1 if choice == chosen else -2.5 for choice in request.choices}
        return Reply(chosen, log_probabilities=shares, **told)
    return Reply("I cannot." if number % UNREADABLE == 0 else _written(request, number), **told)


def _written(request: GradeRequest, number: int) -> str:
    prompt, many = request.prompt, len(NUMBERED.findall(request.prompt))
    if request.sampling and request.sampling.schema:
        return json.dumps(_valid(json.loads(request.sampling.schema), number, max(many, 2)))
    if "<point_start>" in prompt:
        found = MATERIAL.search(prompt)
        quote = found[1].split(".")[0] if found else ""
        return f"Point 1: <point_start>Point {number % 999}.<point_end><span_start>{quote}<span_end>"
    if "in square brackets, as in [" in prompt:
        return " ".join(f"[Why is it {number % 9999 + n}?]" for n in range(number % 3))
    if "in brackets, as in [" in prompt:
        return f"[{number % 5 + 1}]"
    if tags := sorted(set(re.findall(r"between <(\w+)>", prompt))):
        return "".join(f"<{tag}>Is {number % 9999 + n} so?</{tag}>" for n in range(2) for tag in tags)
    return f"All of it. [{', '.join(str(one + 1) for one in range(many))}]" if many else f"Text {number % 9999}."


def _valid(schema: Any, number: int, many: int) -> Any:
    """Return JSON that the schema allows, with as many items in a list as the prompt numbers."""
    if "enum" in schema:
        return schema["enum"][number % len(schema["enum"])]
    match schema.get("type"):
        case "object":
            return {name: _valid(inner, number, many) for name, inner in schema["properties"].items()}
        case "array":
            least, most = schema.get("minItems", 0), schema.get("maxItems", many)
            return [_valid(schema["items"], number + n, many) for n in range(min(max(many, least), most))]
        case "integer" | "number":
            return number % 3
        case "boolean":
            return number % 2 == 0
    return f"What is {number % 9999}?"


def work(build: int, generation: int, asked: str) -> None:
    """Take the build's turns as the worker does, until none is wanted."""
    from judging import celery_tasks

    file = os.open(asked, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(call: int) -> None:
        os.write(file, f"{os.getpid()} {call}\n".encode())

    setattr(celery_tasks, "writer_for", lambda *_: Instant(note))  # noqa: B010  # a module of another's names
    while celery_tasks.take_one_build_turn(build, generation):
        pass


def serve(asked: str) -> None:
    """Fork a process for each line that comes in."""
    _say("ready")
    for line in sys.stdin:
        build, generation = map(int, line.split())
        if (child := os.fork()) == 0:
            failed = 1
            try:
                work(build, generation, asked)
                failed = 0
            finally:
                os._exit(failed)
        _say(child)
        _say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _say(word: object) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    import django
    from django.conf import settings

    settings.DATABASES["default"]["NAME"] = os.environ["TEST_DATABASE"]
    django.setup()
    serve(os.environ["ASKED"])
