"""What a leaderboard is made of: each source's standings and how sure they are, corrections, agreement on the order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from evaluation.leaderboards.sources import SourceScores
from stats.completeness import Completeness
from stats.measures.rubric import LeaderboardMarks, leaderboard_marks
from stats.pattern_intervals import Estimate
from stats.plurals import counted
from stats.ranking.common_topics import named
from stats.ranking.leaderboard import (
    Divergence,
    PairedComparison,
    RankStability,
    Standing,
    compare_pairs,
    complete,
    leaderboard,
    rank_stability,
)
from stats.ranking.scoring import ScoreTable
from stats.rounding import rounded

TOP_SYSTEMS = 10


@dataclass(frozen=True, kw_only=True)
class Standings:
    """The systems by one source's scores on the topics that are compared, and how sure their order is.

    `unordered` says why their means are not put in an order; empty where they are.
    """

    scored: ScoreTable
    topics: tuple[str, ...]
    unordered: str = ""

    @cached_property
    def table(self) -> pd.DataFrame:
        """The scores as far as they are given, systems × the topics compared."""
        return self.scored.given.reindex(columns=list(self.topics))

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        return tuple(leaderboard(self.table, within=self.scored.within, ranked=not self.unordered))

    @cached_property
    def by_system(self) -> dict[str, Standing]:
        return {standing.system: standing for standing in self.standings}

    @cached_property
    def ordered(self) -> pd.DataFrame:
        """The scores of the systems that are put in an order."""
        return self.table.iloc[:0] if self.unordered else complete(self.table)

    @cached_property
    def means(self) -> dict[str, float]:
        """The mean of each system that has a rank."""
        return {one.system: one.mean.value for one in self.standings if one.rank and one.mean.value is not None}

    @cached_property
    def stability(self) -> RankStability:
        return rank_stability(self.ordered)

    @cached_property
    def pairs(self) -> tuple[PairedComparison, ...]:
        """The systems with scores on all topics, two by two: differences need no order of all of them."""
        return tuple(compare_pairs(self.table))

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
        """How many topics are compared."""
        return len(self.topics)

    @property
    def n_tested(self) -> int:
        return sum(pair.p_holm is not None for pair in self.pairs)

    def why_not(self, system: str) -> str:
        """Say why the system has no mean, or no rank; empty where it has both."""
        standing = self.by_system.get(system)
        if standing is None:
            return "not judged by this source"
        if standing.mean.value is None:
            return self.scored.withheld.get(system, standing.mean.reason)
        if standing.rank is None and not self.unordered:
            return f"a score on {standing.n_topics} of {counted(self.n_topics, 'topics')} alone"
        return self.unordered

    @property
    def not_given(self) -> dict[str, str]:
        """The systems that are given no score, by the reason."""
        found: dict[str, list[str]] = {}
        for system, reason in self.scored.withheld.items():
            found.setdefault(reason, []).append(system)
        return {
            reason: "all systems" if len(systems) == len(self.scored.table) else named(systems)
            for reason, systems in found.items()
        }

    def judged(self, system: str) -> float | None:
        """Return judged@k, the share of what the system's scores rest on that the source judged; None without any."""
        judged = self.scored.judged
        if judged is None or system not in judged.index:
            return None
        compared = judged.reindex(columns=list(self.topics)) if self.topics else judged
        shares = compared.loc[[system]].to_numpy(dtype=np.float64)
        known = shares[~np.isnan(shares)]
        return float(known.mean()) if len(known) else None

    def percentile(self, system: str) -> int | None:
        """Return which marked percentile the system's mean is above, the higher of two."""
        if self.marks is None:
            return None
        return next((mark for mark in (85, 75) if system in self.marks.above(self.means, percentile=mark)), None)

    def at_most(self, system: str, rank: int) -> float | None:
        """Return P(rank ≤ r), None where it cannot be told, or is 1 as there are no more systems than r."""
        ranks = self.stability.at_most
        if system not in ranks.index or rank >= len(ranks):
            return None
        share = float(ranks.loc[[system], rank].to_numpy(dtype=np.float64)[0])
        return None if np.isnan(share) else share


@dataclass(frozen=True, kw_only=True)
class Column(Standings):
    """What one source of a study's judgments says of the systems."""

    board: SourceScores

    @property
    def name(self) -> str:
        return self.board.source.name


@dataclass(frozen=True)
class Corrected:
    """Systems' scores by a judge, corrected by people's labels (PPI++); with the reason where there is none."""

    judge: str
    scores: dict[str, Estimate]


@dataclass(frozen=True)
class Agreement:
    """How far a source keeps the reference's order of systems; `completeness` is that source's."""

    reference: str
    other: str
    completeness: Completeness
    n_systems: int
    n_topics: int
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

    `percentile`: 85 or 75 where its mean is above that percentile of the systems. `why_not`: why it has no mean, or no
    rank.
    """

    standing: Standing | None
    percentile: int | None
    judged: float | None
    first: float | None
    top: float | None
    circular: bool
    why_not: str


@dataclass(frozen=True)
class Row:
    system: str
    family: str
    cells: tuple[Cell, ...]
    corrected: tuple[Estimate | None, ...]


def sorted_systems(columns: Sequence[Column], sort: str) -> list[str]:
    """Return the systems by a source's mean, best first, or by "system"; a minus in front turns it round.

    Without a source that puts them in an order they stand by name.
    """
    name = sort.removeprefix("-")
    systems = sorted({standing.system for column in columns for standing in column.standings})
    ordered = [column for column in columns if column.means]
    if name != "system" and ordered:
        by = next((column for column in ordered if column.name == name), ordered[0])
        systems.sort(key=lambda system: -float(rounded(by.means.get(system, float("-inf")))))
    return systems[::-1] if sort.startswith("-") else systems
