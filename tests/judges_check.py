"""Whether what is said of judges keeps its promises: `python tests/judges_check.py [--simulations 300] [--json]`.

The alternative-annotator test is to let a judge win in no more than 5 of 100 studies that is exactly ε behind, with
items of a topic alike, and pass one that always says no in no more. The κ of the best of several judges, corrected for
the choice, is to be too high in 35 to 65 of 100 studies, and its interval to hold the κ that this judge has in truth in
93 to 97, whether judges are alike, differ, one is ahead, or some are near copies of others; in no study is it below all
judges. Simultaneous intervals of differences are to hold all pairs' truths in 93 or more. The exit status is 1 where
one breaks that by more than chance does in one of 200 simulations (`tests/simulations/promises.py`).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stats.intervals import COEFFICIENT, Sample, interval, jackknife_error
from stats.judges import best_of_several
from stats.judges.alt_test import PASSES_FROM, alternative_annotator_test, p_value
from stats.judges.side_by_side import compare_kappas
from stats.ratings import FloatArray, IntArray
from tests.simulations.promises import broken, processes

SEED = 1971
EPSILON = 0.15
# Chance's largest t is drawn less often than for a page: it takes most of the time.
DRAWS = 500
ITEMS_A_TOPIC = 20
# Topics, items in each, and how far the judge is more or less behind by topic.
BEHIND = ((5, 20, 0.0), (5, 20, 0.45), (6, 20, 0.45), (10, 10, 0.45), (10, 50, 0.45), (20, 20, 0.45), (50, 2, 0.45))


@dataclass(frozen=True)
class Wins:
    """How often a judge won that was to win in 5 of 100 studies: with items as independent, and by topic."""

    n_topics: int
    n_items: int
    apart: float
    independent: float
    by_topic: float
    n: int

    @property
    def kept(self) -> bool:
        return not broken(round(self.by_topic * self.n), self.n, least=0, most=0.05)


def alternative_annotator(n_topics: int, n_items: int, apart: float, *, studies: int, seed: int) -> Wins:
    """Count how often a judge wins that is ε behind on average over topics, and up to `apart` more or less by topic.

    On six items of ten judge and person are not equally close to the others.
    """
    rng = np.random.default_rng([seed, n_topics, n_items])
    topics, wins = np.repeat(np.arange(n_topics), n_items), np.zeros(2)
    for _ in range(studies):
        behind = EPSILON + rng.uniform(-apart, apart, n_topics)[topics]
        drawn = rng.random(len(topics))
        differences = np.where(drawn < (0.6 + behind) / 2, 1.0, np.where(drawn < 0.6, -1.0, 0.0))
        wins += [p_value(differences, of, EPSILON) < 0.05 for of in (None, topics)]
    independent, by_topic = (wins / studies).tolist()
    return Wins(n_topics, n_items, apart, independent, by_topic, studies)


# The share of yes, topics, and items in each.
CONSTANT = tuple((yes, topics, 20) for yes in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5) for topics in (6, 20))


@dataclass(frozen=True)
class Constant:
    """What the test says of a judge that always says no, beside one that is as often right as a person.

    `published`: how often ω is at least one half; `passes`: how often there is a verdict, and it is that it passes;
    `no_verdict`: how often there is none; `good`: how often the other judge passes.
    """

    yes: float
    n_topics: int
    n_items: int
    published: float
    passes: float
    no_verdict: float
    good: float
    n: int

    @property
    def kept(self) -> bool:
        return not broken(round(self.passes * self.n), self.n, least=0, most=0.05)


def constant_judge(yes: float, n_topics: int, n_items: int, *, studies: int, seed: int) -> Constant:
    """Draw studies of three people who are right on 95 items of 100, in topics that differ in how many are a yes."""
    rng = np.random.default_rng([seed, n_topics, n_items, round(yes * 100)])
    topics, rows = np.repeat(np.arange(n_topics), n_items), []
    for _ in range(studies):
        deserved = rng.random(len(topics)) < 1 / (1 + (1 / yes - 1) * np.exp(-rng.normal(0, 1, n_topics)))[topics]
        right = rng.random((len(topics), 4)) < 0.95
        grades = np.where(right, deserved[:, None], ~deserved[:, None]).astype(float)
        no, good = (
            alternative_annotator_test(grades[:, :3], judge, ("a", "b", "c"), topics, level="nominal", epsilon=EPSILON)
            for judge in (np.zeros(len(topics)), grades[:, 3])
        )
        rows.append(((no.winning_rate or 0) >= PASSES_FROM, no.passes is True, no.passes is None, good.passes is True))
    published, passes, no_verdict, of_good = np.mean(rows, axis=0).tolist()
    return Constant(yes, n_topics, n_items, published, passes, no_verdict, of_good, studies)


def constants_table(rows: list[Constant]) -> str:
    """Return Markdown: how often a judge that always says no passes, in %."""
    heads = ("yes", "topics", "items in each", "always no: ω of ½ or more", "always no: passes", "no verdict")
    lines = [f"| {' | '.join((*heads, 'as right as a person: passes'))} |", "| --- |" + " --- |" * 6]
    lines += [
        f"| {row.yes:.0%} | {row.n_topics} | {row.n_items} | {100 * row.published:.0f} "
        f"| {100 * row.passes:.0f}{'' if row.kept else ' ✗'} | {100 * row.no_verdict:.0f} | {100 * row.good:.0f} |"
        for row in rows
    ]
    return "\n".join(lines).replace("%", " %")


# How often each judge is right: judges alike, of many kinds, and one ahead of the others.
ALIKE = 0.8
ACCURACIES: dict[str, Callable[[int], FloatArray]] = {
    "alike": lambda n: np.full(n, ALIKE),
    "different": lambda n: np.linspace(0.7, 0.88, n),
    "one ahead": lambda n: np.concatenate([[0.9], np.full(n - 1, 0.78)]),
}
# Near copies: how many judges stand in each cluster. All are right as often, and each of a cluster draws the
# answer to one item of ten for itself: attempts of one judge, and variants of the prompts of two and of eleven.
COPIES = {
    "attempts of one": (5,),
    "2 and 3 variants": (2, 3),
    "3 and 3 variants": (3, 3),
    "11 of 3 variants": (3,) * 11,
}
ITS_OWN = 0.1
CHOICES = (
    *((kind, n, topics) for kind in ACCURACIES for n in (2, 5, 33) for topics in (6, 10, 20, 43)),
    *((kind, sum(clusters), topics) for kind, clusters in COPIES.items() for topics in (6, 10, 20, 43)),
)


@dataclass(frozen=True)
class Choice:
    """The best of several judges: how often its own interval and the corrected one held its κ, and all differences.

    `ahead`, `corrected_ahead`: how far its κ was above the truth in the middle (median); `too_high`: how often the
    corrected κ was above it; `below_all`: how often it was below all judges' κ.
    """

    kind: str
    n_judges: int
    n_topics: int
    ahead: float
    corrected_ahead: float
    too_high: float
    own: float
    corrected: float
    pairs: float
    below_all: float
    n: int

    @property
    def kept(self) -> bool:
        even = not broken(round(self.too_high * self.n), self.n, least=0.35, most=0.65)
        corrected, pairs = (round(share * self.n) for share in (self.corrected, self.pairs))
        return self.below_all == 0 and even and not broken(corrected, self.n) and not broken(pairs, self.n, most=1)


def kappas_of(people: IntArray, yes: IntArray, no: IntArray, items: int) -> FloatArray:
    """Return κ of yes and no from counts: people's yes, shape (…, 1), both's yes and both's no, shape (…, judges)."""
    judged = yes + items - people - no
    chance = (people * judged + (items - people) * (items - judged)) / items**2
    return np.asarray(((yes + no) / items - chance) / (1 - chance))


