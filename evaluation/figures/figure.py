"""A figure of a study: a picture, the numbers that it shows, and what to know of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from collection.web.tables import Column, Table
from evaluation.data.visibility import Visibility
from stats.refusals import Refused

LONGEST_CELL = 20
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
    visibility: Visibility
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

    def tables(self) -> dict[str, Table]:
        """Return its `numbers`, and `all` that is drawn where that is more."""
        found = {"numbers": _table("Numbers", self.head, self.rows)}
        drawn = tuple(map(Column, self.long_head))
        return found | ({"all": Table.of("All that is drawn", drawn, self.long_rows)} if self.long_head else {})

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the picture, as API and command have it."""
        return {
            "figure": self.name,
            "title": self.title,
            **self.visibility.as_dict(),
            "simulated": self.simulated,
            "chosen": self.chosen | self.typed,
            **({"answer": self.answer} if self.answer else {}),
            "notes": list(self.notes),
            **{name: table.file_dicts() for name, table in self.tables().items()},
        }


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """Return the table, in which columns with sentences are wrapped."""
    wraps = [any(len(str(row[place])) > LONGEST_CELL for row in rows) for place in range(len(head))]
    columns = (
        Column(
            name,
            name.replace("_", " ").capitalize() if "_" in name or name.islower() else name,
            "words" if wrapped else "cell",
        )
        for name, wrapped in zip(head, wraps, strict=True)
    )
    return Table.of(title, tuple(columns), rows)


def chosen_of(asked: str, choices: Choices, what: str) -> str:
    """Return the choice that is asked for, the first without one. Raises NoFigure."""
    names = [name for name, _ in choices]
    if not names:
        raise NoFigure(f"There is no {what} to draw yet.")
    if asked and asked not in names:
        raise NoFigure(f"There is no {what} “{asked}”. Choose one of: {', '.join(names[:20])}.")
    return asked or names[0]
