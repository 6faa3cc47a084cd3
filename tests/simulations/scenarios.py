"""What a simulated study is, and how often its intervals held the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import stats.intervals
from stats.intervals import Estimate
from tests.simulations.promises import LEAST, MOST, broken

FEWEST_DEMANDED = 6
# After so many times the simulations that were asked for a study is looked at, and drawn on until the next look where a
# figure is not well within, then not within, what is demanded.
LOOKS = (1, 3, 8)
WELL_WITHIN = 0.005
Intervals = dict[str, tuple[Estimate, float]]


@dataclass(frozen=True)
class Scenario:
    """A study that is simulated.

    - `group`: the table it stands in; `study`: its shape in words; `n`: how many topics, items or labels it has;
    - `draw` draws it once and returns its intervals, each with the truth;
    - `demanded`: for which of its intervals 93 to 97 % is; `cautious`: for which at least 93 % is;
    - `part`: what share of the simulations it takes, for it is slow;
    - `least_given`: where a smaller share of the studies has an interval nothing is demanded, for these few are those
      that chance made unlike the others.
    """

    group: str
    study: str
    n: int
    draw: Callable[[np.random.Generator], Intervals]
    demanded: tuple[str, ...] = ()
    cautious: tuple[str, ...] = ()
    part: float = 1
    least_given: float = 0


@dataclass(frozen=True)
class Coverage:
    """How often an interval held the truth. `too_low` and `too_high` say on which side of it the others lay.

    Shares are of the simulations that have an interval; `undefined` counts the others. `shown`: whether the rule gives
    an interval to so few topics; where it does not, this is what it would hold. `width` is the median.
    """

    group: str
    study: str
    n: int
    interval: str
    truth: float
    simulations: int
    covered: float
    too_low: float
    too_high: float
    undefined: int
    width: float
    shown: bool
    demanded: str

    @property
    def looked_at(self) -> bool:
        """Whether anything is demanded of it."""
        return bool(self.demanded) and self.shown and (self.group != "topics" or self.n >= FEWEST_DEMANDED)

    @property
    def kept(self) -> bool:
        """Whether it is within what is demanded, but for chance."""
        n = self.simulations - self.undefined
        most = MOST if self.demanded == "both" else 1.0
        return not self.looked_at or not broken(round(self.covered * n), n, most=most)

    def within(self, margin: float) -> bool:
        """Whether the share itself is within what is demanded, by this margin."""
        above = self.demanded == "cautious" or self.covered <= MOST - margin
        return not self.looked_at or (self.covered >= LEAST + margin and above)


def simulate(scenario: Scenario, rng: np.random.Generator, simulations: int) -> list[Coverage]:
    """Draw the scenario as often as it takes, and count."""
    shown = not scenario.group.startswith("topics") or scenario.n >= 5
    sides: dict[str, list[int]] = {}
    widths: dict[str, list[float]] = {}
    truths: dict[str, float] = {}
    rows: list[Coverage] = []
    drawn = 0
    for look, times in enumerate(LOOKS):
        if rows and all(row.within(WELL_WITHIN if look == 1 else 0) for row in rows):
            break
        wanted = max(round(simulations * scenario.part), 1) * times
        stats.intervals.FEWEST_TOPICS = 5 if shown else 2
        try:
            for _ in range(wanted - drawn):
                for name, (found, truth) in scenario.draw(rng).items():
                    sides.setdefault(name, []).append(side_of(found, truth))
                    truths[name] = truth
                    if found.low is not None and found.high is not None:
                        widths.setdefault(name, []).append(found.high - found.low)
        finally:
            stats.intervals.FEWEST_TOPICS = 5
        drawn = wanted
        rows = [_counted(scenario, name, of, truths[name], widths.get(name, []), shown) for name, of in sides.items()]
    return rows


def _counted(
    scenario: Scenario, name: str, sides: list[int], truth: float, widths: list[float], shown: bool
) -> Coverage:
    n_of = np.bincount(sides, minlength=4)
    defined = max(len(sides) - int(n_of[3]), 1)
    of_some = defined >= scenario.least_given * len(sides)
    demanded = "both" if name in scenario.demanded else "cautious" if name in scenario.cautious else ""
    return Coverage(
        group=scenario.group,
        study=scenario.study,
        n=scenario.n,
        interval=name,
        truth=truth,
        simulations=len(sides),
        covered=float(n_of[0] / defined),
        too_low=float(n_of[1] / defined),
        too_high=float(n_of[2] / defined),
        undefined=int(n_of[3]),
        width=float(np.median(widths or [np.nan])),
        shown=shown,
        demanded=demanded if of_some else "",
    )


def side_of(found: Estimate, truth: float) -> int:
    """Return 0 where the interval holds the truth, 1 where it lies below it, 2 above it, 3 where there is none."""
    if found.low is None or found.high is None:
        return 3
    return 1 if found.high < truth - 1e-9 else 2 if found.low > truth + 1e-9 else 0
