"""Whether corrected scores hold the truth, with few topics and whatever was drawn: `python tests/labels_check.py`.

Draws studies with known truth, and labels: single items, texts of five items, or whole topics. PPI++, the estimate by
the judge's grade and people alone are to hold the truth in 93 to 97 of 100 studies, and Rogan and Gladen's correction,
where it is given at all, in 93 or more. The exit status is 1 where one breaks that by more than chance does in one of
200 simulations (`tests/simulations/promises.py`).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stats.calibration.estimators import correct
from stats.calibration.labels import Labels
from stats.intervals import Estimate
from tests.simulations.promises import MOST, broken, processes

SEED = 1971
ITEMS_A_TOPIC = 50
Rng = np.random.Generator


@dataclass(frozen=True)
class Judge:
    """A judge of six grades, and what people say: topics differ in their share of yes, and the judge errs by topic.

    `sees`: how far the judge sees what people see (0–1); `bias`: the sd over topics of what it adds.
    """

    name: str
    middle: float = 0.0
    apart: float = 1.0
    sees: float = 0.7
    bias: float = 0.3


@dataclass(frozen=True)
class Design:
    """How many topics there are, what is drawn (`items`, `texts`, `topics`) and how many labels."""

    n_topics: int
    drawn: str
    n_labels: int


JUDGES = (
    Judge("a good judge", sees=0.95),
    Judge("a fair judge", bias=1.0),
    Judge("a judge that errs by topic", apart=0.7, bias=2.0),
    Judge("a fair judge, .2 yes", middle=-1.7, bias=1.0),
)
DESIGNS = (
    *(Design(n, "items", max(10 * n, 60)) for n in (5, 6, 8, 10, 15, 20, 30, 50)),
    *(Design(n, "texts", 10 * n) for n in (10, 20, 50)),
    *(Design(4 * n, "topics", ITEMS_A_TOPIC * n) for n in (6, 10, 20)),
)
METHODS = {"people": "people alone", "ppi": "PPI++", "post_stratified": "by grade", "rogan_gladen": "Rogan–Gladen"}


@cache
def truth(judge: Judge) -> float:
    wanted = judge.middle + np.random.default_rng(0).normal(0, judge.apart, 400_000)
    return float((1 / (1 + np.exp(-wanted))).mean())


def draw(rng: Rng, judge: Judge, design: Design) -> Labels:
    """Draw a study and its labels."""
    n = design.n_topics * ITEMS_A_TOPIC
    topics = np.arange(n) // ITEMS_A_TOPIC
    wanted = judge.middle + rng.normal(0, judge.apart, design.n_topics)[topics]
    said = rng.logistic(0, 1, n)
    seen = wanted + judge.sees * said + rng.normal(0, 1.5 * (1 - judge.sees) + 0.2, n)
    grades = np.digitize(seen + rng.normal(0, judge.bias, design.n_topics)[topics], (-2, -1, 0, 1, 2)).astype(float)
    units = np.arange(n) // {"items": 1, "texts": 5, "topics": ITEMS_A_TOPIC}[design.drawn]
    n_units = int(units.max()) + 1
    n_drawn = max(round(design.n_labels / n * n_units), 2)
    labelled = np.isin(units, rng.choice(n_units, n_drawn, replace=False))
    weights = np.where(labelled, n_units / n_drawn, np.nan)
    people = np.where(labelled, wanted + said > 0, np.nan)
    return Labels(people, (grades >= 3).astype(np.float64), grades, weights, topics, per_topic=True)


def independent(rng: Rng, sensitivity: float, specificity: float, yes: float, n_labels: int) -> Labels:
    """Draw 2,000 independent items with a random sample of labels, for Rogan and Gladen."""
    truly = rng.random(2_000) < yes
    judge = np.where(truly, rng.random(2_000) < sensitivity, rng.random(2_000) >= specificity)
    people = np.full(2_000, np.nan)
    rows = rng.choice(2_000, n_labels, replace=False)
    people[rows] = truly[rows]
    return Labels(people, judge * 1.0, weights=np.where(np.isnan(people), np.nan, 2_000 / n_labels))


# Sensitivity, specificity, share of yes, labels.
ROGAN_GLADEN = tuple(
    (*judge, n) for judge in ((0.9, 0.9, 0.5), (0.85, 0.9, 0.15), (0.7, 0.75, 0.3), (0.5, 0.7, 0.3)) for n in (100, 300)
)


@dataclass(frozen=True)
class Coverage:
    """How often an interval held the truth where it was given, and how often it was not."""

    study: str
    drawn: str
    method: str
    covered: float
    refused: float
    n: int

    @property
    def kept(self) -> bool:
        most = 1.0 if self.method == METHODS["rogan_gladen"] else MOST
        return not broken(round(self.covered * self.n), self.n, most=most)


def coverage(study: str, drawn: str, method: str, estimates: list[Estimate], true: float) -> Coverage:
    held = [one.low <= true <= one.high for one in estimates if one.low is not None and one.high is not None]
    return Coverage(study, drawn, method, sum(held) / max(len(held), 1), 1 - len(held) / len(estimates), len(held))


def simulate(judge: Judge, design: Design, *, studies: int, seed: int) -> list[Coverage]:
    rng = np.random.default_rng([seed, JUDGES.index(judge), DESIGNS.index(design)])
    found: dict[str, list[Estimate]] = {}
    for _ in range(studies):
        for name, score in correct(draw(rng, judge, design), label_shift=True).scores.items():
            if name in METHODS:
                found.setdefault(METHODS[name], []).append(score.estimate)
    drawn = {
        "items": f"{design.n_labels} items in {design.n_topics} topics",
        "texts": f"{design.n_labels // 5} whole texts in {design.n_topics} topics",
        "topics": f"{design.n_labels // ITEMS_A_TOPIC} of {design.n_topics} topics, whole",
    }[design.drawn]
    return [coverage(judge.name, drawn, method, some, truth(judge)) for method, some in found.items()]


def simulate_rogan_gladen(
    sensitivity: float, specificity: float, yes: float, n_labels: int, *, studies: int, seed: int
) -> list[Coverage]:
    rng = np.random.default_rng([seed, n_labels, round(100 * sensitivity)])
    found = [
        correct(independent(rng, sensitivity, specificity, yes, n_labels), label_shift=True).rogan_gladen.estimate
        for _ in range(studies)
    ]
    study = f"Se {sensitivity}, Sp {specificity}, {yes} yes"
    return [coverage(study, f"{n_labels} independent labels, {study}", METHODS["rogan_gladen"], found, yes)]


def table_of(rows: list[Coverage]) -> str:
    """Return Markdown: a line for each draw with the least and most that the judges' intervals hold, in %."""
    methods = list(METHODS.values())
    lines = [f"| labels | {' | '.join(methods)} |", f"| --- |{' --- |' * len(methods)}"]
    for drawn in dict.fromkeys(row.drawn for row in rows):
        own = [[row for row in rows if (row.drawn, row.method) == (drawn, method)] for method in methods]
        lines.append(f"| {drawn} | {' | '.join(map(_cell, own))} |")
    return "\n".join(lines)


