from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from stats.pattern_intervals import SHARE
from stats.ranking.leaderboard import (
    Flip,
    compare_pairs,
    divergent_systems,
    flipped_pairs,
    holm,
    leaderboard,
    measure_correlations,
    rank_stability,
)


def table(rows: dict[str, list[float]]) -> pd.DataFrame:
    frame = pd.DataFrame.from_dict(rows, orient="index", dtype=np.float64)
    frame.columns = pd.Index([f"t{number}" for number in range(frame.shape[1])])
    return frame


def noisy(means: dict[str, float], *, topics: int = 40, seed: int = 0, noise: float = 0.1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return table({system: list(mean + rng.normal(0, noise, topics)) for system, mean in means.items()})


def test_a_leaderboard_has_means_errors_and_shared_ranks() -> None:
    board = leaderboard(table({"low": [0.1, 0.2] * 3, "b": [0.4, 0.6] * 3, "a": [0.6, 0.4] * 3, "none": [np.nan] * 6}))

    assert [(one.system, one.rank, one.n_topics) for one in board] == [
        ("a", 1, 6),
        ("b", 1, 6),
        ("low", 3, 6),
        ("none", None, 0),
    ]
    assert board[0].mean.value == pytest.approx(0.5)
    assert board[0].mean.se == pytest.approx(0.1 * np.sqrt(6 / 5 / 6))
    assert board[0].mean.high == pytest.approx(0.5 + stats.t.ppf(0.975, 5) * 0.1 * np.sqrt(1 / 5))
    assert board[3].mean.reason == "The measure is undefined for every topic."


def test_means_of_shares_stay_between_their_bounds() -> None:
    [high] = leaderboard(table({"a": [1.0, 1.0, 1.0, 1.0, 0.9, 1.0]}), within=SHARE)

    assert high.mean.high is not None
    assert high.mean.high <= 1


def test_a_system_with_fewer_topics_has_a_mean_over_those_and_no_rank() -> None:
    board = leaderboard(table({"a": [0.2, np.nan, 0.4], "b": [0.5, np.nan, np.nan], "c": [0.1, np.nan, 0.1]}))

    assert [(one.system, one.rank, one.mean.value, one.n_topics) for one in board] == [
        ("a", 1, pytest.approx(0.3), 2),
        ("c", 2, pytest.approx(0.1), 2),
        ("b", None, 0.5, 1),
    ]


def test_estimates_have_no_ranks() -> None:
    board = leaderboard(table({"b": [0.9] * 5, "a": [0.1] * 5}), ranked=())

    assert [(one.system, one.rank) for one in board] == [("a", None), ("b", None)]


def test_means_equal_but_for_rounding_share_a_rank() -> None:
    board = leaderboard(table({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1]}))

    assert [one.rank for one in board] == [1, 1]


def test_ranks_of_systems_far_apart_are_certain() -> None:
    stable = rank_stability(noisy({"c": 0.1, "a": 0.9, "b": 0.5}), replicates=200)

    assert list(stable.at_most.loc["a"]) == [1.0, 1.0, 1.0]
    assert list(stable.at_most.loc["c"]) == [0.0, 0.0, 1.0]
    assert stable.beats.loc["a", "c"] == 1.0
    assert stable.beats.loc["c", "b"] == 0.0
    assert np.isnan(np.diag(stable.beats)).all()


def test_chances_of_winning_complement_each_other_and_ties_count_half() -> None:
    twins = table({"a": [0.1, 0.5, 0.9] * 2, "twin": [0.1, 0.5, 0.9] * 2, "b": [0.9, 0.5, 0.2] * 2})

    stable = rank_stability(twins, replicates=300)

    sums = (stable.beats + stable.beats.T).to_numpy()
    assert sums[~np.eye(3, dtype=bool)] == pytest.approx(1)
    assert stable.beats.loc["a", "twin"] == 0.5
    assert (stable.at_most.loc["a"] == stable.at_most.loc["twin"]).all()
    assert (np.diff(stable.at_most.to_numpy(), axis=1) >= 0).all()
    assert (stable.at_most[3] == 1.0).all()


def test_chance_of_winning_is_that_of_a_draw_of_topics() -> None:
    # Six topics, three for each: means are equal where three of each are drawn, in 20 of 64 draws.
    stable = rank_stability(table({"a": [1.0, 0.0] * 3, "b": [0.0, 1.0] * 3}), replicates=20_000)

    assert stable.beats.loc["a", "b"] == pytest.approx(0.5, abs=0.02)
    assert stable.at_most.loc["a", 1] == pytest.approx((1 + 20 / 64) / 2, abs=0.02)


def test_means_equal_but_for_rounding_tie_in_a_replicate_too() -> None:
    # Equal where either's better topics are drawn as often: in 141 of 729 draws of six.
    stable = rank_stability(table({"a": [0.1, 0.2, 0.3] * 2, "b": [0.3, 0.2, 0.1] * 2}), replicates=20_000)

    assert list(stable.at_most[1]) == pytest.approx([(1 + 141 / 729) / 2] * 2, abs=0.02)


