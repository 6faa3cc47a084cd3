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
from stats.measures.words import WHITESPACE

Makes = Literal[
    "request", "sub_question", "key_point", "own_point", "nugget", "passage", "report", "key_fact", "sentence",
    "topic_attribute", "question",
]  # fmt: skip
Needs = Literal["request", "summary", "documents", "category"]

NEEDS: Mapping[Needs, str] = {
    "request": "topics with a request",
    "summary": "a run of reports, one a topic: the human summaries",
    "documents": "a run that ranks passages whose texts are here",
    "category": "topics with the attribute category",
}
MAKES: Mapping[Makes, tuple[str, str]] = {
    "request": ("request", "requests"),
    "sub_question": ("sub-question", "sub-questions"),
    "key_point": ("key point", "key points"),
    "own_point": ("key point of an answer", "key points of answers"),
    "nugget": ("nugget", "nuggets"),
    "passage": ("passage", "passages"),
    "report": ("report", "reports"),
    "key_fact": ("key fact", "key facts"),
    "sentence": ("sentence", "sentences"),
    "topic_attribute": ("attribute of a topic", "attributes of topics"),
    "question": ("question", "questions"),
}
# What a call is about: a document, a round, an attempt.
Key = Mapping[str, Any]
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
    """What a pipeline reads of a topic.

    `words` counts those of the passages that set its length, if any do; `over` are the passages, by rank, that were
    left out because the context would have had more tokens than it may.
    """

    pk: int
    topic_id: str
    request: str
    summary: str = ""
    documents: tuple[Document, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    words: int | None = None
    over: tuple[Document, ...] = ()

    def document(self, docno: str) -> Document | None:
        return next((one for one in self.documents if one.docno == docno), None)


@dataclass(frozen=True)
class Done:
    """A call of this step that has its reply."""

    key: Key
    rows: tuple[Row, ...]
    faults: tuple[str, ...]
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Options:
    """What a pipeline may be told. `tokenizer` counts reports and contexts; a context of 0 tokens has no limit."""

    count: int = 10
    reply_tokens: int = 1024
    temperature: float | None = None
    top_p: float | None = None
    piece_words: int = 512
    rounds: int = 3
    keep_at: float = 0.7
    words: int = 400
    words_of: str = ""
    tokenizer: str = WHITESPACE.name
    context_tokens: int = 0
    most_citations: int = 3
    examples: str = "0"
    facts: int = 10
    domains: Sequence[str] = ()
    per_cell: int = 7
    barren: int = 3


@dataclass(frozen=True)
class View:
    """All that a step may look at for one topic.

    `before` are the rows of the step before that count, in order; `earlier` that step’s finished calls, for a step that
    asks for them. One that reads the whole build sees the attributes of all its topics (`everywhere`) and the step’s
    finished calls about each (`done_everywhere`), by primary key, and what was `filled` before the build.
    """

    topic: TopicInputs
    options: Options
    done: tuple[Done, ...] = ()
    before: tuple[Row, ...] = ()
    earlier: tuple[Done, ...] = ()
    everywhere: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    done_everywhere: Mapping[int, tuple[Done, ...]] = field(default_factory=dict)
    filled: Mapping[str, int] = field(default_factory=dict)

    def of(self, **key: Any) -> Done | None:
        """Return the finished call about exactly this."""
        return next((one for one in self.done if one.key == key), None)


@dataclass(frozen=True)
class Ask:
    """A call that a step wants: what it is about, and what is filled into which of the step’s prompts.

    What is `given` needs no model: it stands there as if it had been replied. `form` makes the grammar of the replies
    that the shipped prompt asks for (`judging.building.replies.grammars`); empty: this one is bound to none.
    """

    key: Key
    values: Mapping[str, str]
    prompt: str = ""
    given: Parsed | None = None
    form: Callable[[], str] | None = None


@dataclass(frozen=True)
class Slot:
    """A place for a prompt: the shipped one that stands there, and what the step can fill into any."""

    label: str
    prompt_name: str
    placeholders: frozenset[str]

    def prompt(self) -> StepPrompt:
        return shipped_prompt(self.prompt_name)

    def check(self, prompt: StepPrompt) -> None:
        """Raise BadPrompt if the prompt names what the step cannot fill here."""
        if unknown := sorted(prompt.placeholders - self.placeholders - {"mark"}):
            known = ", ".join(f"{{{name}}}" for name in sorted(self.placeholders | {"mark"}))
            raise BadPrompt(f"“{prompt.name}” has a placeholder {{{unknown[0]}}}; “{self.label}” fills {known}.")
        if not prompt.placeholders & self.placeholders:
            raise BadPrompt(f"“{prompt.name}” has no placeholder: the model would see nothing of the topic.")


@dataclass(frozen=True)
class Step:
    """One step. `wants` returns the calls that can be made now, `reads` what a reply holds; `keeps` whether a call's
    rows become products: not those of an attempt that is made again, or of a round that another follows. A step with
    `choices` wants one of these in reply, with its log-probabilities, which `with_probabilities` writes under it.

    A step that asks several kinds of things has `others` beside its first prompt, by their kind; one without
    `prompt_name` asks nobody. `most_calls` bounds its calls, by kind where there are several; `expects` is what it is
    likely to ask, where its first calls do not show how long its prompts are.
    """

    name: str
    label: str
    needs: tuple[Needs, ...]
    makes: Makes
    prompt_name: str
    placeholders: frozenset[str]
    wants: Callable[[View], list[Ask]]
    reads: Callable[[str, Key, View], Parsed]
    keeps: Callable[[Key, Parsed, View], bool] = lambda *_: True
    most_calls: Callable[[View], int | Mapping[str, int]] = lambda _: 1
    temperature: float = 0.0
    top_p: float = 1.0
    stop: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None
    choices: tuple[str, ...] = ()
    others: Mapping[str, Slot] = field(default_factory=dict)
    reads_calls: bool = False
    reads_build: bool = False
    expects: Callable[[View], list[Ask]] | None = None

    @property
    def slots(self) -> dict[str, Slot]:
        """The step’s prompts by what they are replaced by: STEP, and STEP/KIND for each other kind."""
        if not self.prompt_name:
            return {}
        first = {self.name: Slot(self.label, self.prompt_name, self.placeholders)}
        return first | {self.slot(kind): slot for kind, slot in self.others.items()}

    def slot(self, kind: str) -> str:
        """Return the name of the prompt for this kind of call."""
        return f"{self.name}/{kind}" if kind else self.name

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
    """Steps, the first one first. What the last one makes is what is added to the collection.

    `asks` names the options that it has besides what all have; `words` says its needs in other words.
    """

    name: str
    title: str
    source: str
    steps: tuple[Step, ...]
    defaults: Options = field(default_factory=Options)
    asks: tuple[str, ...] = ()
    words: Mapping[Needs, str] = field(default_factory=dict)

    @property
    def makes(self) -> Makes:
        return self.steps[-1].makes

    @property
    def needs(self) -> tuple[Needs, ...]:
        """What all its steps need, each once."""
        return tuple(dict.fromkeys(need for step in self.steps for need in step.needs))

    def need(self, need: Needs) -> str:
        """Say in words what it needs."""
        return self.words.get(need, NEEDS[need])

    @property
    def gathers_facts(self) -> bool:
        """Whether it begins with key facts, whose history can be told."""
        return self.steps[0].makes == "key_fact"

    @property
    def asks_for_a_count(self) -> bool:
        return any("count" in step.placeholders for step in self.steps[:1])

    @property
    def slots(self) -> dict[str, Slot]:
        """All its steps’ prompts, by name."""
        return {name: slot for step in self.steps for name, slot in step.slots.items()}

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