def _cell(rows: list[Coverage]) -> str:
    if not rows:
        return ""
    held, refused = sorted(row.covered for row in rows), max(row.refused for row in rows)
    text = f"{100 * held[0]:.1f}–{100 * held[-1]:.1f}"
    text += f" (refused up to {100 * refused:.0f} %)" if refused > 0.005 else ""
    return text + "".join(" ✗" for row in rows if not row.kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=500, help="studies drawn for each line (500)")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true", help="print every figure")
    arguments = parser.parse_args()
    started, chosen = time.monotonic(), {"studies": arguments.simulations, "seed": arguments.seed}
    with processes() as pool:
        lines = [(judge, design) for judge in JUDGES for design in DESIGNS]
        found = list(pool.map(partial(simulate, **chosen), *zip(*lines, strict=True)))
        found += pool.map(partial(simulate_rogan_gladen, **chosen), *zip(*ROGAN_GLADEN, strict=True))
    rows = [row for some in found for row in some]
    if arguments.json:
        json.dump([asdict(row) for row in rows], sys.stdout, indent=1, ensure_ascii=False)
    else:
        sys.stdout.write(f"{table_of(rows)}\n\n")
    outside = [row for row in rows if not row.kept]
    sys.stderr.write(
        f"{arguments.simulations} studies a line, seed {arguments.seed}, {time.monotonic() - started:.0f} s: "
        f"{len(outside)} of {len(rows)} intervals hold too little or too much.\n"
    )
    sys.exit(bool(outside))


if __name__ == "__main__":
    main()
