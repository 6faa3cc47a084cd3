"""A published figure beside ours, and the page that they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

DATA = "data"
SHARED = Path(settings.BASE_DIR).parent / "shared"


@dataclass(frozen=True)
class Figure:
    """What a paper, or the description of its data, prints; what the product computes; and to how many digits.

    `note` says what is known of a difference.
    """

    where: str
    what: str
    printed: float
    ours: float
    digits: int
    note: str = ""

    @property
    def difference(self) -> float:
        """Ours, rounded as it would be printed, less the printed one."""
        return round(round(self.ours, self.digits) - self.printed, self.digits)

    @property
    def row(self) -> str:
        equal = "equal" if not self.difference else f"{self.difference:+.{self.digits}f}"
        shown = f"{self.ours:,.{self.digits + 2 if self.digits else 0}f}"
        return f"| {self.where} | {self.what} | {self.printed:,.{self.digits}f} | {shown} | {equal} | {self.note} |"


@dataclass(frozen=True)
class LeftOut:
    """A table or figure of a paper that cannot be rebuilt here, with the reason."""

    where: str
    reason: str


@dataclass(frozen=True)
class Shown:
    """A table of a paper as the product makes it of simulated data: the command, and what it prints."""

    where: str
    command: str
    says: str
    head: Sequence[str]
    rows: Sequence[Sequence[float | int | str | None]]
    simulated: bool = True

    @property
    def lines(self) -> Iterator[str]:
        yield f"**{self.where}**{', simulated' if self.simulated else ', of the data here'}. {self.says}\n"
        yield f"    manage.py {self.command}\n"
        yield f"| {' | '.join(self.head)} |\n|{' --- |' * len(self.head)}"
        yield from (f"| {' | '.join(map(_cell, row))} |" for row in self.rows)
        yield ""


def _cell(value: float | int | str | None) -> str:
    return "–" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Paper:
    """A paper's figures, in the order of the paper; `shown` are tables whose data it does not publish."""

    title: str
    figures: Sequence[Figure] = ()
    left_out: Sequence[LeftOut] = ()
    shown: Sequence[Shown] = ()

    @property
    def counts(self) -> Iterator[str]:
        """How many figures are equal: of those that the paper or its boards print, and of those found in the data."""
        of_data = [figure for figure in self.figures if figure.where == DATA]
        printed = [figure for figure in self.figures if figure.where != DATA]
        for figures, what in ((printed, "are printed"), (of_data, "independent code found in the data")):
            if figures:
                n_equal = sum(not figure.difference for figure in figures)
                yield f"Equal to the last digit, of figures that {what}: {n_equal} of {len(figures)}."
        unknown = sum(bool(figure.difference) and not figure.note for figure in printed)
        if unknown:
            yield f"{unknown} of the printed ones differ for a reason that we do not know."

    @property
    def lines(self) -> Iterator[str]:
        yield f"## {self.title}\n"
        if self.figures:
            yield f"{' '.join(self.counts)}\n"
            yield "| where | what | printed | ours | difference | |\n| --- | --- | ---: | ---: | ---: | --- |"
            yield from (figure.row for figure in self.figures)
            yield ""
        if self.left_out:
            yield "Not rebuilt:\n"
            yield from (f"- **{one.where}**: {one.reason}" for one in self.left_out)
            yield ""
        if self.shown:
            yield (
                "What each table looks like here. Where theirs are not published it is shown on **simulated** data: "
                "these"
            )
            yield "numbers are of grades drawn by chance, and say nothing about any system.\n"
            for one in self.shown:
                yield from one.lines
