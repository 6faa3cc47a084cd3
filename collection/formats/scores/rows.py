"""The one row inside for scores of tools for LLM applications, and what the readers of their files share."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from collection.formats.json_fields import Fields
from collection.formats.problems import BrokenLine
from collection.formats.values import LARGEST_NUMBER, shown

RaterKind = Literal["human", "LLM", "code"]
KINDS = get_args(RaterKind)
UNGRADED = "ungraded"
# In the attributes of a judge whose scores are those of a piece of code.
SCORED_BY = "scored_by"


@dataclass(frozen=True)
class ScoreRow:
    """What a rater says of a target (an item's id) under a criterion.

    `ungraded` says why a value is missing; `label` is a grade that a tool names, not numbers. `query`, `text`
    and `contexts` are the topic's request, the judged text and what it rests on, where a tool's file has them; the
    target may then have to be found by the first two.
    """

    target: str
    criterion: str
    value: float | None
    rater: str
    kind: RaterKind = "human"
    ungraded: str = ""
    rationale: str = ""
    at: str = ""
    label: str = ""
    query: str = ""
    text: str = ""
    contexts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unsaid:
    """What files do not say themselves: the criterion, and who rates where a line names nobody, and of which kind.

    `asked` notes whether it was needed to know who rates.
    """

    criterion: str = ""
    rater: str = ""
    kind: RaterKind | Literal[""] = ""
    asked: set[str] = field(default_factory=set)

    def kind_or(self, named: Any, *, usual: RaterKind) -> RaterKind:
        """Return the kind that a line names, or else the one that was said, or else the tool's usual one."""
        if named in KINDS:
            return cast("RaterKind", named)
        self.asked.add("kind")
        return self.kind or usual

    def rater_or(self, named: Any) -> str:
        """Return the rater that a line names, or else the one that was said. Raises BrokenLine."""
        if isinstance(named, str) and named.strip():
            return named
        self.asked.add("rater")
        if self.rater:
            return self.rater
        raise BrokenLine("The line does not say who judged.", "Name the rater.")


def graded(found: Any, *, name: str) -> tuple[float | None, str]:
    """Return a number, or a label, from what may be either; yes and no as 1 and 0. Raises BrokenLine.

    The label “ungraded” is none: it is what our exports write where there is no grade.
    """
    if found is None or found == UNGRADED:
        return None, ""
    if isinstance(found, bool):
        return float(found), ""
    if isinstance(found, int | float) and abs(found) <= LARGEST_NUMBER:
        return float(found), ""
    if isinstance(found, str) and found.strip():
        return None, found
    raise BrokenLine(f"“{name}” is {shown(found)}, neither a number nor a label.")


def object_of(fields: Fields, name: str) -> dict[str, Any]:
    """Return an object, empty where the field is missing or null. Raises BrokenLine."""
    found = fields.rest.pop(name, None)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise BrokenLine(f"The field “{name}” is {shown(found)}, not an object.")
    return found


def kind_of(written: str, names: dict[str, str]) -> Any:
    """Return the kind of rater that a tool calls so. Raises BrokenLine."""
    for kind, name in names.items():
        if written == name:
            return kind
    raise BrokenLine(f"“{shown(written)}” is not one of {', '.join(names.values())}.")


def why(value: float | None, label: str, said: Any) -> str:
    """Return why the grade is missing; empty where it is there."""
    return "" if value is not None or label else str(said or "unreadable")


def as_line(found: Any) -> str:
    return json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n"
