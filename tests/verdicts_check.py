"""How often verdicts that pages print are false alarms: `python tests/verdicts_check.py [--simulations 400] [--json]`.

Studies are drawn in which nothing differs, moves or is ahead, and what is said of them is read: each verdict is to be
wrong in no more than 5 of 100. Where one figure of several is picked for being the largest, the first or the furthest,
there are as many as a study has. The exit status is 1 where one breaks that by more than chance does in one of 200
simulations (`tests/simulations/promises.py`). Whether two orders are the same is checked by `tests/orders_check.py`,
the alternative-annotator test by `tests/judges_check.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stats.agreement.pattern_correlations import pairs_of_values, rank_correlations
from stats.agreement.report import group_statistics
from stats.answers_in_words import (
    corrected_score,
    direction_of_errors,
    first_system,
    furthest_groups,
    judge_beside_people,
    order_by_coverage,
    order_of_evaluation,
    pull_of_suggestions,
)
from stats.calibration.estimators import correct
from stats.calibration.labels import Labels
from stats.intervals import COEFFICIENT, SHARE, Estimate, Sample, interval, jackknife_error, undefined
from stats.judges.errors import direction_of
from stats.judges.side_by_side import compare_kappas
from stats.judges.suggested_labels import NONE, shift
from stats.judges.threshold_choice import Ceiling
from stats.judges.thresholds import kappa_at_threshold
from stats.ranking.battles.bradley_terry import bradley_terry
from stats.ranking.leaderboard import compare_pairs, leaderboard
from stats.ranking.order_verdict import order_verdict
from stats.ranking.rank_correlation import kendall
from stats.ratings import FloatArray, IntArray, Ratings, count_patterns
from tests.judges_check import ITEMS_A_TOPIC, draw_counts, kappas_of
from tests.simulations import agreement, battles, suggestions
from tests.simulations.promises import broken, processes

SEED = 1971
FALSE_ALARMS = 0.05
Rng = np.random.Generator


def moves_labels(rng: Rng, n: int, n_arms: int) -> bool:
    """A judge's grades are shown under so many arms, and nobody minds them."""
    arms = dict(list(suggestions.FOUR.items())[: n_arms + 1])
    whole = sum(arms.values())
    planted = suggestions.Planted(n, 8, 0.56, 0.1, {arm: share / whole for arm, share in arms.items()}, {})
    labels = suggestions.labels_of(planted, rng)
    return pull_of_suggestions("", {str(arm): shift(labels, arm) for arm in arms if arm != NONE}).startswith("Seeing")


def groups_differ(rng: Rng, n: int, n_groups: int, *, shared: bool = False) -> bool:
    """People agree alike in all groups, each of n topics of its own, or of the same topics."""
    shape = agreement.SHAPES[0]
    if shared:
        whole = agreement.draw_study(rng, replace(shape, size=shape.size * n_groups), n)
        group = rng.integers(n_groups, size=len(whole.topics))
        parts = [(whole.topics[group == one], whole.people[group == one]) for one in range(n_groups)]
    else:
        parts = [(one.topics, one.people) for one in (agreement.draw_study(rng, shape, n) for _ in range(n_groups))]
    return "by more than chance" in furthest_groups("", {str(place): _alpha(*one) for place, one in enumerate(parts)})


def _alpha(topics: IntArray, people: IntArray) -> Estimate:
    n = len(topics)
    ratings = Ratings(np.asfortranarray(people), (0.0, 1.0), "nominal", range(n), range(3), topics=topics)
    return group_statistics(count_patterns(ratings), ratings)["krippendorff_alpha"]


def another_order(rng: Rng, n: int, n_comparisons: int) -> bool:
    """So many judges order ten systems as people do, but hardly tell them apart; the least alike is picked."""
    means = np.linspace(-0.3, 0.3, 10)
    people = _scores(rng, means, n, 0.05)
    judges = [_scores(rng, 1e-6 * means, n, 0.15) for _ in range(n_comparisons)]
    orders = [kendall(people.mean(axis=1), one.mean(axis=1)) for one in judges]
    least = min(range(n_comparisons), key=lambda place: orders[place].value or 0.0)
    verdict = order_verdict(people, judges[least], among=n_comparisons)
    return " unlike " in order_of_evaluation("a", "b", orders[least], verdict, n=n_comparisons)


