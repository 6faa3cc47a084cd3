"""Whether corrected scores hold the truth: `python tests/corrected_scores_check.py [--simulations 2000] [--json]`.

On TREC DL 2019 (NIST's relevance; FLAN-T5's highest self-rating of a passage, a judge that is right more often, and one
that grades by chance), of which ../shared/data has 43 topics, 9,260 passages and 37 systems. Each time as many topics
are drawn with replacement, labels are drawn of their passages, and systems are corrected by them. An interval is of the
43 topics' mean over all labels. Over the systems, 95 % intervals of a measure, and of differences from the first
system, are to hold the truth in 93 to 97 % of the draws; the exit status is 1 where they do not. AP and nDCG@10 are
over the draws that they are given in, and left out where these are fewer than a tenth. In small pools of few topics
(`SMALL`) the two are to hold it in 93 % at least.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import sys
import time
from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stats.calibration.active_sampling import draw_by_doubt
from stats.calibration.topic_sums import LabelledItems, Shares
from stats.intervals import SHARE, UNBOUNDED, Estimate, mean_interval
from stats.measures.trec import system_scores
from stats.ranking.corrected_ratios import MOST_OFF, Pool, Ratio, RatioMeasure
from stats.ranking.corrected_scores import SummedScores
from stats.ratings import BoolArray, FloatArray, IntArray
from tests.simulations.promises import MOST, broken

SEED = 1971
Rng = np.random.Generator
DL19 = (
    Path(__file__).resolve().parents[2]
    / "shared/data/rubric/DL19-graded-t5-rating-genq-exam-qrels-runs-with-text.jsonl.gz"
)
K, RELEVANT, RATED = 10, 2, 4
EVERY = 6  # of 37 systems, by name
DISCOUNTS = 1 / np.log2(np.arange(K) + 2)
LEAST_GIVEN = 0.1
NAN = float("nan")
NOTHING = (NAN, NAN, NAN, NAN, NAN, NAN, NAN)
# The judge, how labels are drawn, and which share of the passages.
CELLS = [
    *(("FLAN-T5", how, rate) for how in ("from all alike", "by topic", "by doubt") for rate in (0.1, 0.2, 0.5)),
    *((judge, "from all alike", rate) for judge in ("better", "useless") for rate in (0.1, 0.2, 0.5)),
]

# Passages in each topic's pool, topics, and which share of the passages is labelled, topic by topic.
SMALL = [(size, topics, rate) for size in (15, 30, 60) for topics in (6, 20) for rate in (0.3, 0.5, 0.7)]


@dataclass(frozen=True)
class Collection:
    """Relevance and the judge's grades of each topic's passages, and systems' rankings as places among them."""

    people: list[FloatArray]
    judge: list[FloatArray]
    systems: list[str]
    rankings: list[list[IntArray]]

    def drawn_again(self, topics: IntArray) -> Collection:
        """Return these topics, the same one several times if it is there."""
        return Collection(
            [self.people[topic] for topic in topics],
            [self.judge[topic] for topic in topics],
            self.systems,
            [[of[topic] for topic in topics] for of in self.rankings],
        )

    def of_pools(self, size: int) -> Collection:
        """Return the study with so many passages a topic: those that any system ranks highest."""
        people: list[FloatArray] = []
        judge: list[FloatArray] = []
        rankings: list[list[IntArray]] = [[] for _ in self.systems]
        for topic, grades in enumerate(self.people):
            best = np.full(len(grades), len(grades))
            for of in self.rankings:
                best[of[topic]] = np.minimum(best[of[topic]], np.arange(len(of[topic])))
            kept = np.sort(np.argsort(best, kind="stable")[:size])
            places = np.full(len(grades), -1)
            places[kept] = np.arange(len(kept))
            people.append(grades[kept])
            judge.append(self.judge[topic][kept])
            for own, of in zip(rankings, self.rankings, strict=True):
                found = places[of[topic]]
                own.append(found[found >= 0])
        return Collection(people, judge, self.systems, rankings)


