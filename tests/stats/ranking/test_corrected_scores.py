"""Systems' scores that are sums over items, by a judge as people's labels correct it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from stats.calibration.estimators import ppi_score
from stats.calibration.labels import Labels
from stats.calibration.topic_sums import LabelledItems, Shares, TopicSums
from stats.intervals import SHARE, UNBOUNDED
from stats.pattern_intervals import Estimate
from stats.ranking.corrected_scores import CorrectedBoard, SummedScores
from stats.ratings import BoolArray, FloatArray

NAN = np.nan
# Six rankings of four passages: relevant by people, by the judge, and which of them people labelled. ppi_py 0.2.3
# (ppi_mean_pointestimate of the labelled, and of all passages as those the judge alone graded) gives these means.
RELEVANT = np.array([[1, 1, 0, 1], [1, 0, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0], [0, 1, 0, 0.0]])
JUDGED = np.array([[1, 1, 1, 1], [1, 0, 1, 0], [0, 1, 1, 1], [1, 1, 0, 1], [0, 1, 1, 0], [1, 1, 0, 0.0]])
PICKED = np.array([[1, 0, 1, 1], [1, 0, 1, 0], [0, 1, 1, 0], [0, 1, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]], dtype=bool)
BY_THE_LIBRARY = {0.0: 0.64285714, 0.5: 0.58333333, 1.0: 0.52380952}


def precision_of(relevant: FloatArray, judged: FloatArray, picked: BoolArray) -> tuple[LabelledItems, Shares]:
    """P@4 of one system, of which every passage was drawn with the same probability."""
    n_topics, n_items = len(relevant), relevant.size
    weights = np.where(picked.ravel(), n_items / picked.sum(), NAN)
    people = np.where(picked, relevant, NAN).ravel()
    items = LabelledItems(people, judged.ravel(), weights, np.repeat(np.arange(n_topics), 4), n_topics)
    return items, Shares(np.zeros(n_items, np.int64), np.arange(n_items), np.full(n_items, 1 / 4), 1)


@pytest.mark.parametrize(("power", "mean"), BY_THE_LIBRARY.items())
def test_precision_is_the_librarys_for_every_power(power: float, mean: float) -> None:
    sums = TopicSums.of(*precision_of(RELEVANT, JUDGED, PICKED))

    assert sums.means(np.ones((1, 6)), power=power)[0][0, 0] == pytest.approx(mean, abs=1e-8)


def a_study(seed: int = 5, n_topics: int = 12) -> tuple[LabelledItems, Shares]:
    """Three systems with 8 items a topic each, some of them shared; a third of the items is labelled, unequally."""
    rng = np.random.default_rng(seed)
    n_items = 20 * n_topics
    truth = (rng.random(n_items) < 0.5).astype(float)
    judge = np.where(rng.random(n_items) < 0.8, truth, 1 - truth)
    judge[rng.choice(n_items, 6, replace=False)] = NAN
    chances = rng.uniform(0.2, 0.6, n_items)
    drawn = rng.random(n_items) < chances
    items = LabelledItems(
        np.where(drawn, truth, NAN),
        judge,
        np.where(drawn, 1 / chances, NAN),
        np.repeat(np.arange(n_topics), 20),
        n_topics,
    )
    listed = np.concatenate(
        [20 * topic + rng.choice(20, 8, replace=False) for _ in range(3) for topic in range(n_topics)]
    )
    systems = np.repeat(np.arange(3), 8 * n_topics)
    return items, Shares(systems, listed, np.full(len(listed), 1 / 8), 3)


def corrected(items: LabelledItems, shares: Shares, names: str = "abc") -> CorrectedBoard:
    return SummedScores(items, shares, tuple(names), SHARE).corrected()


def same(one: Estimate, other: Estimate) -> bool:
    figures = (one.value, one.low, one.high, one.se), (other.value, other.low, other.high, other.se)
    return figures[0] == pytest.approx(figures[1], abs=1e-12)


def test_each_system_is_ppi_plus_plus_on_its_own_items() -> None:
    items, shares = a_study()
    board = corrected(items, shares)

    for place, name in enumerate("abc"):
        rows = shares.items[shares.systems == place]
        alone = ppi_score(
            Labels(
                items.people[rows],
                items.judge[rows],
                weights=items.weights[rows],
                topics=items.topics[rows],
                per_topic=True,
            )
        )
        assert same(board.scores[name].corrected, alone.estimate)
        assert board.scores[name].power == pytest.approx(alone.power)
        rests_on = board.scores[name].corrected.sample
        assert rests_on is not None
        assert alone.estimate.sample is not None
        assert rests_on.n_items == alone.estimate.sample.n_items
        assert rests_on.freedom == pytest.approx(alone.estimate.sample.freedom)


def test_a_worthless_judge_leaves_people_alone_and_a_perfect_one_has_the_spread_of_topics() -> None:
    items, shares = a_study()
    graded = np.isfinite(items.judge)
    truth = np.where(np.isfinite(items.people), items.people, np.where(graded, items.judge, 0))
    worthless = LabelledItems(items.people, np.full(240, 3.0), items.weights, items.topics, 12)
    perfect = LabelledItems(items.people, truth, items.weights, items.topics, 12)

    by_nobody = corrected(worthless, shares).scores["a"]
    by_all = corrected(perfect, shares).scores["a"]

    assert same(by_nobody.corrected, by_nobody.people)
    assert by_all.corrected.value == pytest.approx(by_all.judge.value, abs=0.02)
    assert by_all.corrected.se == pytest.approx(by_all.judge.se, rel=0.1)


def test_the_mean_of_all_samples_is_the_truth() -> None:
    # Two labels of each topic's four passages, in all ways; weights are 2 throughout, so Hájek's mean is the plain one.
    values = []
    for picked in combinations(range(4), 2):
        for others in combinations(range(4), 2):
            labelled = np.zeros((2, 4), dtype=bool)
            labelled[0, list(picked)] = labelled[1, list(others)] = True
            sums = TopicSums.of(*precision_of(RELEVANT[:2], JUDGED[:2], labelled))
            values.append(sums.means(np.ones((1, 2)), power=0.7)[0][0, 0])

    assert np.mean(values) == pytest.approx(RELEVANT[:2].mean())


def test_a_difference_is_of_the_means_and_shared_items_leave_its_error() -> None:
    items, shares = a_study()
    twin = Shares(
        np.concatenate([shares.systems, np.full(96, 3)]),
        np.concatenate([shares.items, shares.items[:96]]),
        np.concatenate([shares.shares, shares.shares[:96]]),
        4,
    )
    board = corrected(items, twin, "abcd")
    by_pair = {(pair.first, pair.second): pair for pair in board.pairs}

    ab = by_pair["a", "b"]
    a, b = (board.scores[name].corrected for name in "ab")
    assert a.value is not None
    assert b.value is not None
    assert a.se is not None
    assert b.se is not None
    assert ab.difference.value == pytest.approx(a.value - b.value)
    assert ab.difference.se is not None
    assert 0 < ab.difference.se < a.se + b.se
    assert ab.p is not None
    assert ab.p_holm is not None
    assert ab.p <= ab.p_holm
    assert by_pair["a", "d"].difference.value == 0
    assert by_pair["a", "d"].difference.low is None


def test_dcg_weighs_by_place_and_counts_rankings_that_are_short_or_missing() -> None:
    discounts = 1 / np.log2(np.arange(4) + 2)
    items, shares = precision_of(3 * RELEVANT, 5 * JUDGED, np.ones((6, 4), dtype=bool))
    places = np.tile(np.arange(4), 6)
    kept = (items.topics != 5) & ((items.topics != 4) | (places < 2))
    short = Shares(shares.systems[kept], shares.items[kept], discounts[places[kept]], 1)

    board = SummedScores(items, short, ("a",), UNBOUNDED, counted=np.ones((1, 6), dtype=bool)).corrected()

    gained = (3 * RELEVANT * discounts).ravel()[kept]
    assert board.scores["a"].corrected.value == pytest.approx(gained.sum() / 6)
    assert board.scores["a"].power == 0
    assert board.scores["a"].judge.value == pytest.approx((5 * JUDGED * discounts).ravel()[kept].sum() / 6)


def test_what_cannot_be_told_says_why() -> None:
    items, shares = a_study()
    nothing = LabelledItems(np.full(240, NAN), items.judge, np.full(240, NAN), items.topics, 12)
    one_topic = np.where(items.topics == 3, items.people, NAN)
    of_one = LabelledItems(one_topic, items.judge, items.weights, items.topics, 12)

    assert corrected(nothing, shares).scores["a"].corrected.reason == "no item is labelled"
    assert corrected(of_one, shares).scores["a"].corrected.reason.startswith("labels are in one topic alone")
    assert corrected(nothing, shares).pairs == ()
    few = corrected(*a_study(n_topics=4)).scores["a"].corrected
    assert few.value is not None
    assert few.low is None
    assert "too few for an interval" in few.reason