def _scores(rng: Rng, means: FloatArray, n: int, noise: float) -> FloatArray:
    """Return scores of systems on topics, hard or easy for each of them, in tenths."""
    values = means[:, None] + rng.normal(0, 0.2, n) + rng.normal(0, 0.12 + noise, (len(means), n))
    return np.asarray(np.clip(np.round((values + 1) * 5) / 10, 0, 1))


def first_of_equals(rng: Rng, n: int, n_systems: int) -> bool:
    """No system is better; one is called better than every other."""
    table = pd.DataFrame(_scores(rng, np.zeros(n_systems), n, 0.05), index=[f"s{one}" for one in range(n_systems)])
    said = first_system("people", leaderboard(table, within=SHARE), compare_pairs(table))
    return "better than every other" in said


def best_of_equals(rng: Rng, n: int, n_judges: int) -> bool:
    """All judges are right as often; one is told from every other."""
    counts = [one[0] for one in draw_counts(rng, np.full(n_judges, 0.8), 1, n)]
    whole = [one.sum(axis=0, keepdims=True) for one in counts]
    values = kappas_of(whole[0], whole[1], whole[2], ITEMS_A_TOPIC * n)[0]
    without = [every - one for every, one in zip(whole, counts, strict=True)]
    left = kappas_of(without[0], without[1], without[2], ITEMS_A_TOPIC * (n - 1)).T
    sample = Sample(n, ITEMS_A_TOPIC * n)
    kappas = [
        interval(float(value), jackknife_error(topics.tolist()), sample, within=COEFFICIENT)
        for value, topics in zip(values, left, strict=True)
    ]
    found = compare_kappas(kappas, list(left), n_items=ITEMS_A_TOPIC * n)
    assert found.best is not None
    assert found.apart is not None
    return bool((np.delete(found.apart.low[found.best], found.best) > 0).all())


def best_in_battles(rng: Rng, n: int, n_systems: int) -> bool:
    """No system is better; one alone may lead."""
    found = bradley_terry(battles.Battles(n_systems, 3, 1, spread=0.0).draw(rng, n))
    return sum(one.ranks[0] == 1 for one in found.standings if one.ranks) == 1


def beside_chance(rng: Rng, n: int, share: float) -> bool:
    """A judge says yes by chance, more in some topics than in others."""
    study = agreement.draw_study(rng, agreement.SHAPES[0], n)
    yes = study.people.sum(axis=1) >= 2
    judge = rng.random(len(yes)) < expit(np.log(share / (1 - share)) + rng.normal(0, 0.7, n))[study.topics]
    none = Ceiling(undefined(""), undefined(""), undefined(""), "kappa", 0, 0)
    kappa = kappa_at_threshold(yes, judge, np.zeros(len(yes), dtype=bool), study.topics)
    return judge_beside_people("a", none, kappa).startswith("a agrees")


def errs_one_way(rng: Rng, n: int, correlation: float) -> bool:
    """A rater says yes for no as often as no for yes."""
    topics, spread = np.repeat(np.arange(n), 20), 1 / correlation - 1
    often = [np.repeat(rng.beta(0.2 * spread, 0.8 * spread, n), 20) for _ in range(2)]
    yes = rng.random(len(topics)) < np.repeat(rng.beta(0.5 * spread, 0.5 * spread, n), 20)
    wrong = rng.random(len(topics)) < np.where(yes, *often)
    found = direction_of(yes, yes ^ wrong, np.zeros(len(topics), dtype=bool), topics)
    return " too often: " in direction_of_errors("a", found, reference="b")


def scores_too_high(rng: Rng, n: int, sees: float) -> bool:
    """A judge says yes as often as people; 20 of 60 items of each topic are labelled."""
    topics = np.repeat(np.arange(n), 60)
    wanted = rng.normal(0, 1, n)[topics]
    said = rng.logistic(0, 1, len(topics))
    people = wanted + said > 0
    by_judge = wanted + sees * said + (1 - sees) * rng.logistic(0, 1, len(topics)) + rng.normal(0, 0.5, n)[topics] > 0
    judge = np.asarray(by_judge, dtype=np.float64)
    labelled = rng.random((n, 60)).argsort(axis=1).ravel() < 20
    weights = np.where(labelled, 3.0, np.nan)
    labels = Labels(np.where(labelled, people, np.nan), judge, judge, weights, topics, per_topic=True)
    scores = correct(labels).scores
    return corrected_score("a", scores["judge"].estimate, scores["ppi"].estimate).startswith("a alone scores too")


