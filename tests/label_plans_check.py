"""Whether plans of rankings' measures come true: `python tests/label_plans_check.py [--simulations 100] [--json]`.

On TREC DL 2019 as in `corrected_scores_check`: as many topics are drawn with replacement, labels of a part of their
passages are a pilot, and differences of two systems are planned. The standard error that so many more labels give in
truth is that of drawing so many; asked for the number of labels that gives it, the planner's 80 % range is to hold it
in 70 to 90 % of the draws. The exit status is 1 where it does not.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stats.calibration.planning import POWER, noncentrality
from stats.calibration.topic_sums import LabelledItems, Shares
from stats.intervals import SHARE
from stats.ranking.corrected_ratios import MOST_OFF, Pool, RatioMeasure
from stats.ranking.corrected_scores import SummedScores
from stats.ranking.label_pilots import RESAMPLES_OF_LABELS, TopicPilot
from stats.ratings import BoolArray, FloatArray
from tests.corrected_scores_check import (
    DL19,
    RATED,
    RELEVANT,
    TREC_EVAL,
    Collection,
    K,
    draw_labels,
    graded_by,
    of_dl19,
    scores_by_topic,
)
from tests.simulations.promises import processes

SEED = 1971
LEAST, MOST = 0.7, 0.9
# The measure, the judge, how many topics, and which shares of the passages are labelled: the pilot's, the planned.
CELLS = (
    ("nDCG@10", "FLAN-T5", 43, 0.3, 0.6),
    ("nDCG@10", "FLAN-T5", 43, 0.15, 0.45),
    ("nDCG@10", "better", 43, 0.3, 0.6),
    ("nDCG@10", "FLAN-T5", 25, 0.3, 0.6),
    ("nDCG@10", "FLAN-T5", 15, 0.3, 0.6),
    ("P@10", "FLAN-T5", 43, 0.3, 0.6),
    ("P@10", "FLAN-T5", 43, 0.15, 0.45),
    ("P@10", "FLAN-T5", 25, 0.3, 0.6),
)


@dataclass(frozen=True)
class Outcome:
    """Of all draws and pairs: the median of planned over true labels, and how often the range holds them."""

    measure: str
    judge: str
    topics: int
    pilot: float
    planned: float
    given: float
    ratio: float
    held: float
    above: float
    below: float

    @property
    def kept(self) -> bool:
        return LEAST <= self.held <= MOST


def scores(
    study: Collection, judge: FloatArray, picked: BoolArray, probabilities: FloatArray, measure: str
) -> tuple[FloatArray, FloatArray] | None:
    """Return the systems' corrected scores by topic and how far other labels move them; None where not given."""
    n_topics = len(study.people)
    topics = np.repeat(np.arange(n_topics), [len(of) for of in study.people])
    starts = np.searchsorted(topics, np.arange(n_topics))
    grades = np.where(picked, np.concatenate(study.people), np.nan)
    weights = np.where(picked, 1 / probabilities, np.nan)
    rankings = [[of + start for of, start in zip(one, starts, strict=True)] for one in study.rankings]
    names = [str(topic) for topic in range(n_topics)]
    if measure == "nDCG@10":
        pool = Pool(grades, judge, weights, topics, n_topics)
        found = RatioMeasure("nDCG", K).corrected(pool, rankings, study.systems, names)
        return None if found.mean_off > MOST_OFF["nDCG"] else (found.table.to_numpy(), found.deviations)
    tops = [(system, top[:K]) for system, one in enumerate(rankings) for top in one]
    systems = np.concatenate([np.full(len(top), system) for system, top in tops])
    listed = np.concatenate([top for _, top in tops])
    relevant = np.where(picked, grades >= RELEVANT, np.nan)
    items = LabelledItems(relevant, (judge >= RATED).astype(np.float64), weights, topics, n_topics)
    shares = Shares(systems, listed, np.full(len(listed), 1 / K), len(rankings))
    everywhere = np.ones((len(rankings), n_topics), dtype=bool)
    return SummedScores(items, shares, tuple(study.systems), SHARE, everywhere).linear(RESAMPLES_OF_LABELS)


