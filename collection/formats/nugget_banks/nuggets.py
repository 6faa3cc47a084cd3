"""What a topic's nuggets are, whatever the form, and which of them an answer supports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import md5
from typing import Any, Literal, get_args

Form = Literal["autonuggetizer", "rag25", "v3", "short", "rubrics"]
FORMS: tuple[Form, ...] = get_args(Form)
TOPIC_IDS = ("qid", "query_id", "topic_id", "request_id", "prompt_id", "sample_id", "id")
IMPORTANCES = ("vital", "okay")
AGGREGATORS = {"AND": "and", "OR": "or", "NOT": "not", "SUM": "sum"}
FAILED = "failed"
ASSIGNMENTS = {"support": 2.0, "partial_support": 1.0, "not_support": 0.0, FAILED: None}
MOST_GROUP = 300
MOST_ID = 200
QUESTION, CLAIM = "sub_question", "nugget"
SCORES = re.compile(r"(strict_)?(vital|all)_score")
AXIS = "axis:"
OURS = "assize:"
Object = dict[str, Any]


@dataclass(frozen=True)
class Reference:
    """`start` and `end` as the file counts them, in its `encoding` (`formats.offsets`)."""

    docno: str
    quote: str = ""
    start: int | None = None
    end: int | None = None
    encoding: str = ""
    quality: Any = None
    creator: Any = None
    attributes: Object = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    text: str
    importance: str = ""
    right: bool = True
    creator: Any = None
    references: tuple[Reference, ...] = ()
    attributes: Object = field(default_factory=dict)


@dataclass(frozen=True)
class Nugget:
    """`kind` is that of its rubric element; `parts` are its sub-nuggets."""

    text: str
    kind: str = CLAIM
    element_id: str = ""
    importance: str = ""
    weight: float | None = None
    aggregator: str = ""
    group: str = ""
    answers: tuple[Answer, ...] = ()
    references: tuple[Reference, ...] = ()
    parts: tuple[Nugget, ...] = ()
    attributes: Object = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The id that its file gives it, or the MD5 of its text, as NuggetBank names it."""
        return self.element_id or md5_of(self.text)

    @property
    def is_plain(self) -> bool:
        """Whether it is no more than its text."""
        return not (self.answers or self.references or self.aggregator)


@dataclass(frozen=True)
class BankTopic:
    """An object: the nuggets of one topic. `topic_id` is empty in the short form, which does not name its topic.

    `attributes` is what the object says besides; `request` and `title` are what it says of the topic.
    """

    topic_id: str
    form: Form
    nuggets: tuple[Nugget, ...]
    request: str = ""
    title: str = ""
    attributes: Object = field(default_factory=dict)


@dataclass(frozen=True)
class AssignedAnswer:
    """An object of AutoNuggetizer's assign step: which nuggets one run's answer supports.

    `grades` has one for each nugget, None where the judge failed.
    """

    topic: BankTopic
    run: str
    answer: str
    grades: tuple[float | None, ...]
    attributes: Object = field(default_factory=dict)


def md5_of(text: str) -> str:
    """Return the MD5 of a text, in hexadecimal: a name, no secret."""
    return md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def parts_of(nuggets: Sequence[Nugget]) -> Iterator[tuple[Nugget, int | None]]:
    """Yield every nugget, a parent before its parts, with the place of its parent among those yielded."""
    waiting: list[tuple[Nugget, int | None]] = [(nugget, None) for nugget in nuggets]
    place = 0
    while waiting:
        nugget, parent = waiting.pop(0)
        yield nugget, parent
        waiting[:0] = [(part, place) for part in nugget.parts]
        place += 1
