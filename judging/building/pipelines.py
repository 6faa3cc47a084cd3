"""What a pipeline is: steps that say what they need and what they make. Pure: it knows texts and replies, no tables.

A step is asked again and again which calls it wants of a topic, given what came of those before. What it wants and is
not there is missing; so a chain of calls, a second attempt and a plain list are all the same to the worker.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

from judging.building.prompt_files import BadPrompt, StepPrompt, shipped_prompt
from judging.building.reply_parsing import Parsed, Row
from judging.engines import Sampling

Makes = Literal["sub_question", "key_point", "nugget", "passage"]
Needs = Literal["request", "summary", "documents"]

NEEDS: Mapping[Needs, str] = {
    "request": "topics with a request",
    "summary": "a run of reports, one a topic: the human summaries",
    "documents": "a run that ranks passages whose texts are here",
}
MAKES: Mapping[Makes, tuple[str, str]] = {
    "sub_question": ("sub-question", "sub-questions"),
    "key_point": ("key point", "key points"),
    "nugget": ("nugget", "nuggets"),
    "passage": ("passage", "passages"),
}
# JSON that a server may be bound to.
TEXTS_SCHEMA = {"type": "array", "items": {"type": "string"}}


@dataclass(frozen=True)
class Document:
    """One text that a topic's products are made from."""

    docno: str
    text: str
    title: str = ""


@dataclass(frozen=True)
class TopicInputs:
    """What a pipeline reads of a topic."""

    pk: int
    topic_id: str
    request: str
    summary: str = ""
    documents: tuple[Document, ...] = ()

    def document(self, docno: str) -> Document | None:
        return next((one for one in self.documents if one.docno == docno), None)


@dataclass(frozen=True)
class Done:
    """A call of this step that has its reply."""

    key: Mapping[str, Any]
    rows: tuple[Row, ...]
    faults: tuple[str, ...]
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Options:
    """What a pipeline may be told."""

    count: int = 10
    reply_tokens: int = 1024
    temperature: float | None = None
    top_p: float | None = None
    piece_words: int = 512


@dataclass(frozen=True)
class View:
    """All that a step may look at for one topic. `before` are the rows of the step before that count, in order."""

    topic: TopicInputs
    options: Options
    done: tuple[Done, ...] = ()
    before: tuple[Row, ...] = ()

    def of(self, **key: Any) -> Done | None:
        """Return the finished call about exactly this."""
        return next((one for one in self.done if one.key == key), None)


@dataclass(frozen=True)
class Ask:
    """A call that a step wants: what it is about, what is filled into its prompt, how long the reply may be."""

    key: Mapping[str, Any]
    values: Mapping[str, str]


@dataclass(frozen=True)
class Step:
    """One step. `wants` returns the calls that can be made now, `reads` what a reply holds; `keeps` whether a call's
    rows become products: not those of an attempt that is made again, or of a round that another follows.
    """

    name: str
    label: str
    needs: tuple[Needs, ...]
    makes: Makes
    prompt_name: str
    placeholders: frozenset[str]
    wants: Callable[[View], list[Ask]]
    reads: Callable[[str, Mapping[str, Any], View], Parsed]
    keeps: Callable[[Mapping[str, Any], Parsed, View], bool] = lambda *_: True
    most_calls: Callable[[View], int] = lambda _: 1
    temperature: float = 0.0
    top_p: float = 1.0
    stop: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None

    def prompt(self) -> StepPrompt:
        return shipped_prompt(self.prompt_name)

    def check(self, prompt: StepPrompt) -> None:
        """Raise BadPrompt if the prompt names what this step cannot fill."""
        if unknown := sorted(prompt.placeholders - self.placeholders - {"mark"}):
            known = ", ".join(f"{{{name}}}" for name in sorted(self.placeholders | {"mark"}))
            raise BadPrompt(
                f"“{prompt.name}” has a placeholder {{{unknown[0]}}}; the step “{self.name}” fills {known}."
            )
        if not prompt.placeholders & self.placeholders:
            raise BadPrompt(f"“{prompt.name}” has no placeholder: the model would see nothing of the topic.")

    def sampling(self, options: Options, *, seed: int) -> Sampling:
        return Sampling(
            temperature=self.temperature if options.temperature is None else options.temperature,
            top_p=self.top_p if options.top_p is None else options.top_p,
            seed=seed,
            stop=self.stop,
            schema=json.dumps(self.schema, sort_keys=True) if self.schema else "",
        )


@dataclass(frozen=True)
class Pipeline:
    """Steps, the first one first. What the last one makes is what is added to the collection."""

    name: str
    title: str
    source: str
    steps: tuple[Step, ...]
    defaults: Options = field(default_factory=Options)

    @property
    def makes(self) -> Makes:
        return self.steps[-1].makes

    @property
    def needs(self) -> tuple[Needs, ...]:
        """What all its steps need, each once."""
        return tuple(dict.fromkeys(need for step in self.steps for need in step.needs))

    @property
    def asks_for_a_count(self) -> bool:
        return any("count" in step.placeholders for step in self.steps[:1])

    def step(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)


def mark_of(values: Mapping[str, str]) -> str:
    """Return a code that stands in none of the texts, the same for the same texts."""
    together = "\x00".join(values.values())
    number = 0
    while (code := sha256(f"{number}{together}".encode("utf-8", "surrogatepass")).hexdigest()[:10]) in together:
        number += 1
    return code


def object_of(name: str, items: Mapping[str, Any] = TEXTS_SCHEMA) -> dict[str, Any]:
    """Return the JSON schema of an object with this one list."""
    return {"type": "object", "properties": {name: dict(items)}, "required": [name], "additionalProperties": False}


def numbered(rows: Sequence[Row]) -> str:
    """Write the rows as a numbered list."""
    return "\n".join(f"{number}. {row.text}" for number, row in enumerate(rows, start=1))


def pieces_of(text: str, words: int) -> list[str]:
    """Cut a text longer than 1,024 words, and only such a one, into pieces of so many (CRUX's code: by white space)."""
    found = text.split()
    if len(found) <= 2 * words:
        return [text]
    return [" ".join(found[start : start + words]) for start in range(0, len(found), words)]
