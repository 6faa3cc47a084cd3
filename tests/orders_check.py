"""Whether what is said of two orders keeps its promise: `python tests/orders_check.py [--simulations 300] [--json]`.

Studies are drawn whose true means of systems by people and by a judge are known. *Another order* is to be said in no
more than 5 of 100 studies whose true orders are equal, however close the systems and however well, or badly, the judge
separates them; *the same order* in no more than 5 of 100 whose true orders have τ below .8. How often each is said
where it is true is printed beside, and promises nothing. The exit status is 1 where one breaks that by more than chance
does in one of 200 simulations (`tests/simulations/promises.py`).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stats.ranking.order_verdict import order_verdict
from stats.ratings import FloatArray
from tests.simulations.promises import broken, processes

SEED = 1971
FALSE_ALARMS = 0.05
# Half of the distance from the worst to the best true mean.
SPREADS = {"the same": 0.0, "close": 0.03, "ordinary": 0.2, "apart": 0.4}
# What the judge makes of people's true means, in order; all but the last three keep the order.
JUDGES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "equal": lambda means: means,
    "gaps of two fifths": lambda means: means * 0.4,
    "next to no gaps": lambda means: means * 1e-6,
    "gaps at the ends alone": lambda means: means**3 / max(float(np.abs(means).max()) ** 2, 1e-9),
    "two in three exchanged": lambda means: _exchanged(means),
    "worse half turned round": lambda means: np.concatenate([means[: len(means) // 2][::-1], means[len(means) // 2 :]]),
    "reversed": lambda means: means[::-1],
}
OTHER_ORDER = ("two in three exchanged", "worse half turned round", "reversed")
SIZES = tuple((systems, topics) for systems in (5, 10, 30) for topics in (6, 10, 25, 50))
ROWS = tuple((judge, spread, *size) for judge in JUDGES for spread in SPREADS for size in SIZES)


def _exchanged(means: FloatArray) -> FloatArray:
    """Exchange the first and the last of every three systems."""
    found = means.copy()
    for start in range(0, len(means) - 2, 3):
        found[[start, start + 2]] = means[[start + 2, start]]
    return found


@dataclass(frozen=True)
class Verdicts:
    """How often either verdict was given, and which of them is false: "other", "same", or none."""

    judge: str
    spread: str
    n_systems: int
    n_topics: int
    same: float
    other: float
    false: str
    n: int

    @property
    def kept(self) -> bool:
        share = {"other": self.other, "same": self.same}.get(self.false, 0.0)
        return not broken(round(share * self.n), self.n, least=0, most=FALSE_ALARMS)


def simulate(judge: str, spread: str, n_systems: int, n_topics: int, *, studies: int, seed: int) -> Verdicts:
    """Draw studies and count the verdicts. Topics are hard or easy for all, and for single systems in both sources."""
    from scipy.stats import kendalltau

    place = (list(JUDGES).index(judge), list(SPREADS).index(spread))
    rng = np.random.default_rng([seed, *place, n_systems, n_topics])
    means = np.linspace(-1, 1, n_systems) * SPREADS[spread]
    by_judge = JUDGES[judge](means)
    said = []
    for _ in range(studies):
        shared = rng.normal(0, 0.2, n_topics) + rng.normal(0, 0.12, (n_systems, n_topics))
        people, other = (
            _scores(true[:, None] + shared + rng.normal(0, noise, shared.shape))
            for true, noise in ((means, 0.05), (by_judge, 0.15))
        )
        found = order_verdict(people, other)
        said.append(found.verdict if found else "")
    false = "other"
    if judge in OTHER_ORDER and SPREADS[spread]:
        false = "same" if round(kendalltau(means, by_judge).statistic, 9) < 0.8 else ""
    same, another = (said.count(verdict) / studies for verdict in ("same", "other"))
    return Verdicts(judge, spread, n_systems, n_topics, same, another, false, studies)


def _scores(values: FloatArray) -> FloatArray:
    """Return scores from 0 to 1 in tenths, as P@10 has them."""
    return np.clip(np.round((values + 1) * 5) / 10, 0, 1)


def table(rows: list[Verdicts]) -> list[str]:
    """Return the verdicts as Markdown: in each cell how often the same, and how often another order was said, in %."""
    sizes = list(dict.fromkeys((one.n_systems, one.n_topics) for one in rows))
    head = [f"{systems} × {topics}" for systems, topics in sizes]
    lines = [f"| judge | systems are | {' | '.join(head)} |", f"| --- | --- |{' --- |' * len(head)}"]
    for judge, spread in dict.fromkeys((one.judge, one.spread) for one in rows):
        mine = [one for one in rows if (one.judge, one.spread) == (judge, spread)]
        cells = [f"{100 * one.same:.0f} / {100 * one.other:.0f}{'' if one.kept else ' !'}" for one in mine]
        lines.append(f"| {judge} | {spread} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=300, help="studies a row (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    began = time.monotonic()
    with processes() as pool:
        run = partial(_row, studies=options.simulations, seed=options.seed)
        rows = list(pool.map(run, ROWS, chunksize=4))
    failed = [one for one in rows if not one.kept]
    if options.json:
        json.dump([asdict(one) | {"kept": one.kept} for one in rows], sys.stdout, indent=1, ensure_ascii=False)
    else:
        sys.stdout.write("\n".join([*table(rows), ""]))
    sys.stderr.write(
        f"{options.simulations} studies a line, seed {options.seed}, {time.monotonic() - began:.0f} s: "
        f"{len(failed)} of {len(rows)} promises are broken.\n"
    )
    sys.exit(bool(failed))


def _row(row: tuple[str, str, int, int], *, studies: int, seed: int) -> Verdicts:
    return simulate(*row, studies=studies, seed=seed)


if __name__ == "__main__":
    main()
