"""AP and nDCG as people's drawn labels correct a judge: exact with all labels, right on average with a part of them."""

from __future__ import annotations

import numpy as np
import pytest

from stats.measures.trec import system_scores
from stats.ranking.corrected_ratios import Pool, RatioMeasure, ratio_of
from stats.ranking.qrels_scoring import parse_qrels_measure
from stats.ratings import FloatArray, IntArray

NAN = np.nan
N_TOPICS, N_PASSAGES = 30, 40


def a_study(seed: int = 7) -> tuple[FloatArray, FloatArray, IntArray, list[list[IntArray]]]:
    """Grades 0–3 of 30 pools, a judge's, and two systems: one that puts relevant passages first, one at random."""
    rng = np.random.default_rng(seed)
    people = rng.choice(4, N_TOPICS * N_PASSAGES, p=[0.5, 0.2, 0.2, 0.1]).astype(float)
    judge = np.clip(np.round(people * 5 / 3 + rng.normal(0, 0.8, len(people))), 0, 5)
    topics = np.repeat(np.arange(N_TOPICS), N_PASSAGES)
    starts = N_PASSAGES * np.arange(N_TOPICS)
    good = [at + np.argsort(-people[at : at + N_PASSAGES] + rng.normal(0, 0.7, N_PASSAGES))[:20] for at in starts]
    any_order = [at + rng.permutation(N_PASSAGES)[:20] for at in starts]
    return people, judge, topics, [good, any_order]


def names() -> list[str]:
    return [f"t{topic}" for topic in range(N_TOPICS)]


def by_trec_eval(measure: str, people: FloatArray, rankings: list[list[IntArray]]) -> FloatArray:
    qrels = {
        f"t{topic}": {f"d{place}": int(people[place]) for place in range(N_PASSAGES * topic, N_PASSAGES * (topic + 1))}
        for topic in range(N_TOPICS)
    }
    runs = {
        f"s{number}": {
            f"t{topic}": {f"d{place}": float(-rank) for rank, place in enumerate(of)} for topic, of in enumerate(one)
        }
        for number, one in enumerate(rankings)
    }
    return system_scores(measure, qrels, runs).to_numpy()


@pytest.mark.parametrize("measure", ["AP(rel=2)", "AP(rel=2)@5", "nDCG@10", "nDCG"])
def test_with_all_labels_it_is_trec_evals(measure: str) -> None:
    people, judge, topics, rankings = a_study()
    ratio = ratio_of(parse_qrels_measure(measure, threshold=2))
    assert ratio is not None

    pool = Pool(people, judge, np.ones(len(people)), topics, N_TOPICS)
    found = ratio.corrected(pool, rankings, ["s0", "s1"], names())

    assert found.table.to_numpy() == pytest.approx(by_trec_eval(measure, people, rankings), abs=1e-4)
    assert found.mean_off == pytest.approx(0)


@pytest.mark.parametrize(("measure", "most"), [("AP(rel=2)", 0.02), ("nDCG@10", 0.02)])
def test_with_half_of_the_labels_it_is_right_on_average(measure: str, most: float) -> None:
    people, judge, topics, rankings = a_study()
    ratio = ratio_of(parse_qrels_measure(measure, threshold=2))
    assert ratio is not None
    rng = np.random.default_rng(1)

    means = []
    for _ in range(60):
        drawn = rng.permuted(np.tile(np.arange(N_PASSAGES) < 20, (N_TOPICS, 1)), axis=1).ravel()
        pool = Pool(np.where(drawn, people, NAN), judge, np.where(drawn, 2.0, NAN), topics, N_TOPICS)
        means.append(ratio.corrected(pool, rankings, ["s0", "s1"], names()).table.mean(axis=1).to_numpy())

    truth = by_trec_eval(measure, people, rankings).mean(axis=1)
    assert np.mean(means, axis=0) == pytest.approx(truth, abs=most)


def test_few_labels_say_how_far_off_they_are() -> None:
    people, judge, topics, rankings = a_study()
    rng = np.random.default_rng(1)
    off = []
    for rate in (0.1, 0.5):
        drawn = rng.random(len(people)) < rate
        pool = Pool(np.where(drawn, people, NAN), judge, np.where(drawn, 1 / rate, NAN), topics, N_TOPICS)
        off.append(RatioMeasure("AP", None, 2).corrected(pool, rankings, ["s0", "s1"], names()).mean_off)

    assert off[0] > 2 * off[1]


def test_passages_outside_the_pool_gain_nothing_and_topics_without_relevant_ones_score_nothing() -> None:
    people, judge, topics, rankings = a_study()
    people[:N_PASSAGES] = 0
    rankings[0][1] = np.full(20, -1)
    pool = Pool(people, judge, np.ones(len(people)), topics, N_TOPICS)

    found = RatioMeasure("nDCG", 10).corrected(pool, rankings, ["s0", "s1"], names()).table.to_numpy()

    assert found[0, 0] == 0
    assert found[0, 1] == 0
    assert found[1, 1] > 0


@pytest.mark.parametrize("measure", ["RR", "nDCG@oracle", "R@10", "nDCG(dcg='exp-log2')@10"])
def test_no_other_measure_is_one(measure: str) -> None:
    assert ratio_of(parse_qrels_measure(measure, threshold=1)) is None
