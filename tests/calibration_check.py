"""How often our 95 % intervals hold the truth: `python tests/calibration_check.py [--simulations 500] [--json]`.

Draws a study many times from a population whose truth is known, and counts. From 6 topics, 30 items or 100 labels up
an interval is to hold the truth in 93 to 97 of 100 studies; precision, recall, F1 and a near-perfect judge's figures,
which a few items decide, in 93 at least. The exit status is 1 where one breaks that by more than chance does in one of
200 simulations (`tests/simulations/promises.py`). Where a figure is within half a point of these bounds after so many
studies three times as many are drawn, and eight times where it is beyond them then. Correlations of leaderboards, and
scores that nothing is demanded of, are printed beside.

A cell reads: held in % (below the truth / above it, in %). In square brackets: too few topics for the rule to give it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.simulations import agreement, battles, corrected, errors, scenarios, suggestions, systems
from tests.simulations.promises import processes

SEED = 1971
HEADS = {"topics": "topics", "items": "items, without topics", "labels": "labels, without topics"}


@cache
def all_scenarios() -> list[scenarios.Scenario]:
    modules = (agreement, corrected, systems, suggestions, errors, battles)
    return [scenario for module in modules for scenario in module.scenarios()]


def simulate(number: int, simulations: int, seed: int) -> list[scenarios.Coverage]:
    """Run one scenario, in a process of its own."""
    agreement.without_libraries()
    return scenarios.simulate(all_scenarios()[number], np.random.default_rng([seed, number]), simulations)


def table_of(rows: list[scenarios.Coverage]) -> str:
    """Return the rows as Markdown: a table for each group, a line for each figure of a study, a column for each n."""
    lines: list[str] = []
    for group in dict.fromkeys(row.group for row in rows):
        own = [row for row in rows if row.group == group]
        sizes = sorted({row.n for row in own})
        lines += ["", f"| figure | study | {' | '.join(map(str, sizes))} |", f"| --- | --- |{' ---: |' * len(sizes)}"]
        for interval, study in dict.fromkeys((row.interval, row.study) for row in own):
            of = {row.n: row for row in own if (row.interval, row.study) == (interval, study)}
            cells = " | ".join(cell(of[n]) if n in of else "" for n in sizes)
            lines.append(f"| {interval} | {study} | {cells} |")
    return "\n".join(lines).strip()


def cell(row: scenarios.Coverage) -> str:
    if row.undefined > 0.8 * row.simulations:
        return "–"
    if not row.shown:
        return f"[{100 * row.covered:.1f}]"
    numbers = f"{100 * row.covered:.1f} ({100 * row.too_low:.1f}/{100 * row.too_high:.1f})"
    return numbers + ("" if row.kept else " ✗")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=500, help="studies drawn for each cell at least (500)")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", default="", metavar="WORDS", help="studies with these words in their name")
    parser.add_argument("--json", action="store_true", help="print every figure, with widths")
    chosen = parser.parse_args(arguments)
    started = time.monotonic()
    numbers = [number for number, scenario in enumerate(all_scenarios()) if chosen.only in scenario.study]
    run = partial(simulate, simulations=chosen.simulations, seed=chosen.seed)
    with processes() as pool:
        rows = [row for found in pool.map(run, numbers) for row in found]
    if chosen.json:
        json.dump([asdict(row) for row in rows], sys.stdout, indent=1, ensure_ascii=False)
    else:
        sys.stdout.write(f"{table_of(rows)}\n\n")
    demanded = [row for row in rows if row.looked_at]
    outside = [row for row in demanded if not row.kept]
    sys.stderr.write(
        f"{min(row.simulations for row in demanded):,} to {max(row.simulations for row in demanded):,} simulations a "
        f"cell, seed {chosen.seed}, {time.monotonic() - started:.0f} s: {len(outside)} of {len(demanded)} intervals "
        f"break what is demanded; {sum(row.within(0) for row in demanded)} were within 93 to 97 % (or above 93).\n"
    )
    sys.exit(bool(outside))


if __name__ == "__main__":
    main()