@dataclass(frozen=True)
class Outcome:
    """A measure over all draws and systems: `held` are the shares of intervals, and of differences, with the truth."""

    judge: str
    draw: str
    rate: float
    labels: int
    measure: str
    given: float
    off: float
    width: float
    by_people: float
    held: float
    least: float
    most: float
    pairs: float
    simulations: int
    most_held: float = MOST

    @property
    def kept(self) -> bool:
        n = round(self.given * self.simulations)
        shares = self.held, self.pairs
        return self.given < LEAST_GIVEN or not any(broken(round(one * n), n, most=self.most_held) for one in shares)


def of_dl19(path: Path) -> Collection:
    people, judge = [], []
    ranked: dict[str, dict[int, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    with gzip.open(path, "rt") as lines:
        for topic, line in enumerate(lines):
            relevance: list[int] = []
            rated: list[int] = []
            for passage in json.loads(line)[1]:
                known = passage.get("paragraph_data") or {}
                if not known.get("judgments") or not passage.get("exam_grades"):
                    continue
                for one in known.get("rankings") or []:
                    ranked[one["method"]][topic].append((one["rank"], len(relevance)))
                relevance.append(max(one["relevance"] for one in known["judgments"]))
                rated.append(max(one["self_rating"] for one in passage["exam_grades"][0]["self_ratings"]))
            people.append(np.array(relevance, dtype=np.float64))
            judge.append(np.array(rated, dtype=np.float64))
    systems = sorted(ranked)[::EVERY]
    rankings = [
        [
            np.array([place for _, place in sorted(ranked[system][topic])], dtype=np.int64)
            for topic in range(len(people))
        ]
        for system in systems
    ]
    return Collection(people, judge, systems, rankings)


def graded_by(rng: Rng, judge: str, study: Collection) -> FloatArray:
    """Return a judge's grades of all passages."""
    people, grades = np.concatenate(study.people), np.concatenate(study.judge)
    if judge == "better":
        return np.where(rng.random(len(people)) < 0.8, np.array([0.0, 2, 4, 5])[people.astype(int)], grades)
    return rng.integers(0, 6, len(people)).astype(np.float64) if judge == "useless" else grades


def draw_labels(rng: Rng, how: str, rate: float, topics: IntArray, judge: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Return which passages are labelled, and with which probability each was to be."""
    n_items = len(topics)
    n = round(rate * n_items)
    picked = np.zeros(n_items, dtype=bool)
    if how == "by doubt":
        doubt = 0.5 - np.abs(judge / 5 - 0.5)
        drawn = draw_by_doubt(doubt, n, available=np.ones(n_items, dtype=bool), seed=int(rng.integers(2**32)))
        return drawn.items, drawn.probabilities
    if how == "from all alike":
        picked[rng.choice(n_items, n, replace=False)] = True
        return picked, np.full(n_items, n / n_items)
    probabilities = np.empty(n_items)
    for topic in np.unique(topics):
        rows = np.flatnonzero(topics == topic)
        of_topic = max(2, round(rate * len(rows)))
        picked[rng.choice(rows, of_topic, replace=False)] = True
        probabilities[rows] = of_topic / len(rows)
    return picked, probabilities


# A measure's estimates by system, by people alone, and of the first system minus each other; None: not given.
Found = tuple[list[Estimate], list[Estimate], list[Estimate]] | None


def estimates(
    study: Collection, judge: FloatArray, picked: BoolArray, probabilities: FloatArray, *, ratios: bool
) -> dict[str, Found]:
    topics = np.repeat(np.arange(len(study.people)), [len(of) for of in study.people])
    starts = np.searchsorted(topics, np.arange(len(study.people)))
    grades = np.where(picked, np.concatenate(study.people), np.nan)
    weights = np.where(picked, 1 / probabilities, np.nan)
    rankings = [[of + start for of, start in zip(one, starts, strict=True)] for one in study.rankings]
    tops = [(system, top[:K]) for system, one in enumerate(rankings) for top in one]
    systems = np.concatenate([np.full(len(top), system) for system, top in tops])
    listed = np.concatenate([top for _, top in tops])
    places = np.concatenate([np.arange(len(top)) for _, top in tops])
    relevant = np.where(picked, grades >= RELEVANT, np.nan)
    found: dict[str, Found] = {}
    for name, people, by_judge, shares, within in (
        ("P@10", relevant, judge >= RATED, np.full(len(places), 1 / K), SHARE),
        ("DCG@10", grades, judge * 3 / 5, DISCOUNTS[places], UNBOUNDED),
    ):
        items = LabelledItems(people, by_judge.astype(np.float64), weights, topics, len(study.people))
        counted = np.ones((len(rankings), len(study.people)), dtype=bool)
        parts = Shares(systems, listed, shares, len(rankings))
        board = SummedScores(items, parts, tuple(study.systems), within, counted).corrected()
        scores = [board.scores[system] for system in study.systems]
        differences = [pair.difference for pair in board.pairs if pair.first == study.systems[0]]
        found[name] = [one.corrected for one in scores], [one.people for one in scores], differences
    if ratios:
        pool = Pool(grades, judge, weights, topics, len(study.people))
        names = [str(topic) for topic in range(len(study.people))]
        kinds: tuple[tuple[str, Ratio, int | None], ...] = (("nDCG@10", "nDCG", K), ("AP", "AP", None))
        for name, kind, cutoff in kinds:
            ratio = RatioMeasure(kind, cutoff, RELEVANT).corrected(pool, rankings, study.systems, names)
            table = ratio.table.to_numpy()
            found[name] = None if ratio.mean_off > MOST_OFF[kind] else _over_topics(table)
    return found


def _over_topics(table: FloatArray) -> Found:
    scores = [mean_interval(row.tolist(), within=SHARE) for row in table]
    differences = [mean_interval((table[0] - row).tolist(), within=UNBOUNDED) for row in table[1:]]
    return scores, [], differences


TREC_EVAL = {"P@10": f"P(rel={RELEVANT})@10", "nDCG@10": "nDCG@10", "AP": f"AP(rel={RELEVANT})"}


def scores_by_topic(study: Collection, names: dict[str, str]) -> dict[str, FloatArray]:
    """Return trec_eval's scores with all labels, systems × topics, by measure."""
    qrels = {f"t{topic}": {f"d{n}": int(grade) for n, grade in enumerate(of)} for topic, of in enumerate(study.people)}
    runs = {
        system: {f"t{topic}": {f"d{n}": float(-place) for place, n in enumerate(of)} for topic, of in enumerate(one)}
        for system, one in zip(study.systems, study.rankings, strict=True)
    }
    return {name: system_scores(asked, qrels, runs).to_numpy() for name, asked in names.items()}


def true_means(study: Collection) -> dict[str, FloatArray]:
    """Return the systems' means with all labels, by trec_eval, and DCG@10."""
    found = {name: of.mean(axis=1) for name, of in scores_by_topic(study, TREC_EVAL).items()}
    gained = [
        [float(grades[top[:K]] @ DISCOUNTS[: len(top)]) for grades, top in zip(study.people, one, strict=True)]
        for one in study.rankings
    ]
    return found | {"DCG@10": np.mean(gained, axis=1)}


def simulate(
    study: Collection,
    truths: dict[str, FloatArray],
    cell: tuple[str, str, float],
    n: int,
    *,
    ratios: bool,
    n_topics: int = 0,
) -> list[Outcome]:
    """Draw so many topics, by default as many as there are, and their labels, n times."""
    judge, how, rate = cell
    rng = np.random.default_rng([SEED, n_topics, round(100 * rate)] if n_topics else [SEED, CELLS.index(cell)])
    found: dict[str, list[Found]] = defaultdict(list)
    n_labels = []
    for _ in range(n):
        again = study.drawn_again(rng.integers(0, len(study.people), n_topics or len(study.people)))
        topics = np.repeat(np.arange(len(again.people)), [len(of) for of in again.people])
        grades = graded_by(rng, judge, again)
        picked, probabilities = draw_labels(rng, how, rate, topics, grades)
        n_labels.append(int(picked.sum()))
        for measure, of in estimates(again, grades, picked, probabilities, ratios=ratios).items():
            found[measure].append(of)
    outcomes = []
    for measure, all_of in found.items():
        given = [of for of in all_of if of is not None]
        row = (judge, how, rate, round(float(np.mean(n_labels))), measure, len(given) / n)
        if len(given) < LEAST_GIVEN * n:
            outcomes.append(Outcome(*row, *NOTHING, n))
            continue
        truth = truths[measure]
        held = np.array([[holds(one, at) for one, at in zip(of[0], truth, strict=True)] for of in given]).mean(axis=0)
        pairs = np.array(
            [[holds(one, at) for one, at in zip(of[2], truth[0] - truth[1:], strict=True)] for of in given]
        )
        values = np.array([[one.value for one in of[0]] for of in given], dtype=np.float64)
        widths = [[half_width(one) for one in of[0]] for of in given]
        alone = [[half_width(one) for one in of[1]] for of in given if of[1]]
        outcomes.append(
            Outcome(
                *row,
                off=float(np.abs(values.mean(axis=0) - truth).max()),
                width=float(np.nanmean(widths)),
                by_people=float(np.nanmean(alone)) if alone else float("nan"),
                held=float(held.mean()),
                least=float(held.min()),
                most=float(held.max()),
                pairs=float(pairs.mean()),
                simulations=n,
            )
        )
    return outcomes


def in_small_pools(study: Collection, n: int) -> list[Outcome]:
    """Return what AP and nDCG@10 hold where topics are few and their pools small."""
    found = []
    for size, n_topics, rate in SMALL:
        small = study.of_pools(size)
        of_cell = simulate(small, true_means(small), ("FLAN-T5", "by topic", rate), n, ratios=True, n_topics=n_topics)
        what = f"{size} passages in each of {n_topics} topics"
        found += [replace(one, draw=what, most_held=1.0) for one in of_cell if one.measure in ("AP", "nDCG@10")]
    return found


def holds(estimate: Estimate, truth: float) -> bool:
    low, high = estimate.low, estimate.high
    return low is not None and high is not None and low - 1e-9 <= truth <= high + 1e-9


def half_width(estimate: Estimate) -> float:
    low, high = estimate.low, estimate.high
    return float("nan") if low is None or high is None else (high - low) / 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=2_000, help="draws for each cell (2000)")
    parser.add_argument("--cells", help="the first and the last cell, as in 0-4; default: all")
    parser.add_argument("--sums", action="store_true", help="P@10 and DCG@10 alone, which takes a tenth of the time")
    parser.add_argument("--json", action="store_true", help="print every figure")
    arguments = parser.parse_args()
    if not DL19.is_file():
        sys.stderr.write(f"Left out: there is no {DL19.name}.\n")
        return
    started = time.monotonic()
    study = of_dl19(DL19)
    truths = true_means(study)
    gc.freeze()  # statsmodels collects garbage at every correction for several tests
    first, last = map(int, (arguments.cells or f"0-{len(CELLS) - 1}").split("-"))
    outcomes: list[Outcome] = []
    if not arguments.json:
        sys.stdout.write(
            "| judge | labels drawn | labels | measure | given, % | off by | ± | ± by people | held, % | least | most "
            "| differences, % |\n| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        )
    for cell in CELLS[first : last + 1]:
        of_cell = simulate(study, truths, cell, arguments.simulations, ratios=not arguments.sums)
        outcomes += of_cell
        if not arguments.json:
            sys.stdout.write("".join(map(row_of, of_cell)))
            sys.stdout.flush()
    if not arguments.sums and not arguments.cells:
        small = in_small_pools(study, arguments.simulations // 5)
        outcomes += small
        sys.stdout.write("" if arguments.json else "".join(map(row_of, small)))
    if arguments.json:
        json.dump([asdict(row) for row in outcomes], sys.stdout, indent=1, ensure_ascii=False)
    outside = [row for row in outcomes if not row.kept]
    sys.stderr.write(
        f"{arguments.simulations} draws of each kind, seed {SEED}, {time.monotonic() - started:.0f} s: "
        f"{len(outside)} of {len(outcomes)} miss 93 to {100 * MOST:.0f} %.\n"
    )
    sys.exit(bool(outside))


def row_of(row: Outcome) -> str:
    head = f"| {row.judge} | {row.draw}, {row.rate:.0%} | {row.labels:,} | {row.measure} | {100 * row.given:.0f} |"
    if np.isnan(row.held):
        return f"{head} | | | | | | |\n"
    alone = "" if np.isnan(row.by_people) else f"{row.by_people:.3f}"
    return (
        f"{head} {row.off:.3f} | {row.width:.3f} | {alone} | {100 * row.held:.1f} | {100 * row.least:.1f} "
        f"| {100 * row.most:.1f} | {100 * row.pairs:.1f} |{'' if row.kept else ' ✗'}\n"
    )


if __name__ == "__main__":
    main()
