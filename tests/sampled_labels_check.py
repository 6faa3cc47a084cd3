"""What can be estimated from drawn labels: `python tests/sampled_labels_check.py [--simulations 400] [--json]`.

Draws labels of a simulated pool many times, by each topic its share or from all alike, and estimates four measures of
four systems. Printed are the truth, how far estimates lie off it on average, how often 95 % intervals over topics hold
it, and the highest estimate. P@10 and DCG@10, which leaderboards give, are to be within .01 and .1 of the truth on
average and to hold it in 92 % at least, but for the simulation's error; the exit status is 1 where one does not. The
others show why they are not given: inferred AP (Yilmaz and Aslam, CIKM 2006), nDCG@10 by an ideal of grades as often as
the sample says, and the plain sum of Horvitz and Thompson for P@10.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stats.intervals import SHARE, UNBOUNDED, mean_interval
from stats.measures.grades import GradeTable
from stats.ranking.qrels_scoring import parse_qrels_measure, score_qrels
from stats.ranking.sampled_labels import LabelDraw
from stats.ratings import BoolArray, FloatArray, IntArray

SEED = 1971
N_TOPICS, POOL, LABELS, K, RELEVANT = 43, 58, 400, 10, 2
SYSTEMS = {"random": 0.0, "fair": 1.0, "good": 2.5, "near-perfect": 12.0}
GIVEN = {"P@10": 0.01, "DCG@10": 0.1}
# A share that would come from a true 92 % in one of a hundred runs is no miss.
LEAST, QUANTILE = 0.92, 2.58
DISCOUNTS = 1 / np.log2(np.arange(POOL) + 2)


@dataclass(frozen=True)
class Outcome:
    """A measure of a system over all draws; `held`: the share of intervals with the truth, `highest`: the largest."""

    draw: str
    measure: str
    system: str
    truth: float
    bias: float
    held: float
    highest: float
    simulations: int

    @property
    def kept(self) -> bool:
        if self.measure not in GIVEN:
            return True
        chance = QUANTILE * np.sqrt(LEAST * (1 - LEAST) / self.simulations)
        return bool(abs(self.bias) <= GIVEN[self.measure] and self.held >= LEAST - chance)


def a_pool(rng: np.random.Generator) -> tuple[FloatArray, dict[str, IntArray]]:
    """Return grades 0–3 of each topic's pool, topics × passages, and each system's order of them, as column numbers."""
    rich = rng.beta(2, 4, N_TOPICS)
    grades = np.array([rng.choice(4, POOL, p=[1 - r, 0.4 * r, 0.35 * r, 0.25 * r]) for r in rich], dtype=np.float64)
    orders = {
        name: np.argsort(-(skill * grades / 3 + rng.normal(0, 0.5, grades.shape)), axis=1)
        for name, skill in SYSTEMS.items()
    }
    return grades, orders


def draw_labels(rng: np.random.Generator, how: str) -> tuple[BoolArray, float]:
    """Return which passages are labelled, topics × passages, and with which probability."""
    picked = np.zeros((N_TOPICS, POOL), dtype=bool)
    if how == "from all alike":
        picked.flat[rng.choice(picked.size, LABELS, replace=False)] = True
        return picked, LABELS / picked.size
    share = LABELS // N_TOPICS
    for row in picked:
        row[rng.choice(POOL, share, replace=False)] = True
    return picked, share / POOL


def given(grades: FloatArray, order: IntArray, picked: BoolArray, probability: float) -> dict[str, FloatArray]:
    """Return what leaderboards estimate, topic by topic."""
    names = tuple(f"d{place}" for place in range(POOL))
    tables = {
        f"t{n}": GradeTable(names, ("",), np.where(row, of, np.nan)[:, None])
        for n, (row, of) in enumerate(zip(picked, grades, strict=True))
    }
    weights = {
        f"t{n}": GradeTable(names, ("",), np.where(row, 1 / probability, np.nan)[:, None])
        for n, row in enumerate(picked)
    }
    draw = LabelDraw(weights, n_labelled=int(picked.sum()), n_items=picked.size, n_waiting=0)
    rankings = {"system": {f"t{n}": [names[int(column)] for column in row] for n, row in enumerate(order)}}
    found = {}
    for name, asked in (("P@10", f"P(rel={RELEVANT})@10"), ("DCG@10", "DCG@10")):
        measure = parse_qrels_measure(asked, threshold=RELEVANT)
        found[name] = score_qrels(measure, tables, rankings, draw=draw).table.to_numpy()[0]
    return found


def not_given(grades: FloatArray, order: IntArray, picked: BoolArray, probability: float) -> dict[str, FloatArray]:
    """Return the other estimates, topic by topic; nDCG and AP are NaN where no labelled passage is relevant."""
    ranked: FloatArray = np.take_along_axis(grades, order, axis=1)
    known: BoolArray = np.take_along_axis(picked, order, axis=1)
    plain = ((ranked >= RELEVANT) & known)[:, :K].sum(axis=1) / probability / K
    dcg = (ranked * known * DISCOUNTS)[:, :K].sum(axis=1) / probability
    ideal = np.array(
        [_ideal(np.repeat(of[row], round(1 / probability))) for of, row in zip(grades, picked, strict=True)]
    )
    ndcg = np.divide(dcg, ideal, out=np.full(N_TOPICS, np.nan), where=ideal > 0)
    inferred = np.array([_inferred_ap(row >= RELEVANT, labelled) for row, labelled in zip(ranked, known, strict=True)])
    return {"infAP": inferred, "nDCG@10": ndcg, "P@10, plain sum": plain}


def _ideal(grades: FloatArray) -> float:
    best = np.sort(grades)[::-1][:K]
    return float((best * DISCOUNTS[: len(best)]).sum())


def _inferred_ap(relevant: BoolArray, known: BoolArray, smoothing: float = 1e-5) -> float:
    """Return infAP of a ranking of the whole pool: the precision expected at each relevant labelled passage."""
    found = []
    for place in np.flatnonzero(relevant & known):
        above = known[:place]
        share = (relevant[:place][above].sum() + smoothing) / (above.sum() + 2 * smoothing)
        found.append((1 + place * share) / (place + 1))
    return float(np.mean(found)) if found else float("nan")


def true_values(grades: FloatArray, order: IntArray) -> dict[str, float]:
    everything = np.ones(grades.shape, dtype=bool)
    found = not_given(grades, order, everything, 1.0)
    ranked = np.take_along_axis(grades, order, axis=1)
    means = {name: float(np.nanmean(of)) for name, of in found.items()}
    return means | {"P@10": means["P@10, plain sum"], "DCG@10": float((ranked * DISCOUNTS)[:, :K].sum(axis=1).mean())}


def simulate(how: str, simulations: int, seed: int) -> list[Outcome]:
    """Draw topics and labels anew each time; the truth is that of very many topics."""
    rng = np.random.default_rng([seed, len(how)])
    truths: dict[tuple[str, str], list[float]] = {}
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for _ in range(simulations):
        grades, orders = a_pool(rng)
        picked, probability = draw_labels(rng, how)
        for system, order in orders.items():
            for measure, value in true_values(grades, order).items():
                truths.setdefault((measure, system), []).append(value)
            scores = given(grades, order, picked, probability) | not_given(grades, order, picked, probability)
            for measure, of in scores.items():
                bounds = UNBOUNDED if measure in ("DCG@10", "P@10, plain sum") else SHARE
                one = mean_interval(of[~np.isnan(of)].tolist(), within=bounds)
                low, high = (one.low, one.high) if one.low is not None and one.high is not None else (0.0, 0.0)
                found.setdefault((measure, system), []).append((one.value or 0.0, low, high))
    rows = []
    for (measure, system), estimates in found.items():
        truth, (values, low, high) = float(np.mean(truths[measure, system])), np.array(estimates).T
        held = float(((low <= truth + 1e-9) & (truth <= high + 1e-9)).mean())
        rows.append(
            Outcome(how, measure, system, truth, float(values.mean() - truth), held, float(values.max()), simulations)
        )
    return sorted(rows, key=lambda row: row.measure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=400, help="draws of each kind (400)")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true", help="print every figure")
    arguments = parser.parse_args()
    started = time.monotonic()
    rows = [
        row for how in ("from all alike", "by topic") for row in simulate(how, arguments.simulations, arguments.seed)
    ]
    if arguments.json:
        json.dump([asdict(row) for row in rows], sys.stdout, indent=1, ensure_ascii=False)
    else:
        sys.stdout.write("| labels | measure | system | truth | off by | held, % | highest |\n")
        sys.stdout.write("| --- | --- | --- | ---: | ---: | ---: | ---: |\n")
        for row in rows:
            sys.stdout.write(
                f"| {row.draw} | {row.measure} | {row.system} | {row.truth:.3f} | {row.bias:+.3f} "
                f"| {100 * row.held:.1f} | {row.highest:.3f} |{'' if row.kept else ' ✗'}\n"
            )
    outside = [row for row in rows if not row.kept]
    sys.stderr.write(
        f"{arguments.simulations} draws of {LABELS} labels from {N_TOPICS} topics of {POOL} passages, seed "
        f"{arguments.seed}, {time.monotonic() - started:.0f} s: {len(outside)} of "
        f"{2 * len(SYSTEMS) * len(GIVEN)} that are given miss it.\n"
    )
    sys.exit(bool(outside))


if __name__ == "__main__":
    main()
