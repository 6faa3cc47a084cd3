"""What filling the holes of qrels does to systems' scores and their order, and what the scores could be otherwise.

Made by `filled_comparison`, of which pages that show it need nothing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from stats.intervals import Estimate


@dataclass(frozen=True)
class SystemChange:
    """A system's mean by people's labels alone (`before`) and by the filled ones (`after`), with ranks from 1.

    A rank, or mean, is None where a leaderboard by these labels gives none, and `reason` or `reason_after` says why.
    `low` and `high` bound the mean whatever the grades of all that people gave no label; `low_after` and `high_after`
    whatever those of what has none even now. `unjudged`, `unjudged_after`: the share of its first k without a label;
    None where it ranks nothing. Means are over `n_topics`. `places`: how many places lower it stands among the systems
    with both ranks; negative: higher.
    """

    system: str
    n_topics: int
    rank: int | None
    rank_after: int | None
    before: float | None
    low: float
    high: float
    after: float | None
    low_after: float
    high_after: float
    unjudged: float | None
    unjudged_after: float | None
    places: int | None
    reason: str
    reason_after: str


@dataclass(frozen=True)
class FilledScores:
    """A measure before and after over the same `n_topics`; `systems` best first by people's labels.

    `n_open` of `n_pairs` of systems have bounds that overlap, before and after: their order is open. `k`: the passages
    that the unjudged shares are of. `withheld`: why systems have no score by people's labels; empty where all have one.
    """

    measure: str
    k: int
    n_topics: int
    systems: tuple[SystemChange, ...]
    n_pairs: int
    n_open: int
    n_open_after: int
    kendall: Estimate
    tau_ap: Estimate
    withheld: str = ""

    @property
    def compared(self) -> list[SystemChange]:
        """The systems with a rank before and after: those whose order is compared."""
        return [one for one in self.systems if one.places is not None]

    @property
    def n_ranked(self) -> tuple[int, int]:
        """How many systems have a rank before, and after."""
        before = sum(one.rank is not None for one in self.systems)
        return before, sum(one.rank_after is not None for one in self.systems)

    @property
    def moved(self) -> list[SystemChange]:
        """The systems with another rank, those that move furthest first."""
        return sorted((one for one in self.systems if one.places), key=lambda one: (-abs(one.places or 0), one.system))

    def as_dict(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "k": self.k,
            "n_topics": self.n_topics,
            "systems": [asdict(one) for one in self.systems],
            "pairs": {"n": self.n_pairs, "open": self.n_open, "open_after": self.n_open_after},
            "kendall": self.kendall.as_dict(),
            "tau_ap": self.tau_ap.as_dict(),
            "ranked": dict(zip(("before", "after"), self.n_ranked, strict=True)),
            "moved": [one.system for one in self.moved],
        }
