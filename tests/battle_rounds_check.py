"""What rounds of battles save: `python tests/battle_rounds_check.py [--simulations 150]`.

Draws battles in which every pair of systems meets once on every topic, and asks half of the pairs: at random, or a
tenth at random and the rest in ten rounds. Prints Kendall's τ_b of the orders by these and by all pairs with the true
order and with one another, and the share of the pairs of systems that all votes tell apart (their difference is more
than twice its error) which stand in the same order by half. The exit status is 1 where rounds are no nearer to the
true order than chance draws on average over the studies, or turn more than one in a hundred of those pairs round.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stats.ranking.battles.bradley_terry_fit import Fit, Votes
from stats.ranking.battles.rounds import draw_pairs
from stats.ratings import BoolArray, FloatArray
from tests.simulations.battles import Battles
from tests.simulations.promises import processes

SEED = 1971
STUDIES = {
    "6 systems, 20 topics": (Battles(6, 1, 1), 20),
    "8 systems, 30 topics": (Battles(8, 1, 1), 30),
    "the same, close": (Battles(8, 1, 1, spread=0.4), 30),
    "the same, far apart": (Battles(8, 1, 1, spread=2.0), 30),
    "the same, 45 % of votes ties": (Battles(8, 1, 1, log_nu=0.7), 30),
    "12 systems, 30 topics": (Battles(12, 1, 1), 30),
    "12 systems, 50 topics": (Battles(12, 1, 1), 50),
}
SHARE, FIRST, ROUNDS = 0.5, 0.1, 10
TOLD_APART, KEPT = 2.0, 0.99
# Gives the order a number where a system never loses; it moves no other.
PULL = 0.01


def asked_pairs(rng: np.random.Generator, votes: Votes, *, adaptive: bool) -> BoolArray:
    """Return which half of the pairs are asked."""
    n = len(votes.left)
    size = round(SHARE * n)
    asked = np.zeros(n, dtype=np.bool_)
    asked[rng.choice(n, round(FIRST * n) if adaptive else size, replace=False)] = True
    for left in range(ROUNDS, 0, -1):
        more = (size - int(asked.sum())) // left
        if more:
            seed = int(rng.integers(2**31))
            asked |= draw_pairs(votes.where(asked), votes.left, votes.right, more, available=~asked, seed=seed).items
    return asked


def fitted(votes: Votes) -> Fit:
    return Fit.of(votes, side=True, penalty=PULL)


def simulate(name: str, simulations: int) -> FloatArray:
    """Return a row of figures, in the order of FIGURES, for each simulated study."""
    battles, topics = STUDIES[name]
    rng = np.random.default_rng([SEED, list(STUDIES).index(name)])
    return np.array([figures_of(battles, battles.draw(rng, topics), rng) for _ in range(simulations)])


FIGURES = ("random, truth", "rounds, truth", "all, truth", "random, all", "rounds, all", "random, told", "rounds, told")


def figures_of(battles: Battles, votes: Votes, rng: np.random.Generator) -> list[float]:
    fits = [fitted(votes.where(asked_pairs(rng, votes, adaptive=adaptive))) for adaptive in (False, True)]
    fits.append(whole := fitted(votes))
    random, rounds, by_all = (fit.abilities_of(fit.parameters) for fit in fits)
    ahead = [fit.ahead_of(fit.parameters) for fit in fits]
    told = np.triu(np.abs(ahead[2]) > TOLD_APART * whole.likelihood_error_of_differences(), 1)
    alike = [
        float(np.mean(np.sign(half[told]) == np.sign(ahead[2][told]))) if told.any() else np.nan for half in ahead[:2]
    ]
    taus = [tau(battles.abilities, one) for one in (random, rounds, by_all)]
    return [*taus, tau(by_all, random), tau(by_all, rounds), *alike]


def tau(one: FloatArray, other: FloatArray) -> float:
    return float(kendalltau(one, other).statistic)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=150)
    chosen = parser.parse_args()
    with processes() as pool:
        found = dict(zip(STUDIES, pool.map(partial(simulate, simulations=chosen.simulations), STUDIES), strict=True))
    lines = [f"| study | {' | '.join(FIGURES)} |", f"| --- |{' ---: |' * len(FIGURES)}"]
    for name, rows in found.items():
        lines.append(f"| {name} | {' | '.join(f'{value:.3f}' for value in np.nanmean(rows, axis=0))} |")
    overall = np.mean([np.nanmean(rows, axis=0) for rows in found.values()], axis=0)
    gain = np.concatenate([rows[:, 1] - rows[:, 0] for rows in found.values()])
    lines.append(f"| mean | {' | '.join(f'{value:.3f}' for value in overall)} |")
    lines.append(f"Nearer to the truth than at random by {gain.mean():.3f} ± {gain.std() / len(gain) ** 0.5:.3f}.")
    sys.stdout.write("\n".join(lines) + "\n")
    sys.exit(bool(gain.mean() <= 0 or overall[-1] < KEPT))


if __name__ == "__main__":
    main()
