"""A figure of a study: a picture, the numbers that it shows, and what to know of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.data.visibility import Sight
from stats.refusals import Refused

Choices = Sequence[tuple[str, str]]


class NoFigure(Refused):
    """There is nothing to draw; the message says why."""


@dataclass(frozen=True)
class StudyFigure:
    """What page, files, API and command show of a figure.

    - `answer`: what it says, in a sentence; empty where a picture alone can say it.
    - `description`: what it is drawn from (Vega-Lite); None where there is nothing to draw.
    - `head`, `rows`: the numbers beside it; `long_head`, `long_rows`: all that is drawn, where that is more.
    - `notes`: over what the figures are, and by which rule.
    - `choices`: what may be chosen, by the name of the option; `chosen`: what is.
    - `typed`: options that take text, with what was given.
    """

    name: str
    title: str
    sight: Sight
    simulated: bool
    description: dict[str, Any] | None
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    answer: str = ""
    notes: Sequence[str] = ()
    long_head: Sequence[str] = ()
    long_rows: Sequence[Sequence[Any]] = ()
    choices: dict[str, Choices] = field(default_factory=dict)
    chosen: dict[str, str] = field(default_factory=dict)
    typed: dict[str, str] = field(default_factory=dict)

    def tables(self) -> dict[str, list[list[Any]]]:
        """Return the tables by name, each with a first row of names."""
        found = {"numbers": [list(self.head), *map(list, self.rows)]}
        return found | ({"all": [list(self.long_head), *map(list, self.long_rows)]} if self.long_head else {})

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the picture, as API and command have it."""
        return {
            "figure": self.name,
            "title": self.title,
            **self.sight.as_dict(),
            "simulated": self.simulated,
            "chosen": self.chosen | self.typed,
            **({"answer": self.answer} if self.answer else {}),
            "notes": list(self.notes),
            **{
                name: [dict(zip(rows[0], row, strict=True)) for row in rows[1:]] for name, rows in self.tables().items()
            },
        }


def chosen_of(asked: str, choices: Choices, what: str) -> str:
    """Return the choice that is asked for, the first without one. Raises NoFigure."""
    names = [name for name, _ in choices]
    if not names:
        raise NoFigure(f"There is no {what} to draw yet.")
    if asked and asked not in names:
        raise NoFigure(f"There is no {what} “{asked}”. Choose one of: {', '.join(names[:20])}.")
    return asked or names[0]
