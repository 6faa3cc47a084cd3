"""Orders of systems by many judges at once: the same figures as one by one, from the library and from leaderboards."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from stats.judges.orders import RankedItems, correlate_orders, ranks_of, sum_measure
from stats.judges.recalibrated_grades import recalibrated
from stats.measures.trec import run_of, system_scores
from stats.ranking.qrels_scoring import parse_qrels_measure
from stats.ranking.rank_correlation import bootstrap_over_topics

N_SYSTEMS, N_TOPICS, N_ITEMS = 6, 9, 20


@pytest.fixture
def pool() -> tuple[RankedItems, dict[str, dict[str, list[str]]]]:
    """Six systems that rank 12 of each topic's 20 items, and two passages that are no items."""
    chance = np.random.default_rng(4)
    tops = np.full((N_SYSTEMS, N_TOPICS, 10), -1)
    rankings: dict[str, dict[str, list[str]]] = {}
    for system in range(N_SYSTEMS):
        for topic in range(N_TOPICS):
            ranked = chance.permutation(N_ITEMS)[:12] + topic * N_ITEMS
            ranked[[3, 8]] = -1
            tops[system, topic] = ranked[:10]
            names = [f"d{item}" if item >= 0 else f"none{place}" for place, item in enumerate(ranked)]
            rankings.setdefault(f"s{system}", {})[f"t{topic}"] = names
    topics = np.repeat(np.arange(N_TOPICS), N_ITEMS)
    return RankedItems(tops, np.full((N_SYSTEMS, N_TOPICS), 10), topics), rankings


@pytest.mark.parametrize("name", ["nDCG@10", "nDCG@5", "P(rel=2)@10", "P@5"])
def test_scores_are_those_of_ir_measures(pool: tuple[RankedItems, dict[str, dict[str, list[str]]]], name: str) -> None:
    ranked, rankings = pool
    grades = np.random.default_rng(5).choice([0.0, 1.0, 2.0, 3.0, np.nan], N_TOPICS * N_ITEMS)
    qrels: dict[str, dict[str, int]] = {}
    for item, grade in enumerate(grades.tolist()):
        if not np.isnan(grade):
            qrels.setdefault(f"t{item // N_ITEMS}", {})[f"d{item}"] = int(grade)
    measure = sum_measure(parse_qrels_measure(name, threshold=2))
    assert measure is not None
    cut = RankedItems(ranked.tops[:, :, : measure.cutoff], ranked.sizes, ranked.topics)

    ours = cut.scores(measure, measure.gains(grades))

    runs = {system: {topic: run_of(found) for topic, found in of.items()} for system, of in rankings.items()}
    assert ours == pytest.approx(system_scores(name, qrels, runs).to_numpy(), abs=1e-6)


def test_a_topic_without_labels_has_no_score(pool: tuple[RankedItems, dict[str, dict[str, list[str]]]]) -> None:
    ranked, _ = pool
    measure = sum_measure(parse_qrels_measure("nDCG@10", threshold=1))
    assert measure is not None
    grades = np.where(ranked.topics == 2, np.nan, 1.0)

    found = ranked.scores(measure, grades)

    assert np.isnan(found[:, 2]).all()
    assert not np.isnan(np.delete(found, 2, axis=1)).any()
    assert ranked.judged(1.0 - np.isnan(grades))[:, 2] == pytest.approx(0)
    assert ranked.judged(1.0 - np.isnan(grades))[:, 0] == pytest.approx(0.8)


@pytest.mark.parametrize("name", ["AP(rel=2)", "nDCG", "RR", "nDCG(judged_only=True)@10", "nDCG@oracle"])
def test_other_measures_are_no_such_sums(name: str) -> None:
    assert sum_measure(parse_qrels_measure(name, threshold=2)) is None


@pytest.mark.parametrize("digits", [9, 1])
def test_correlations_and_their_ranges_are_those_of_one_pair_at_a_time(digits: int) -> None:
    chance = np.random.default_rng(6)
    people = chance.random((N_SYSTEMS, N_TOPICS)).round(digits)  # with one digit, means tie
    judges = [(people + chance.normal(0, spread, people.shape)).round(digits) for spread in (0.0, 0.1, 0.5)]

    found = correlate_orders(people, judges)

    for judge, ours in zip(judges, found, strict=True):
        one, other = pd.DataFrame(people), pd.DataFrame(judge)
        for figure, correlation in ((ours.kendall, "kendall"), (ours.tau_ap, "tau_ap")):
            theirs = bootstrap_over_topics(one, other, correlation=correlation)  # type: ignore[arg-type]
            assert (figure.value, figure.low, figure.high) == pytest.approx((theirs.value, theirs.low, theirs.high))
            assert (figure.reason, figure.over, figure.resampled) == (theirs.reason, theirs.over, theirs.resampled)


def test_few_topics_have_no_range_and_few_systems_no_correlation() -> None:
    table = np.random.default_rng(7).random((5, 4))

    (of_few_topics,) = correlate_orders(table, [table])
    (of_few_systems,) = correlate_orders(table[:3], [table[:3]])

    assert of_few_topics.kendall.value == pytest.approx(1)
    assert (of_few_topics.kendall.low, "4 topics are too few" in of_few_topics.kendall.reason) == (None, True)
    assert of_few_systems.kendall.value is None


def test_ranks_share_their_mean_where_means_are_equal() -> None:
    assert ranks_of(np.array([0.5, 0.9, 0.5, 0.1])).tolist() == [2.5, 1, 2.5, 4]


def test_grades_are_read_as_people_meant_them_on_the_other_topics() -> None:
    people = np.array([0.0, 1.0, 0.0, 1.0, 1.0, np.nan])
    judge = np.array([1.0, 2.0, 1.0, 1.0, 2.0, np.nan])
    topics = np.array([0, 0, 1, 1, 1, 1])

    found = recalibrated(people, judge, topics)

    # Grade 1 is worth 1/2 by topic 1, and 0 by topic 0; grade 2 is worth 1 by both.
    assert found[:5].tolist() == [0.5, 1, 0, 0, 1]
    assert np.isnan(found[5])


def test_a_grade_that_stands_alone_is_read_between_its_neighbours() -> None:
    people = np.array([0.0, 1.0, 1.0, 0.0])
    judge = np.array([0.0, 2.0, 1.0, 0.0])
    topics = np.array([0, 0, 1, 1])

    found = recalibrated(people, judge, topics)

    # By topic 0 grade 0 is worth 0 and grade 2 is worth 1: grade 1, given in topic 1 alone, is worth 1/2.
    assert found[2] == pytest.approx(0.5)
    assert np.isnan(recalibrated(people[:2], judge[:2], topics[:2])).all()