def scored_by(judge: FloatArray, study: Collection, measure: str) -> FloatArray:
    """Return the systems' scores by topic with the judge's grades for labels."""
    starts = np.cumsum([len(of) for of in study.people])[:-1]
    grades = np.split(judge if measure == "nDCG@10" else np.where(judge >= RATED, RELEVANT, 0), starts)
    return scores_by_topic(replace(study, people=grades), {measure: TREC_EVAL[measure]})[measure]


def simulate(cell: tuple[str, str, int, float, float], n: int) -> Outcome:
    measure, by, n_topics, pilot, planned = cell
    study, rng = of_dl19(DL19), np.random.default_rng([SEED, CELLS.index(cell)])
    pilots: list[tuple[FloatArray, FloatArray, FloatArray, int, int]] = []
    squares = []
    for _ in range(n):
        again = study.drawn_again(rng.integers(0, len(study.people), n_topics))
        topics = np.repeat(np.arange(n_topics), [len(of) for of in again.people])
        judge = graded_by(rng, by, again)
        picked, probabilities = draw_labels(rng, "from all alike", pilot, topics, judge)
        if found := scores(again, judge, picked, probabilities, measure):
            pilots.append((*found, scored_by(judge, again, measure), int(picked.sum()), len(topics)))
        later = scores(again, judge, *draw_labels(rng, "from all alike", planned, topics, judge), measure)
        if later:
            squares.append((later[0][0] - later[0][1:]).var(axis=1, ddof=1) / n_topics)
    errors = np.sqrt(np.mean(squares, axis=0))
    ratios, held, above, below = [], [], [], []
    for values, deviations, by_judge, n_labelled, n_items in pilots:
        for place, error in enumerate(errors.tolist(), start=1):
            difference = error * noncentrality(n_topics - 1, POWER)
            pair = values[0] - values[place], deviations[:, 0] - deviations[:, place], by_judge[0] - by_judge[place]
            plan = TopicPilot(*pair, n_labelled, n_items).plan_separation(difference)
            assert plan.needed_range is not None
            (low, high), true = plan.needed_range, planned * n_items
            ratios.append((plan.needed or n_items) / true)
            above.append(low > true)
            below.append(high is not None and high < true)
            held.append(not above[-1] and not below[-1])
    figures = (float(np.median(ratios)), *(float(np.mean(of)) for of in (held, above, below)))
    return Outcome(measure, by, n_topics, pilot, planned, len(pilots) / n, *figures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=100, help="draws for each cell (100)")
    parser.add_argument("--json", action="store_true", help="print every figure")
    arguments = parser.parse_args()
    if not DL19.is_file():
        sys.stderr.write(f"Left out: {DL19.name} is not here.\n")
        return
    started = time.monotonic()
    with processes() as pool:
        rows = list(pool.map(partial(simulate, n=arguments.simulations), CELLS))
    if arguments.json:
        json.dump([asdict(row) for row in rows], sys.stdout, indent=1, ensure_ascii=False)
    else:
        sys.stdout.write("\n".join([HEAD, *map(row_of, rows)]) + "\n\n")
    outside = [row for row in rows if not row.kept]
    sys.stderr.write(
        f"{arguments.simulations} draws of a kind, seed {SEED}, {time.monotonic() - started:.0f} s: {len(outside)} of "
        f"{len(rows)} ranges hold the number of labels in fewer than {LEAST:.0%} or more than {MOST:.0%}.\n"
    )
    sys.exit(bool(outside))


HEAD = (
    "| measure | judge | topics | pilot → planned | given, % | planned / true | range holds, % | above | below |\n"
    "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |"
)


def row_of(row: Outcome) -> str:
    shares = " | ".join(f"{100 * share:.0f}" for share in (row.held, row.above, row.below))
    head = f"| {row.measure} | {row.judge} | {row.topics} | {row.pilot:.0%} → {row.planned:.0%}"
    return f"{head} | {100 * row.given:.0f} | {row.ratio:.2f} | {shares} |{'' if row.kept else ' ✗'}"


if __name__ == "__main__":
    main()
