"""What a leaderboard is made of: each source's standings and how sure they are, corrections, agreement on the order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.leaderboards.sources import SourceScores
from stats.completeness import Completeness
from stats.measures.cited_reports import micro
from stats.measures.rubric import LeaderboardMarks, leaderboard_marks
from stats.measures.score_bounds import ScoreBounds, open_pairs, possible_ranks
from stats.pattern_intervals import Estimate
from stats.plurals import counted
from stats.ranking.common_topics import named
from stats.ranking.leaderboard import (
    Divergence,
    PairedComparison,
    RankStability,
    Standing,
    compare_pairs,
    leaderboard,
    rank_stability,
)
from stats.ranking.rankable import complete
from stats.ranking.scoring import ScoreTable
from stats.ranking.unjudged import withheld_in_words
from stats.rounding import rounded

if TYPE_CHECKING:
    import pandas as pd

TOP_SYSTEMS = 10


@dataclass(frozen=True)
class MeanBounds:
    """The least and the most that a system's mean can be, whatever the grades of the `unjudged` that it rests on.

    `best` and `worst`: the ranks that it may have then; None where it has no rank.
    """

    low: float
    high: float
    unjudged: int
    best: int | None
    worst: int | None

    @property
    def open(self) -> bool:
        """Whether its place is left open."""
        return self.best != self.worst

    def as_dict(self) -> dict[str, Any]:
        ranks = None if self.best is None else [self.best, self.worst]
        return {"low": self.low, "high": self.high, "unjudged": self.unjudged, "ranks": ranks, "open": self.open}


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
        return tuple(leaderboard(self.table, within=self.scored.within, ranked=[*map(str, self.ordered.index)]))

    @cached_property
    def by_system(self) -> dict[str, Standing]:
        return {standing.system: standing for standing in self.standings}

    @cached_property
    def ordered(self) -> pd.DataFrame:
        """The scores of the systems that are put in an order."""
        return self.table.iloc[:0] if self.unordered else self._complete

    @cached_property
    def _complete(self) -> pd.DataFrame:
        return complete(self.table, without=self.scored.few)

    @property
    def has_means(self) -> bool:
        """Whether any system has a mean, with or without a rank."""
        return any(one.mean.value is not None for one in self.standings)

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
        return tuple(compare_pairs(self._complete, within=self.scored.within))

    @cached_property
    def marks(self) -> LeaderboardMarks | None:
        return leaderboard_marks(self.means)

    @cached_property
    def significant(self) -> list[PairedComparison]:
        """Return the pairs whose difference is significant after Holm's correction, the surest first."""
        found = [pair for pair in self.pairs if pair.significant]
        return sorted(found, key=lambda pair: (pair.p_holm, pair.first, pair.second))

    @cached_property
    def bounds(self) -> dict[str, MeanBounds]:
        """The bounds of the means, where something is not judged: of systems that are given no score too."""
        found = self._bounds_of_means
        ranks = possible_ranks({system: found[system] for system in self.means if system in found})
        unjudged = self._compared(self.scored.unjudged).sum(axis=1).to_dict() if found else {}
        return {
            system: MeanBounds(*of, int(unjudged[system]), *ranks.get(system, (None, None)))
            for system, of in found.items()
        }

    @cached_property
    def open_pairs(self) -> list[tuple[str, str]]:
        """The pairs of ranked systems whose order the bounds leave open."""
        found = self._bounds_of_means
        return open_pairs({system: found[system] for system in self.means if system in found})

    @cached_property
    def micro(self) -> dict[str, Estimate]:
        """What systems' scores count, over everything of all compared topics: beside the mean, where it can be."""
        compared = set(self.topics)
        return {
            system: micro([counts for topic, counts in of.items() if topic in compared])
            for system, of in self.scored.counts.items()
            if system not in self.scored.withheld
        }

    @property
    def significant_but_open(self) -> list[PairedComparison]:
        """The significant pairs whose order the bounds leave open: the test knows topics, not what is unjudged."""
        left_open = {frozenset(pair) for pair in self.open_pairs}
        return [pair for pair in self.significant if frozenset((pair.first, pair.second)) in left_open]

    @cached_property
    def _bounds_of_means(self) -> dict[str, tuple[float, float]]:
        bounds = self.scored.bounds
        if bounds is None:
            return {}
        found = ScoreBounds(self._compared(bounds.low), self._compared(bounds.high)).means()
        held = self.scored.within.held
        return {system: (held(low), held(high)) for system, (low, high) in found.items() if not np.isnan(low)}

    def _compared(self, table: pd.DataFrame | None) -> pd.DataFrame:
        """Return what belongs to the topics that are compared; all of it where none are."""
        assert table is not None  # what has bounds counts what they are for
        return table.reindex(columns=list(self.topics)) if self.topics else table

    @property
    def open_in_words(self) -> str:
        """How much of the order of systems is left open by what is not judged; empty where none is."""
        n = len(self.open_pairs)
        if not n:
            return ""
        of = counted(len(self.means) * (len(self.means) - 1) // 2, "pairs")
        return f"What is not judged leaves the order of {n:,} of {of} of systems open"

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
            return self.scored.why_unranked(system) or standing.mean.reason
        if few := self.scored.few.get(system, ""):
            return few
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

    @property
    def withheld_in_words(self) -> str:
        """Say why systems are given no score, with how much is unjudged where there are several reasons."""
        return withheld_in_words(self.scored.withheld, self._judged)

    def fewer_topics(self, system: str) -> bool:
        """Whether the system has a mean over fewer topics than are compared."""
        standing = self.by_system.get(system)
        return standing is not None and 0 < standing.n_topics < self.n_topics

    def judged(self, system: str) -> float | None:
        """Return judged@k, the share of what the system's scores rest on that the source judged; None without any."""
        return self._judged.get(system)

    @cached_property
    def _judged(self) -> dict[str, float]:
        judged = self.scored.judged
        if judged is None:
            return {}
        compared = self._compared(judged)
        shares = compared.to_numpy(dtype=np.float64)
        known = {str(system): of[~np.isnan(of)] for system, of in zip(compared.index, shares, strict=True)}
        return {system: float(of.mean()) for system, of in known.items() if len(of)}

    def percentile(self, system: str) -> int | None:
        """Return which marked percentile the system's mean is above, the higher of two."""
        return self._percentiles.get(system)

    @cached_property
    def _percentiles(self) -> dict[str, int]:
        if self.marks is None:
            return {}
        return {system: mark for mark in (75, 85) for system in self.marks.above(self.means, percentile=mark)}

    def at_most(self, system: str, rank: int) -> float | None:
        """Return P(rank ≤ r), None where it cannot be told, or is 1 as there are no more systems than r."""
        shares = self._at_most.get(system)
        if shares is None or rank >= len(shares) or np.isnan(shares[rank - 1]):
            return None
        return shares[rank - 1]

    @cached_property
    def _at_most(self) -> dict[str, list[float]]:
        """P(rank ≤ r) of each system that is put in an order, for r from 1 to their number."""
        ranks = self.stability.at_most
        return dict(zip(map(str, ranks.index), ranks.to_numpy(dtype=np.float64).tolist(), strict=True))


@dataclass(frozen=True, kw_only=True)
class Column(Standings):
    """What one source of a study's judgments says of the systems."""

    board: SourceScores

    @property
    def name(self) -> str:
        return self.board.source.name


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
    rank. `bounds`: those of its mean, where something is not judged. `micro`: its figure over everything.
    `fewer_topics`: whether its mean is over fewer topics than its source's.
    """

    standing: Standing | None
    percentile: int | None
    judged: float | None
    first: float | None
    top: float | None
    circular: bool
    why_not: str
    bounds: MeanBounds | None = None
    micro: Estimate | None = None
    fewer_topics: bool = False


@dataclass(frozen=True)
class Row:
    system: str
    family: str
    cells: tuple[Cell, ...]


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