def orders_texts(rng: Rng, n: int, n_texts: int) -> bool:
    """A judge's coverage of texts has nothing to do with people's."""
    topics = np.repeat(np.arange(n), n_texts)
    people, judge = (rng.binomial(15, 0.5, len(topics)) / 15 for _ in range(2))
    kendall = rank_correlations(pairs_of_values(people, judge, topics), unit="texts")["kendall"]
    return order_by_coverage("a", "text", kendall).startswith("By coverage")


FEW, MANY = (6, 10, 25), (6, 10, 25, 50)
# What is said, of how many what, which draw, and over how many topics.
VERDICTS: tuple[tuple[str, str, Callable[..., bool], tuple[float, ...], tuple[int, ...]], ...] = (
    ("Seeing a judge’s grade moves labels", "arms", moves_labels, (1, 3), FEW),
    ("groups differ by more than chance", "groups", groups_differ, (2, 5, 20), FEW),
    ("the same, over the same topics", "groups", partial(groups_differ, shared=True), (2, 5), FEW),
    ("an evaluation orders the runs unlike another", "comparisons", another_order, (1, 5, 30), FEW),
    ("a system is better than every other", "systems", first_of_equals, (2, 5, 20), MANY),
    ("a judge agrees more than every other", "judges", best_of_equals, (2, 5, 33), MANY),
    ("a system is the best of all, in battles", "systems", best_in_battles, (3, 6), FEW),
    ("a judge agrees more, or less, than by chance", "of yes", beside_chance, (0.2, 0.5), MANY),
    ("a rater says yes, or no, too often", "within topics", errs_one_way, (0.05, 0.3), MANY),
    ("a judge alone scores too high, or too low", "seen", scores_too_high, (0.5, 0.9), MANY),
    ("a judge orders texts more as people do than by chance", "texts a topic", orders_texts, (3, 10), FEW),
)


@dataclass(frozen=True)
class Alarms:
    """How often a verdict was given where it is false."""

    said: str
    among: str
    n_topics: int
    false: float
    n: int

    @property
    def kept(self) -> bool:
        return not broken(round(self.false * self.n), self.n, least=0, most=FALSE_ALARMS)


def rows() -> list[tuple[int, float, int]]:
    """Return the verdict's number, among how many it is picked, and the topics of each cell."""
    return [
        (number, among, n)
        for number, (_, _, _, amongs, topics) in enumerate(VERDICTS)
        for among in amongs
        for n in topics
    ]


def simulate(row: tuple[int, float, int], *, studies: int, seed: int) -> Alarms:
    """Draw studies and count the verdicts, in a process of its own."""
    number, among, n = row
    said, unit, draw, _, _ = VERDICTS[number]
    agreement.without_libraries()
    rng = np.random.default_rng([seed, number, round(100 * among), n])
    false = sum(draw(rng, n, among) for _ in range(studies))
    return Alarms(said, f"{among:g} {unit}", n, false / studies, studies)


def table(found: list[Alarms]) -> list[str]:
    """Return the false alarms as Markdown, in %."""
    sizes = sorted({one.n_topics for one in found})
    lines = [f"| what is said | of | {' | '.join(map(str, sizes))} |", f"| --- | --- |{' ---: |' * len(sizes)}"]
    for said, among in dict.fromkeys((one.said, one.among) for one in found):
        mine = {one.n_topics: one for one in found if (one.said, one.among) == (said, among)}
        cells = [f"{100 * one.false:.1f}{'' if one.kept else ' ✗'}" if (one := mine.get(n)) else "" for n in sizes]
        lines.append(f"| {said} | {among} | {' | '.join(cells)} |")
    return lines


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=400, help="studies a cell (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", default="", metavar="WORDS", help="verdicts with these words")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    wanted = [row for row in rows() if options.only in VERDICTS[row[0]][0]]
    with processes() as pool:
        found = list(pool.map(partial(simulate, studies=options.simulations, seed=options.seed), wanted))
    failed = [one for one in found if not one.kept]
    if options.json:
        json.dump([asdict(one) | {"kept": one.kept} for one in found], sys.stdout, indent=1, ensure_ascii=False)
    else:
        sys.stdout.write("\n".join([*table(found), ""]))
    sys.stderr.write(
        f"{options.simulations} studies a cell, seed {options.seed}, {time.monotonic() - began:.0f} s: "
        f"{len(failed)} of {len(found)} promises are broken.\n"
    )
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