def draw_counts(
    rng: np.random.Generator, accuracy: FloatArray, n_studies: int, n_topics: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return how many of each topic's items are a yes of people, of both, and a no of both; (studies, topics, judges).

    Half of the items deserve a yes. Topics are hard or easy for all judges, and for each.
    """
    shape = (n_studies, n_topics, len(accuracy))
    people = rng.binomial(ITEMS_A_TOPIC, 0.5, (*shape[:2], 1))
    hard = rng.normal(0, 0.5, (*shape[:2], 1)) + rng.normal(0, 0.4, shape)
    right = 1 / (1 + np.exp(-(np.log(accuracy / (1 - accuracy)) + hard)))
    return people, rng.binomial(people, right), rng.binomial(ITEMS_A_TOPIC - people, right)


def draw_copies(
    rng: np.random.Generator, clusters: Sequence[int], n_studies: int, n_topics: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the same counts of judges that are right as often as those alike, some of them near copies."""
    of, shape = np.repeat(np.arange(len(clusters)), clusters), (n_studies, n_topics, ITEMS_A_TOPIC)
    people = rng.random(shape) < 0.5
    hard = rng.normal(0, 0.5, (*shape[:2], 1)) + rng.normal(0, 0.4, (*shape[:2], len(clusters)))
    right = 1 / (1 + np.exp(-(np.log(ALIKE / (1 - ALIKE)) + hard)))
    drawn = rng.random((*shape, len(clusters)))
    counts = []
    for cluster in of:
        own = np.where(rng.random(shape) < ITS_OWN, rng.random(shape), drawn[..., cluster])
        is_right = own < right[:, :, cluster, None]
        counts.append([(is_right & side).sum(axis=2) for side in (people, ~people)])
    yes, no = np.moveaxis(np.array(counts), 0, -1)
    return people.sum(axis=2)[..., None], yes, no


def choose(kind: str, n_judges: int, n_topics: int, *, studies: int, seed: int) -> Choice:
    """Draw studies and choose the best judge by κ, as `compare_judges` does, in a process of its own."""
    best_of_several.DRAWS = DRAWS
    rng = np.random.default_rng([seed, n_judges, n_topics, [*ACCURACIES, *COPIES].index(kind)])
    accuracy = ACCURACIES.get(kind, ACCURACIES["alike"])(n_judges)
    different, which = np.unique(accuracy, return_inverse=True)
    n_items, many = ITEMS_A_TOPIC * n_topics, 200_000 // len(different)
    true_counts = [counts.sum(axis=1) for counts in draw_counts(rng, different, 1, many)]
    truth = kappas_of(true_counts[0], true_counts[1], true_counts[2], ITEMS_A_TOPIC * many)[0, which]
    copies = kind in COPIES
    counts = (
        draw_copies(rng, COPIES[kind], studies, n_topics) if copies else draw_counts(rng, accuracy, studies, n_topics)
    )
    whole = [one.sum(axis=1, keepdims=True) for one in counts]
    values = kappas_of(whole[0], whole[1], whole[2], n_items)[:, 0]
    without = [every - one for every, one in zip(whole, counts, strict=True)]
    left = kappas_of(without[0], without[1], without[2], n_items - ITEMS_A_TOPIC)
    rows = []
    for study in range(studies):
        kappas = [
            interval(float(value), jackknife_error(topics), Sample(n_topics, n_items), within=COEFFICIENT)
            for value, topics in zip(values[study], left[study].T, strict=True)
        ]
        found = compare_kappas(kappas, list(left[study].T), n_items=n_items)
        assert found.best is not None
        assert found.corrected.value is not None
        assert found.apart is not None
        own, true, best = kappas[found.best], float(truth[found.best]), found.corrected
        wanted = truth[:, None] - truth[None, :]
        rows.append(
            (
                (own.value or 0.0) - true,
                found.corrected.value - true,
                found.corrected.value > true,
                (own.low or -1) <= true <= (own.high or 1),
                (best.low or -1) <= true <= (best.high or 1),
                bool(((found.apart.low <= wanted + 1e-9) & (wanted - 1e-9 <= found.apart.high)).all()),
                found.corrected.value < values[study].min() - 1e-9,
            )
        )
    table = np.array(rows, dtype=np.float64)
    ahead, corrected_ahead = np.median(table[:, :2], axis=0).tolist()
    too_high, own_held, corrected_held, pairs_held, below_all = table[:, 2:].mean(axis=0).tolist()
    return Choice(
        kind,
        n_judges,
        n_topics,
        ahead=ahead,
        corrected_ahead=corrected_ahead,
        too_high=too_high,
        own=own_held,
        corrected=corrected_held,
        pairs=pairs_held,
        below_all=below_all,
        n=len(rows),
    )


def choices_table(rows: list[Choice]) -> str:
    """Return Markdown: medians of how far κ is above the truth, and how often intervals hold it, in %."""
    ahead = ("κ too high by", "corrected by", "corrected too high")
    heads = ("judges", "of", "topics", *ahead, "own interval", "corrected interval", "all differences", "below all")
    lines = [f"| {' | '.join(heads)} |", "| --- |" + " --- |" * 9]
    lines += [
        f"| {row.kind} | {row.n_judges} | {row.n_topics} | {row.ahead:+.3f} | {row.corrected_ahead:+.3f} "
        f"| {100 * row.too_high:.0f} | {100 * row.own:.1f} | {100 * row.corrected:.1f} "
        f"| {100 * row.pairs:.1f} | {100 * row.below_all:.1f}{'' if row.kept else ' ✗'} |"
        for row in rows
    ]
    return "\n".join(lines).replace("+-", "−").replace("-0", "−0")


def wins_table(rows: list[Wins]) -> str:
    """Return Markdown: how often the judge wins, in %."""
    lines = ["| topics | items in each | apart by topic | items independent | by topic |", "| --- |" + " --- |" * 4]
    lines += [
        f"| {row.n_topics} | {row.n_items} | ± {row.apart:g} | {100 * row.independent:.1f} "
        f"| {100 * row.by_topic:.1f}{'' if row.kept else ' ✗'} |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=300, help="studies drawn for each line (300)")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true", help="print every figure")
    arguments = parser.parse_args()
    started, chosen = time.monotonic(), {"studies": arguments.simulations, "seed": arguments.seed}
    with processes() as pool:
        wins = list(pool.map(partial(alternative_annotator, **chosen), *zip(*BEHIND, strict=True)))
        constants = list(pool.map(partial(constant_judge, **chosen), *zip(*CONSTANT, strict=True)))
        choices = list(pool.map(partial(choose, **chosen), *zip(*CHOICES, strict=True)))
    rows: list[Wins | Constant | Choice] = [*wins, *constants, *choices]
    tables = (wins_table(wins), constants_table(constants), choices_table(choices))
    if arguments.json:
        json.dump([asdict(row) for row in rows], sys.stdout, indent=1, ensure_ascii=False)
    else:
        sys.stdout.write("".join(f"{table}\n\n" for table in tables))
    failed = [row for row in rows if not row.kept]
    sys.stderr.write(
        f"{arguments.simulations} studies a line, seed {arguments.seed}, {time.monotonic() - started:.0f} s: "
        f"{len(failed)} of {len(rows)} promises are broken.\n"
    )
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
