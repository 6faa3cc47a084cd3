"""Scales: their identity, and in what two of them differ."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from collection.models import Scale


@dataclass(frozen=True)
class ScaleShape:
    """A scale before it is stored. `points` are (value, name, text), lowest value first."""

    name: str
    level: Scale.Level
    points: tuple[tuple[float, str, str], ...]

    @property
    def values(self) -> list[float]:
        """The grades, lowest first."""
        return [value for value, _, _ in self.points]

    @cached_property
    def as_stored(self) -> list[dict[str, Any]]:
        """The points as the database holds them. Raises ValueError for a value that is not finite."""
        return [{"value": whole(value), "name": name, "text": text} for value, name, text in self.points]

    @cached_property
    def content_hash(self) -> str:
        """The SHA-256 over all that the scale is: by it scales are told apart."""
        canonical = json.dumps(
            [self.name, self.level, self.as_stored], ensure_ascii=False, sort_keys=True, separators=(",", ":")
        )
        return hashlib.sha256(canonical.encode()).hexdigest()

    def stored(self) -> Scale:
        """Return the stored scale of this shape, made if it is new."""
        scale, _ = Scale.objects.get_or_create(
            content_hash=self.content_hash,
            defaults={"name": self.name, "level": self.level, "points": self.as_stored},
        )
        return scale


def whole(value: float) -> float:
    """Return a grade's value as scales store it: 2.0 as 2, for they are one grade. Raises ValueError if not finite."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a number that a grade can have.")
    return int(value) if value == int(value) else value


def differences(one: Scale, other: Scale) -> list[str]:
    """Say in what the first scale differs from the second, a phrase for each; none if they are one scale."""
    if one.values != other.values:
        return [f"its grades are {_listed(one.values)}, not {_listed(other.values)}"]
    found = [] if one.level == other.level else [f"it is {one.level}, not {other.level}"]
    for first, second in zip(one.points, other.points, strict=True):
        grade = f"grade {first['value']:g}"
        if first["name"] != second["name"]:
            found.append(f"{grade} is called “{first['name']}”, not “{second['name']}”")
        if first["text"] != second["text"]:
            found.append(f"{grade} means {_quoted(first['text'])}, not {_quoted(second['text'])}")
    if one.name != other.name:
        found.append(f"it is called “{one.name}”, not “{other.name}”")
    return found


def difference_in_words(one: Scale, other: Scale, *, most: int = 2) -> str:
    """Say the same in one sentence, with the first few differences and how many more there are."""
    found = differences(one, other)
    more = f", and {len(found) - most} more differences" if len(found) > most else ""
    return "; ".join(found[:most]) + more + "."


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _quoted(text: str, most: int = 80) -> str:
    return f"“{text if len(text) <= most else text[: most - 1] + '…'}”" if text else "nothing"