def test_stability_needs_as_many_topics_as_an_interval() -> None:
    stable = rank_stability(table({"a": [1.0, 0.9, 1.0, 0.9], "b": [0.5] * 4}))

    assert stable.at_most.isna().all().all()
    assert stable.beats.isna().all().all()


def test_pairs_are_t_tests_with_holms_correction_of_systems_with_all_topics() -> None:
    scores = noisy({"a": 0.6, "b": 0.5, "c": 0.45, "fewer": 0.9}, topics=12)
    scores.loc["fewer", "t3"] = np.nan

    pairs = {(one.first, one.second): one for one in compare_pairs(scores)}

    plain = stats.ttest_rel(scores.loc["b"], scores.loc["c"])
    ab = pairs["a", "b"]
    assert list(pairs) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert pairs["b", "c"].p == pytest.approx(plain.pvalue)
    assert pairs["b", "c"].n_topics == 12
    assert (pairs["b", "c"].difference.low, pairs["b", "c"].difference.high) == pytest.approx(
        tuple(plain.confidence_interval())
    )
    ordered = sorted(pairs.values(), key=lambda one: one.p or 0)
    holm = [min(1.0, (3 - place) * (one.p or 0)) for place, one in enumerate(ordered)]
    assert [one.p_holm for one in ordered] == pytest.approx(list(np.maximum.accumulate(holm)))
    assert ab.winner == "a"


def test_equal_systems_have_no_winner_and_constant_differences_no_test() -> None:
    pairs = compare_pairs(table({"a": [0.5, 0.7] * 3, "b": [0.5, 0.7] * 3, "c": [0.4, 0.6] * 3, "d": [np.nan] * 6}))

    found = {(one.first, one.second): one for one in pairs}
    assert (found["a", "b"].winner, found["a", "b"].p) == (None, 1.0)
    assert (found["a", "c"].winner, found["a", "c"].p, found["a", "c"].significant) == ("a", None, False)
    assert ("a", "d") not in found


def test_a_pair_flips_where_a_significant_winner_loses_elsewhere() -> None:
    people = compare_pairs(noisy({"a": 0.8, "b": 0.5, "c": 0.2}))
    judge = compare_pairs(noisy({"a": 0.5, "b": 0.8, "c": 0.2}, seed=1))

    assert flipped_pairs({"people": people, "judge": judge}) == [
        Flip("people", "judge", "a", "b", opposed=True),
        Flip("judge", "people", "b", "a", opposed=True),
    ]


def test_a_flip_to_an_unsure_winner_is_told_apart() -> None:
    sure, unsure = (
        table({"a": [0.9, 0.8, 0.9, 0.8, 0.9], "b": [0.1, 0.2, 0.2, 0.1, 0.2]}),
        table({"a": [0.4, 0.6, 0.1, 0.9, 0.5], "b": [0.9, 0.5, 0.2, 0.6, 0.6]}),
    )

    found = flipped_pairs({"people": compare_pairs(sure), "judge": compare_pairs(unsure)})

    assert found == [Flip("people", "judge", "a", "b", opposed=False)]


def test_ties_and_missing_pairs_are_no_flips() -> None:
    sure = compare_pairs(noisy({"a": 0.8, "b": 0.2}))
    tied = compare_pairs(table({"a": [0.5, 0.5], "b": [0.5, 0.5]}))
    other_systems = compare_pairs(noisy({"a": 0.8, "c": 0.2}))

    assert flipped_pairs({"people": sure, "judge": tied, "third": other_systems}) == []


def test_measures_are_correlated_over_the_systems_both_score() -> None:
    one = noisy({f"s{number}": number / 10 for number in range(6)}, noise=0.0)
    reverse = -one
    partial = one.iloc[:3]

    found = measure_correlations({"one": one, "reverse": reverse, "partial": partial}, correlation="spearman")

    assert found["one", "reverse"].value == pytest.approx(-1)
    assert found["reverse", "one"].value == pytest.approx(-1)
    assert found["one", "partial"].value is None
    assert ("one", "one") not in found


def test_divergent_systems_come_first() -> None:
    found = divergent_systems(
        {"a": 0.9, "b": 0.8, "c": 0.7, "only here": 1.0}, {"a": 0.2, "b": 0.5, "c": 0.5, "only there": 1.0}
    )

    assert [(one.system, one.rank, one.rank_by_other, one.places) for one in found] == [
        ("a", 1, 3, 2),
        ("c", 3, 1.5, -1.5),
        ("b", 2, 1.5, -0.5),
    ]


def test_holm_is_statsmodels() -> None:
    rng = np.random.default_rng(3)
    ps = [*rng.random(40), 0.02, 0.02, 1e-12, 1.0]

    assert holm(ps) == pytest.approx(multipletests(ps, method="holm")[1])
    assert holm([]) == []
