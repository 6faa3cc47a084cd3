from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, permutations, product
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from stats.pattern_intervals import Estimate
from stats.ranking.leaderboard import divergent_systems, measure_correlations
from stats.ranking.rank_correlation import Correlation, bootstrap_over_topics, kendall, spearman, tau_ap

scores = st.integers(4, 5).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 3).map(float), min_size=n, max_size=n)] * 2)
)
distinct = st.permutations([float(number) for number in range(6)])


def plain_tau_ap(reference: Sequence[float], other: Sequence[float]) -> float:
    """Yilmaz et al., eq. 2, for scores without ties."""
    order = sorted(range(len(other)), key=lambda system: -other[system])
    shares = [
        sum(reference[above] > reference[order[rank]] for above in order[:rank]) / rank for rank in range(1, len(order))
    ]
    return 2 * sum(shares) / len(shares) - 1


def ways_of_breaking_ties(values: Sequence[float]) -> Iterator[list[float]]:
    order = sorted(range(len(values)), key=lambda system: -values[system])
    groups = [list(group) for _, group in groupby(order, key=lambda system: values[system])]
    for chosen in product(*[permutations(group) for group in groups]):
        broken = [0.0] * len(values)
        for place, system in enumerate(system for group in chosen for system in group):
            broken[system] = float(-place)
        yield broken


