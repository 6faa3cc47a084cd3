"""What rounds of battles save: `python tests/battle_rounds_check.py [--simulations 80]`.

Draws battles in which every pair of systems meets once on every topic, and asks half of the pairs: at random, or a
seventh at random and the rest in five rounds. Prints Kendall's τ_b of the order by these and of the order by all pairs,
its tenth percentile, and τ_b of either with the true order. The exit status is 1 where rounds are no better than chance
draws on average over the studies.
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
STUDIES = ((6, 20), (8, 30), (12, 30), (12, 50))
SHARE, FIRST, ROUNDS = 0.5, 0.15, 5
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


def abilities(votes: Votes) -> FloatArray:
    fit = Fit.of(votes, side=True, penalty=PULL)
    return fit.abilities_of(fit.parameters)


def simulate(number: int, simulations: int) -> list[tuple[str, FloatArray]]:
    """Return, for random draws and for rounds, τ_b with the order by all, and of either order with the true one."""
    systems, topics = STUDIES[number]
    battles, rng = Battles(systems, 1, 1), np.random.default_rng([SEED, number])
    found = []
    for name in ("random", "rounds"):
        rows = []
        for _ in range(simulations):
            votes = battles.draw(rng, topics)
            some, all_of_them = (
                abilities(one) for one in (votes.where(asked_pairs(rng, votes, adaptive=name == "rounds")), votes)
            )
            orders = ((all_of_them, some), (battles.abilities, some), (battles.abilities, all_of_them))
            rows.append([float(kendalltau(one, other).statistic) for one, other in orders])
        found.append((name, np.array(rows)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=80)
    chosen = parser.parse_args()
    with processes() as pool:
        studies = list(pool.map(partial(simulate, simulations=chosen.simulations), range(len(STUDIES))))
    lines = ["| study | half of the pairs | τ_b with all pairs | a tenth below | with the truth | all with the truth |"]
    lines += ["| --- | --- | ---: | ---: | ---: | ---: |"]
    for (systems, topics), found in zip(STUDIES, studies, strict=True):
        for name, rows in found:
            mean = " | ".join(f"{value:.2f}" for value in rows.mean(axis=0)[1:])
            of_all = f"{rows[:, 0].mean():.2f} | {np.quantile(rows[:, 0], 0.1):.2f}"
            lines.append(f"| {systems} systems, {topics} topics | {name} | {of_all} | {mean} |")
    sys.stdout.write("\n".join(lines) + "\n")
    random, rounds = (np.mean([dict(found)[name][:, 0].mean() for found in studies]) for name in ("random", "rounds"))
    sys.exit(bool(rounds <= random))


if __name__ == "__main__":
    main()
