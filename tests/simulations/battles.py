"""Simulated battles: systems that are better on some topics, raters who see the left a little sooner."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from stats.intervals import Estimate
from stats.ranking.battles.bradley_terry import bradley_terry
from stats.ranking.battles.bradley_terry_fit import Fit, Votes
from stats.ratings import FloatArray
from tests.simulations.scenarios import Intervals, Scenario

TOPICS = (5, 6, 10, 20, 50)
FIGURES = ("win rate of the best", "win rate of the second", "win rate of the last", "log-odds of the best")
LEFT = "win rate of the left"
PLACES = "places of the second"
OUTCOMES = np.array([1.0, 0.0, 0.5])


@dataclass(frozen=True)
class Battles:
    """How many systems and raters meet, and how much.

    - `topics`: sd of what a system is better or worse on a topic than elsewhere, `raters`: than with other raters;
    - `voting`: how many raters vote on a pair, `share`: of how many pairs of a topic;
    - `spread`: log-odds of the best system, and of the last with a minus.
    """

    systems: int
    raters: int
    voting: int
    topics: float = 0.6
    own: float = 0.0
    share: float = 1.0
    log_nu: float = -0.3
    left: float = 0.3
    spread: float = 1.0

    def __str__(self) -> str:
        own = ", who differ" if self.own else ""
        share = "" if self.share == 1 else f", {self.share:.0%} of pairs"
        raters = "1 rater" if self.raters == 1 else f"{self.raters} raters"
        return f"{self.systems} systems, {raters}{own}{share}"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{place:02}" for place in range(self.systems))

    @property
    def abilities(self) -> FloatArray:
        return np.linspace(self.spread, -self.spread, self.systems)

    def draw(self, rng: np.random.Generator, n: int) -> Votes:
        """Return the votes of n topics; a drawn share of pairs is asked, by drawn raters."""
        one, other = np.triu_indices(self.systems, 1)
        pairs = len(one)
        topic = np.repeat(np.arange(n), pairs * self.voting)
        asked = np.tile(np.repeat(np.arange(pairs), self.voting), n)
        rater = rng.random((n * pairs, self.raters)).argsort(axis=1)[:, : self.voting].ravel()
        kept = np.repeat(rng.random(n * pairs) < self.share, self.voting)
        topic, asked, rater = topic[kept], asked[kept], rater[kept]
        swapped = rng.random(len(topic)) < 0.5
        left, right = np.where(swapped, other[asked], one[asked]), np.where(swapped, one[asked], other[asked])
        ability = self.abilities + rng.normal(0, self.topics, (n, self.systems))
        taste = rng.normal(0, self.own, (self.raters, self.systems))
        ahead = ability[topic, left] - ability[topic, right] + taste[rater, left] - taste[rater, right] + self.left
        shares = np.cumsum(self.choices(ahead), axis=1)
        outcome = OUTCOMES[(rng.random(len(ahead))[:, None] > shares[:, :2]).sum(axis=1)]
        return Votes(self.names, left, right, outcome, topic, rater, np.ones(len(topic), dtype=bool))

    def choices(self, ahead: FloatArray) -> FloatArray:
        """Return how often the left, the right and neither is chosen where the left is so far ahead; choices last."""
        weights = np.exp(np.stack([ahead / 2, -ahead / 2, np.full_like(ahead, self.log_nu)], axis=-1))
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


@cache
def truth_of(battles: Battles) -> tuple[FloatArray, FloatArray, float]:
    """Win rates and log-odds of the systems, and the win rate of the left, over all topics and raters.

    What the model would be fitted to, had each pair a thousand votes for every part of a normal distribution.
    """
    one, other = np.triu_indices(battles.systems, 1)
    left, right = np.concatenate([one, other]), np.concatenate([other, one])
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    spread = np.sqrt(2) * np.hypot(battles.topics, battles.own)
    ahead = battles.abilities[left] - battles.abilities[right] + battles.left
    shares = battles.choices(ahead[:, None] + spread * nodes) * (weights / weights.sum())[None, :, None]
    n = np.round(2_000 * shares.sum(axis=1)).astype(np.int64).ravel()
    votes, outcome = np.repeat(np.repeat(np.arange(len(left)), 3), n), np.repeat(np.tile(OUTCOMES, len(left)), n)
    none = np.zeros(len(votes), dtype=np.int64)
    fit = Fit.of(
        Votes(battles.names, left[votes], right[votes], outcome, none, none, np.ones(len(votes), dtype=bool)), side=True
    )
    at = fit.parameters
    return fit.rates_of(at), fit.abilities_of(at), float(fit.left_of(at))


def draw_battles(rng: np.random.Generator, battles: Battles, n: int) -> Intervals:
    rates, log_odds, left = truth_of(battles)
    found = bradley_terry(battles.draw(rng, n))
    of = {standing.system: standing for standing in found.standings}
    best, second, last = of["00"], of["01"], of[f"{battles.systems - 1:02}"]
    places = second.ranks or (None, None)
    return {
        FIGURES[0]: (best.win_rate, float(rates[0])),
        FIGURES[1]: (second.win_rate, float(rates[1])),
        FIGURES[2]: (last.win_rate, float(rates[-1])),
        FIGURES[3]: (best.log_odds, float(log_odds[0])),
        LEFT: (found.left or Estimate(None), left),
        PLACES: (Estimate(second.rank, *places), 2.0),
    }


def scenarios() -> list[Scenario]:
    """Return the battles."""
    chosen = [Battles(systems, raters, raters) for systems in (4, 8, 12) for raters in (1, 3)]
    chosen += [Battles(8, 2, 1, share=0.5), Battles(8, 8, 2, own=0.4), Battles(8, 20, 2, own=0.4)]
    return [
        Scenario(
            "topics",
            f"battles: {battles}",
            n,
            partial(draw_battles, battles=battles, n=n),
            demanded=() if battles.own else (*FIGURES, LEFT),
            cautious=(*FIGURES, LEFT, PLACES) if battles.own else (PLACES,),
        )
        for battles in chosen
        for n in TOPICS
    ]
