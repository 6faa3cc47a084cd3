"""Whether the planner's half-widths come true: `python tests/planner_check.py [--simulations 200] [--json]`.

Draws studies, plans from their pilots, and labels what was planned. The mean half-width that was predicted is to lie
within 10 % of the mean that came out: with more labels in the same topics, with all items labelled, and in more topics.
So it is for TREC DL 2019 (people's relevance, FLAN-T5's grades), where ../shared/data has it. The exit status is 1
where one is not.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stats.calibration.estimators import ppi_score
from stats.calibration.labels import Labels
from stats.calibration.pilots import NoPlan, pilot_of
from stats.ratings import FloatArray, IntArray
from tests.simulations.promises import processes

SEED = 1971
LEAST, MOST = 0.9, 1.1
Rng = np.random.Generator
DL19 = (
    Path(__file__).resolve().parents[2]
    / "shared/data/rubric/DL19-graded-t5-rating-genq-exam-qrels-runs-with-text.jsonl.gz"
)
# Topics, and labels in each.
DL19_PILOTS = ((15, 20), (25, 20), (43, 20))


@dataclass(frozen=True)
class Study:
    """People's yes and the judge's, topics and texts of a study that people could label; all of shape (items,)."""

    people: FloatArray
    judge: FloatArray
    topics: IntArray | None
    texts: IntArray

    def labelled(self, weights: FloatArray) -> Labels:
        """Return the study with the labels that have a weight."""
        return Labels(
            people=np.where(np.isfinite(weights), self.people, np.nan),
            judge=self.judge,
            weights=weights,
            topics=self.topics,
            per_topic=self.topics is not None,
        )


@dataclass(frozen=True)
class Shape:
    """A kind of study: topics (0: independent items), items in each, how far topics differ (sd of the logit of yes).

    `bias`: how far the judge errs by topic; `uneven`: topics have between a fifth and all of the items; `draw`: what is
    drawn: items, items evenly in each topic, or whole texts of five items.
    """

    name: str
    n_topics: int
    n_items: int
    apart: float
    yes: float = 0.5
    bias: float = 0.3
    accuracy: float = 0.8
    uneven: bool = False
    draw: str = "items"
    pilot: int = 12
    later: int = 36

    def study(self, rng: Rng, n_topics: int | None = None) -> Study:
        n_topics = n_topics or self.n_topics or 1
        sizes = np.full(n_topics, self.n_items)
        if self.uneven:
            sizes = np.maximum(sizes * rng.uniform(0.2, 1, n_topics), self.later + 1).astype(np.int64)
        topics = np.repeat(np.arange(n_topics), sizes)
        n = len(topics)
        middle = float(np.log(self.yes / (1 - self.yes)))
        wanted = middle + rng.normal(0, self.apart, n_topics)[topics]
        texts = np.arange(n) // 5 if self.draw == "texts" else np.arange(n)
        if self.draw == "texts":
            wanted = wanted + rng.normal(0, 1, n)[texts]
        said = rng.logistic(0, 1, n)
        people = (wanted + said > 0).astype(np.float64)
        seen = self.accuracy * said + (1 - self.accuracy) * rng.logistic(0, 1, n)
        judge = (wanted + seen + rng.normal(0, self.bias, n_topics)[topics] > 0).astype(np.float64)
        return Study(people, judge, topics if self.n_topics else None, texts)

    def weights(self, rng: Rng, study: Study, labels_a_topic: int) -> FloatArray:
        """Draw so many labels for each topic, on average or exactly; return how many items each stands for."""
        n_topics = 1 if study.topics is None else int(study.topics.max()) + 1
        n = labels_a_topic * n_topics
        if self.draw == "evenly" and study.topics is not None:
            return evenly(rng, study.topics, labels_a_topic)
        units = study.texts
        n_units = int(units.max()) + 1
        n = max(2, round(n / len(units) * n_units))
        drawn = np.isin(units, rng.choice(n_units, min(n, n_units), replace=False))
        return np.where(drawn, n_units / min(n, n_units), np.nan)


def evenly(rng: Rng, topics: IntArray, labels_a_topic: int) -> FloatArray:
    """Draw so many items of each topic."""
    weights = np.full(len(topics), np.nan)
    for number in np.unique(topics):
        rows = np.flatnonzero(topics == number)
        n = min(labels_a_topic, len(rows))
        weights[rng.choice(rows, n, replace=False)] = len(rows) / n
    return weights


SHAPES = (
    Shape("independent items", 0, 4_000, 0.0, pilot=100, later=400),
    Shape("independent items, .1 yes", 0, 4_000, 0.0, yes=0.1, pilot=200, later=800),
    Shape("25 topics", 25, 150, 1.0),
    Shape("25 topics far apart", 25, 150, 2.0),
    Shape("25 topics alike", 25, 150, 0.2),
    Shape("25 topics, .1 yes", 25, 150, 1.0, yes=0.1, pilot=20, later=60),
    Shape("10 topics", 10, 150, 1.0, pilot=20, later=60),
    Shape("6 topics", 6, 200, 1.0, pilot=30, later=90),
    Shape("60 topics", 60, 100, 1.0, pilot=5, later=15),
    Shape("25 topics, a judge that errs by topic", 25, 150, 1.0, bias=1.5),
    Shape("25 topics, a weak judge", 25, 150, 1.0, accuracy=0.0, bias=2.0),
    Shape("25 topics of unequal size", 25, 150, 1.0, uneven=True),
    Shape("25 topics, labels spread evenly", 25, 150, 1.0, draw="evenly"),
    Shape("25 topics, whole texts", 25, 150, 1.0, draw="texts", pilot=20, later=60),
)


@dataclass(frozen=True)
class Outcome:
    """Mean half-widths over all studies: what was predicted and what came out; `spread`: the sd of their ratio."""

    study: str
    planned: str
    predicted: float
    realised: float
    spread: float
    n: int

    @property
    def ratio(self) -> float:
        return self.predicted / self.realised

    @property
    def kept(self) -> bool:
        return LEAST <= self.ratio <= MOST


def realised(labels: Labels) -> float:
    """Return half the width of the interval that the labels give."""
    found = ppi_score(labels).estimate
    assert found.low is not None
    assert found.high is not None
    return (found.high - found.low) / 2


def simulate(shape: Shape, studies: int, seed: int) -> list[Outcome]:
    """Plan and label so many studies of a shape."""
    rng = np.random.default_rng([seed, SHAPES.index(shape)])
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(studies):
        study = shape.study(rng)
        units = study.texts if shape.draw == "texts" else None
        try:
            pilot = pilot_of(study.labelled(shape.weights(rng, study, shape.pilot)), units)
        except NoPlan:
            continue
        n_topics, n_items = shape.n_topics or 1, len(study.people)
        more = realised(study.labelled(shape.weights(rng, study, shape.later)))
        everything = realised(study.labelled(np.ones(n_items)))
        pairs = {
            "three times the labels": (pilot.half_width(shape.later * n_topics), more),
            "all items labelled": (pilot.half_width(n_items), everything),
        }
        if shape.n_topics:
            others = shape.study(rng, 3 * n_topics)
            of_more = realised(others.labelled(shape.weights(rng, others, shape.pilot)))
            pairs["three times the topics"] = (
                pilot.of_topics(3 * n_topics).half_width(3 * n_topics * shape.pilot),
                of_more,
            )
        for planned, (predicted, came_out) in pairs.items():
            assert predicted is not None
            found.setdefault(planned, []).append((predicted, came_out))
    return [outcome(shape.name, planned, pairs) for planned, pairs in found.items()]


def outcome(study: str, planned: str, pairs: list[tuple[float, float]]) -> Outcome:
    predicted, came_out = np.array(pairs).T
    return Outcome(
        study, planned, float(predicted.mean()), float(came_out.mean()), float((predicted / came_out).std()), len(pairs)
    )


def of_dl19(path: Path) -> Study:
    """TREC DL 2019: NIST's relevance from 2 up, and FLAN-T5's highest self-rating of a passage from 4 up."""
    people, judge, topics = [], [], []
    with gzip.open(path, "rt") as lines:
        for number, line in enumerate(lines):
            for passage in json.loads(line)[1]:
                judgments = (passage.get("paragraph_data") or {}).get("judgments") or []
                if not judgments or not passage.get("exam_grades"):
                    continue
                ratings = [rating["self_rating"] for rating in passage["exam_grades"][0]["self_ratings"]]
                people.append(max(judgment["relevance"] for judgment in judgments) >= 2)
                judge.append(max(ratings) >= 4)
                topics.append(number)
    return Study(np.array(people, float), np.array(judge, float), np.array(topics), np.arange(len(people)))


def some_topics(study: Study, numbers: IntArray) -> Study:
    """Return these topics of a study."""
    assert study.topics is not None
    rows = np.isin(study.topics, numbers)
    return Study(study.people[rows], study.judge[rows], study.topics[rows], np.arange(int(rows.sum())))


def simulate_dl19(n_topics: int, labels_a_topic: int, *, path: Path, studies: int, seed: int) -> list[Outcome]:
    """Plan from labels in some of the topics: more of them, all of them, and as many in each of all topics."""
    rng, whole = np.random.default_rng([seed, n_topics]), of_dl19(path)
    assert whole.topics is not None
    numbers = np.unique(whole.topics)
    items = Shape("TREC DL 2019", len(numbers), 0, 0.0)
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(studies):
        part = some_topics(whole, rng.choice(numbers, n_topics, replace=False))
        part = replace(part, topics=np.unique(np.asarray(part.topics), return_inverse=True)[1])
        pilot = pilot_of(part.labelled(items.weights(rng, part, labels_a_topic)))
        later = part.labelled(items.weights(rng, part, 3 * labels_a_topic))
        more = replace(pilot.of_topics(len(numbers)), n_items=len(whole.people))
        pairs = {
            "three times the labels": (pilot.half_width(later.n_labelled), realised(later)),
            "all items labelled": (
                pilot.half_width(len(part.people)),
                realised(part.labelled(np.ones(len(part.people)))),
            ),
        }
        if n_topics < len(numbers):
            of_all = whole.labelled(items.weights(rng, whole, labels_a_topic))
            pairs[f"all {len(numbers)} topics"] = (more.half_width(of_all.n_labelled), realised(of_all))
        for planned, (predicted, came_out) in pairs.items():
            assert predicted is not None
            found.setdefault(planned, []).append((predicted, came_out))
    name = f"TREC DL 2019, {labels_a_topic} labels in each of {n_topics} topics"
    return [outcome(name, planned, pairs) for planned, pairs in found.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=200, help="studies drawn for each shape (200)")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true", help="print every figure")
    arguments = parser.parse_args()
    started, chosen = time.monotonic(), {"studies": arguments.simulations, "seed": arguments.seed}
    with processes() as pool:
        found = list(pool.map(partial(simulate, **chosen), SHAPES))
        if DL19.is_file():
            found += pool.map(partial(simulate_dl19, path=DL19, **chosen), *zip(*DL19_PILOTS, strict=True))
        else:
            sys.stderr.write(f"TREC DL 2019 is left out: there is no {DL19.name}.\n")
    rows = [row for some in found for row in some]
    if arguments.json:
        json.dump([asdict(row) for row in rows], sys.stdout, indent=1, ensure_ascii=False)
    else:
        sys.stdout.write(f"{table_of(rows)}\n\n")
    outside = [row for row in rows if not row.kept]
    sys.stderr.write(
        f"{arguments.simulations} studies of a kind, seed {arguments.seed}, {time.monotonic() - started:.0f} s: "
        f"{len(outside)} of {len(rows)} planned half-widths are more than 10 % off.\n"
    )
    sys.exit(bool(outside))


def table_of(rows: list[Outcome]) -> str:
    """Return the rows as Markdown: predicted half-width, the one that came out, and the ratio with its sd."""
    lines = ["| study | planned | predicted ± | came out ± | ratio |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {row.study} | {row.planned} | {row.predicted:.4f} | {row.realised:.4f} "
        f"| {row.ratio:.2f} (sd {row.spread:.2f}){'' if row.kept else ' ✗'} |"
        for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
