"""Reads the demonstration's topics, with what their author meant: which report answers what, and where.

A single line break in a text of `topics/*.toml` is a space; an empty line begins a new paragraph.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

TOPICS = Path(__file__).parent / "topics"


@dataclass(frozen=True)
class Question:
    """A sub-question. A masked one has no text."""

    element_id: str
    text: str

    @property
    def masked(self) -> bool:
        return not self.text


@dataclass(frozen=True)
class SourcePassage:
    """`grades` holds the intended grades from 1 to 5 by sub-question; all others are 0."""

    passage_id: str
    title: str
    text: str
    grades: Mapping[str, int]


@dataclass(frozen=True)
class KeyPoint:
    """`spans` holds a quote by passage. Only the passages of `grounded_in` say what the key point says."""

    element_id: str
    text: str
    spans: Mapping[str, str]
    grounded_in: frozenset[str]
    utility: int


@dataclass(frozen=True)
class Mistake:
    """Something false that a report says on purpose."""

    quote: str
    right: str


@dataclass(frozen=True)
class SourceReport:
    """`answers` holds, by sub-question, the quotes that answer it; `near_misses` what only seems to."""

    system: str
    text: str
    ranking: Sequence[str]
    answers: Mapping[str, Sequence[str]]
    near_misses: Mapping[str, str]
    mistakes: Sequence[Mistake]


@dataclass(frozen=True)
class SourceTopic:
    topic_id: str
    title: str
    domain: str
    request: str
    questions: Sequence[Question]
    passages: Mapping[str, SourcePassage]
    key_points: Mapping[str, KeyPoint]
    reports: Mapping[str, SourceReport]

    @property
    def asked(self) -> list[Question]:
        """The sub-questions that are not masked."""
        return [question for question in self.questions if not question.masked]


@cache
def demonstration_topics() -> dict[str, SourceTopic]:
    """Return the topics by id, in the order in which they are imported."""
    topics = [topic_in(path) for path in sorted(TOPICS.glob("*.toml"))]
    return {topic.topic_id: topic for topic in topics}


def topic_in(path: Path) -> SourceTopic:
    """Read one topic. The file's name is its id."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    topic_id = path.stem
    passages = [passage_in(f"{topic_id}-{name}", entry) for name, entry in found["passages"].items()]
    key_points = [key_point_in(topic_id, number, entry) for number, entry in enumerate(found["key_points"], start=1)]
    reports = [report_in(topic_id, system, entry, found["passages"]) for system, entry in found["reports"].items()]
    return SourceTopic(
        topic_id=topic_id,
        title=found["title"],
        domain=found["domain"],
        request=unwrapped(found["request"]),
        questions=[Question(f"q{number}", text) for number, text in enumerate(found["questions"], start=1)],
        passages={passage.passage_id: passage for passage in passages},
        key_points={key_point.element_id: key_point for key_point in key_points},
        reports={report.system: report for report in reports},
    )


def passage_in(passage_id: str, entry: Mapping[str, Any]) -> SourcePassage:
    return SourcePassage(passage_id, entry["title"], unwrapped(entry["text"]), entry["grades"])


def key_point_in(topic_id: str, number: int, entry: Mapping[str, Any]) -> KeyPoint:
    return KeyPoint(
        element_id=f"k{number}",
        text=entry["text"],
        spans={f"{topic_id}-{name}": quote for name, quote in entry["spans"].items()},
        grounded_in=frozenset(f"{topic_id}-{name}" for name in entry["grounded_in"]),
        utility=entry["utility"],
    )


def report_in(topic_id: str, system: str, entry: Mapping[str, Any], own: Mapping[str, Any]) -> SourceReport:
    """Read a report. Its ranking calls the topic's own passages by their short names."""
    return SourceReport(
        system=system,
        text=unwrapped(entry["text"]),
        ranking=[f"{topic_id}-{name}" if name in own else name for name in entry["ranking"]],
        answers=entry["answers"],
        near_misses=entry["near_misses"],
        mistakes=[Mistake(**mistake) for mistake in entry.get("mistakes", [])],
    )


def unwrapped(text: str) -> str:
    """Join the lines of each paragraph."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))
