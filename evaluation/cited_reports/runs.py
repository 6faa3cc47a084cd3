"""ARGUE's figures of each run's cited reports: shares over everything (micro), and their means over topics (macro)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stats.intervals import Estimate, undefined
from stats.measures.cited_reports import ARGUE, Counts, Figure, macro, micro, too_many_in_part
from stats.plurals import counted

FIELDS = ("yes", "of", "unjudged", "undecided")


@dataclass(frozen=True)
class ReportFigures:
    """ARGUE's figures of one report, by their names."""

    topic: str
    run: str
    figures: Mapping[str, Figure]


@dataclass(frozen=True)
class Share:
    """One of ARGUE's figures over everything, and its mean over the `n_topics` topics that have one.

    `counted`: so many of so many; what is not judged is left out of both. None of an F1.
    """

    name: str
    micro: Estimate
    macro: Estimate
    n_topics: int
    counted: Counts | None = None

    @property
    def left_out(self) -> str:
        """Say what is not judged, and so left out; an empty string where all is."""
        of = "nuggets" if self.name.startswith("nugget") else "citations"
        left = [f"{counted(self.counted.unjudged, of)} not judged"] if self.counted and self.counted.unjudged else []
        if self.counted and self.counted.undecided:
            of_what = "nuggets" if of == "nuggets" else "sentences"
            left.append(f"{counted(self.counted.undecided, of_what)} judged in part")
        return ", ".join(left)

    def as_dict(self) -> dict[str, Any]:
        counts = self.counted and {
            "yes": self.counted.yes,
            "of": self.counted.of,
            "not_judged": self.counted.unjudged,
            "undecided": self.counted.undecided,
        }
        means = {"micro": self.micro.value, "macro": self.macro.value, "n_topics": self.n_topics}
        intervals = {f"{name}_interval": [one.low, one.high] for name, one in self._means if one.low is not None}
        reasons = {f"{name}_reason": one.reason for name, one in self._means if one.low is None and one.reason}
        return {**means, **intervals, **reasons, **(counts or {})}

    @property
    def _means(self) -> tuple[tuple[str, Estimate], ...]:
        return ("micro", self.micro), ("macro", self.macro)


@dataclass(frozen=True)
class RunFigures:
    """A run with its figures; an F1 is over the topics that have both of its shares."""

    run: str
    n_topics: int
    shares: tuple[Share, ...]

    def share(self, name: str) -> Share:
        return next(one for one in self.shares if one.name == name)

    def row(self) -> list[Any]:
        """Return its row of a table: the topics, then of each share what is counted, both means and its topics."""
        cells: list[Any] = [self.run, self.n_topics]
        for share in self.shares:
            if share.counted:
                left_out = f" ({share.left_out})" if share.left_out else ""
                cells.append(f"{share.counted.yes:,} of {share.counted.of:,}{left_out}")
            cells += [share.micro, share.macro, share.n_topics]
        return cells

    def as_dict(self) -> dict[str, Any]:
        shares = {share.name.replace(" ", "_"): share.as_dict() for share in self.shares}
        return {"run": self.run, "n_topics": self.n_topics, **shares}


def figures_by_run(reports: Iterable[ReportFigures]) -> tuple[RunFigures, ...]:
    """Return each run's figures, by its name."""
    runs: dict[str, dict[str, Mapping[str, Figure]]] = {}
    listed = list(reports)
    for one in listed:
        runs.setdefault(one.run, {})[one.topic] = one.figures
    refused = {name: too_many_in_part(one.figures[name].score for one in listed) for name in ARGUE}
    return tuple(
        RunFigures(run, len(topics), tuple(_share(name, list(topics.values()), refused[name]) for name in ARGUE))
        for run, topics in sorted(runs.items())
    )


def _share(name: str, figures: list[Mapping[str, Figure]], refused: str) -> Share:
    """Return a run's figure, or why it has none; `refused` says why no run has one."""
    topics = [of[name].counts for of in figures]
    n_topics = 0 if refused else sum(all(one.share is not None for one in counts) for counts in topics)
    pooled = None
    if len(ARGUE[name]) == 1:
        pooled = Counts(*(sum(getattr(one, field) for (one,) in topics) for field in FIELDS))
    if not n_topics:
        reasons = (of[name].score.reason for of in figures)
        nothing = undefined(refused or next(filter(None, reasons), "") or "There is nothing to count.")
        return Share(name, nothing, nothing, 0, pooled)
    return Share(name, micro(topics), macro(topics), n_topics, pooled)
