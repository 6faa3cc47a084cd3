"""What a leaderboard is made of: each source's standings and how sure they are, corrections, agreement on the order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluation.intervals import Estimate
from evaluation.leaderboards import Divergence, PairedComparison, RankStability, Standing
from evaluation.measures.rubric import LeaderboardMarks, leaderboard_marks
from evaluation.services.boards import SourceBoard

TOP_SYSTEMS = 10


@dataclass(frozen=True)
class Scores:
    """A source's standings."""

    board: SourceBoard
    standings: tuple[Standing, ...]

    @property
    def name(self) -> str:
        return self.board.source.name

    @cached_property
    def by_system(self) -> dict[str, Standing]:
        return {standing.system: standing for standing in self.standings}

    @cached_property
    def means(self) -> dict[str, float]:
        """The mean of each system that has one."""
        return {one.system: one.mean.value for one in self.standings if one.mean.value is not None}


@dataclass(frozen=True)
class Column(Scores):
    """What one source says of the systems, and how sure that is."""

    stability: RankStability
    pairs: tuple[PairedComparison, ...]

    @cached_property
    def marks(self) -> LeaderboardMarks | None:
        return leaderboard_marks(self.means)

    @cached_property
    def significant(self) -> list[PairedComparison]:
        """Return the pairs whose difference is significant after Holm's correction, the surest first."""
        found = [pair for pair in self.pairs if pair.significant]
        return sorted(found, key=lambda pair: (pair.p_holm, pair.first, pair.second))

    @property
    def n_topics(self) -> int:
        """How many topics there are items of, judged by the source or not."""
        return len(self.board.scored.table.columns)

    @property
    def n_tested(self) -> int:
        return sum(pair.p_holm is not None for pair in self.pairs)

    def percentile(self, system: str) -> int | None:
        """Return which marked percentile the system's mean is above, the higher of two."""
        if self.marks is None:
            return None
        return next((mark for mark in (85, 75) if system in self.marks.above(self.means, percentile=mark)), None)

    def at_most(self, system: str, rank: int) -> float | None:
        """Return P(rank ≤ r), None where it cannot be told."""
        ranks = self.stability.at_most
        if system not in self.means or not len(ranks.columns):
            return None
        share = float(ranks.loc[[system], min(rank, len(ranks.columns))].to_numpy(dtype=np.float64)[0])
        return None if np.isnan(share) else share


@dataclass(frozen=True)
class Corrected:
    """Systems' scores by a judge, corrected by people's labels (PPI++); with the reason where there is none."""

    judge: str
    scores: dict[str, Estimate]


@dataclass(frozen=True)
class Agreement:
    """How far a source keeps the reference's order of systems."""

    reference: str
    other: str
    n_systems: int
    kendall: Estimate
    tau_ap: Estimate
    top_kendall: Estimate
    spearman: Estimate
    divergent: tuple[Divergence, ...]

    def figures(self) -> dict[str, Estimate]:
        return {
            "kendall": self.kendall,
            "tau_ap": self.tau_ap,
            f"kendall_top_{TOP_SYSTEMS}": self.top_kendall,
            "spearman": self.spearman,
        }


@dataclass(frozen=True)
class Cell:
    """One system under one source. `standing` is None where the source's board lacks the system.

    `percentile`: 85 or 75 where its mean is above that percentile of the systems. `n_topics`: how many there might be.
    """

    standing: Standing | None
    percentile: int | None
    n_topics: int
    first: float | None
    top: float | None
    circular: bool


@dataclass(frozen=True)
class Row:
    system: str
    family: str
    cells: tuple[Cell, ...]
    corrected: tuple[Estimate | None, ...]


def sorted_systems(columns: Sequence[Scores], sort: str) -> list[str]:
    """Return the systems by a source's mean, best first, or by "system"; a minus in front turns it round."""
    name = sort.removeprefix("-")
    systems = sorted({standing.system for column in columns for standing in column.standings})
    if name != "system" and columns:
        by = next((column for column in columns if column.name == name), columns[0])
        systems.sort(key=lambda system: -by.means.get(system, float("-inf")))
    return systems[::-1] if sort.startswith("-") else systems