def a_leaderboard(seed: int, *, systems: int = 8, topics: int = 30, noise: float = 0.3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    values = np.linspace(0.2, 0.8, systems)[:, None] + rng.normal(0, noise, (systems, topics))
    return pd.DataFrame(values, index=[f"s{n}" for n in range(systems)], columns=[f"t{n}" for n in range(topics)])


def test_tau_ap_of_cases_worked_by_hand() -> None:
    # Reference order 1 2 3 4. Swapping the last two costs a third of one place, the first two a whole one.
    reference = [4.0, 3.0, 2.0, 1.0]

    assert tau_ap(reference, [4.0, 3.0, 1.0, 2.0]).value == pytest.approx(2 / 3 * (1 + 1 + 2 / 3) - 1)
    assert tau_ap(reference, [3.0, 4.0, 2.0, 1.0]).value == pytest.approx(2 / 3 * (0 + 1 + 1) - 1)


@settings(deadline=None)
@given(distinct, distinct)
def test_tau_ap_without_ties_is_the_papers_formula(reference: list[float], other: list[float]) -> None:
    assert tau_ap(reference, other).value == pytest.approx(plain_tau_ap(reference, other))


@settings(deadline=None)
@given(scores)
def test_tau_ap_with_ties_is_the_mean_over_all_ways_of_breaking_them(both: tuple[list[float], list[float]]) -> None:
    reference, other = both

    found = tau_ap(reference, other).value

    ways = [plain_tau_ap(x, y) for x in ways_of_breaking_ties(reference) for y in ways_of_breaking_ties(other)]
    if found is None:
        assert len(set(reference)) == 1 or len(set(other)) == 1
    else:
        assert found == pytest.approx(np.mean(ways))


@settings(deadline=None)
@given(distinct)
def test_an_order_agrees_with_itself_and_is_opposed_to_its_reverse(values: list[float]) -> None:
    opposite = [-value for value in values]

    for correlation in (spearman, kendall, tau_ap):
        assert correlation(values, values).value == pytest.approx(1)
        assert correlation(values, opposite).value == pytest.approx(-1)


def test_values_are_those_of_scipy() -> None:
    x, y = [1.0, 2.0, 2.0, 3.0, 5.0], [2.0, 1.0, 3.0, 3.0, 4.0]

    assert spearman(x, y).value == stats.spearmanr(x, y).statistic
    assert kendall(x, y).value == stats.kendalltau(x, y).statistic


@pytest.mark.parametrize("correlation", [spearman, kendall, tau_ap])
def test_what_cannot_be_correlated_is_null_with_a_reason(
    correlation: Callable[[Sequence[float], Sequence[float]], Estimate],
) -> None:
    few, constant = correlation([1, 2, 3], [1, 2, 3]), correlation([1, 2, 3, 4], [5, 5, 5, 5])

    assert (few.value, few.reason) == (None, "A correlation of 3 systems says nothing; at least 4 are needed.")
    assert (constant.value, constant.reason) == (None, "All systems have the same score on one side.")


def test_a_system_without_a_score_on_one_side_is_left_out() -> None:
    found = kendall([1, 2, 3, 4, np.nan], [1, 2, 3, 4, 0])

    assert found.value == pytest.approx(1)


def test_scores_must_pair() -> None:
    with pytest.raises(ValueError, match="one score on either side"):
        kendall([1, 2, 3, 4], [1, 2, 3])


def test_top_k_looks_at_the_best_by_the_reference_and_keeps_ties_with_the_last() -> None:
    one, two = [9.0, 8.0, 7.0, 6.0, 6.0, 1.0], [9.0, 8.0, 7.0, 1.0, 2.0, 99.0]
    reference, other = pd.DataFrame(one), pd.DataFrame(two)

    found = bootstrap_over_topics(reference, other, top_k=4)

    assert found.value == stats.kendalltau(one[:5], two[:5]).statistic
    assert bootstrap_over_topics(reference, other, top_k=3).value is None
    assert bootstrap_over_topics(reference, other, top_k=99).value == kendall(one, two).value
    with pytest.raises(ValueError, match="at least 1"):
        bootstrap_over_topics(reference, other, top_k=0)


def test_the_resampled_range_holds_the_value_and_narrows_with_topics() -> None:
    few = bootstrap_over_topics(a_leaderboard(1, topics=10), a_leaderboard(2, topics=10), replicates=300)
    many = bootstrap_over_topics(a_leaderboard(1, topics=60), a_leaderboard(2, topics=60), replicates=300)

    for found in (few, many):
        assert found.low is not None
        assert found.high is not None
        assert found.value is not None
        assert found.low <= found.value <= found.high
        assert found.resampled
    assert (many.high or 0) - (many.low or 0) < (few.high or 0) - (few.low or 0)


@pytest.mark.parametrize("correlation", get_args(Correlation))
def test_a_table_agrees_with_itself_in_every_replicate(correlation: Correlation) -> None:
    table = a_leaderboard(3)

    found = bootstrap_over_topics(table, table, correlation=correlation, replicates=50)

    assert found.value == pytest.approx(1)
    assert found.low is None
    assert found.reason == "the same in nearly all resamples of the topics, which tells nothing of its spread"


def test_the_same_seed_gives_the_same_interval() -> None:
    one, other = a_leaderboard(1), a_leaderboard(2)

    assert bootstrap_over_topics(one, other, replicates=50) == bootstrap_over_topics(one, other, replicates=50)
    assert bootstrap_over_topics(one, other, replicates=50) != bootstrap_over_topics(one, other, replicates=50, seed=1)


def test_only_systems_and_topics_of_both_tables_count() -> None:
    one, other = a_leaderboard(1), a_leaderboard(2)
    larger = pd.concat([other, pd.DataFrame({"t0": [5.0]}, index=["new"])]).assign(t_new=9.0)

    assert bootstrap_over_topics(one, larger, replicates=20) == bootstrap_over_topics(one, other, replicates=20)


def test_a_missing_score_is_left_out_of_its_systems_mean() -> None:
    one, other = a_leaderboard(1, noise=0.0, topics=4), a_leaderboard(1, noise=0.0, topics=4)
    one.iloc[0, 1] = np.nan

    assert bootstrap_over_topics(one, other, replicates=20).value == pytest.approx(1)


def test_one_topic_gives_a_value_and_no_interval() -> None:
    found = bootstrap_over_topics(a_leaderboard(1, topics=1), a_leaderboard(2, topics=1))

    assert found.value is not None
    assert found.low is None


def test_an_interval_of_few_replicates_is_refused() -> None:
    # All difference between the systems lies in one of five topics: a third of the replicates miss it.
    table = pd.DataFrame(np.zeros((5, 5)))
    table[0] = range(5)

    found = bootstrap_over_topics(table, table, replicates=200)

    assert found.value == pytest.approx(1)
    assert found.low is None
    assert found.reason == "too many resamples of its topics have no correlation"


def test_top_k_is_chosen_anew_in_each_replicate() -> None:
    found = bootstrap_over_topics(a_leaderboard(1), a_leaderboard(2), top_k=5, replicates=100)

    assert found.value is not None
    assert found.low is not None
    assert found.low <= found.value


ALIKE_BUT_FOR_THE_LAST_BIT = {"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1], "c": [0.2, 0.2, 0.1], "d": [0.1, 0.0, 0.0]}


@pytest.mark.parametrize("correlate", [kendall, spearman, tau_ap])
def test_means_that_differ_in_their_last_bit_are_ties(correlate: Callable[..., Estimate]) -> None:
    means = [sum(row) / 3 for row in ALIKE_BUT_FOR_THE_LAST_BIT.values()]
    reference = [0.2, 0.2, *means[2:]]

    assert means[0] != means[1]  # 0.20000000000000004 and 0.19999999999999998
    assert correlate(reference, [0.9, 0.8, 0.5, 0.1]) == correlate(means, [0.9, 0.8, 0.5, 0.1])
    assert correlate(reference, [0.8, 0.9, 0.5, 0.1]) == correlate(means, [0.8, 0.9, 0.5, 0.1])


@pytest.mark.parametrize("correlation", get_args(Correlation))
def test_every_way_to_a_correlation_of_two_boards_knows_the_same_ties(correlation: Correlation) -> None:
    board = pd.DataFrame.from_dict(ALIKE_BUT_FOR_THE_LAST_BIT, orient="index")
    other = pd.DataFrame.from_dict({"a": [0.9] * 3, "b": [0.8] * 3, "c": [0.5] * 3, "d": [0.1] * 3}, orient="index")

    one_by_one = measure_correlations({"board": board, "other": other}, correlation=correlation)["other", "board"]
    resampled = bootstrap_over_topics(other, board, correlation=correlation)
    [placed, *_] = divergent_systems(
        {str(name): float(mean) for name, mean in board.mean(axis=1).items()},
        {str(name): float(mean) for name, mean in other.mean(axis=1).items()},
    )

    assert resampled.value == one_by_one.value
    assert placed.rank == 1.5
