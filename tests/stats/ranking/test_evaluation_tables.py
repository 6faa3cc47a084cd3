"""Two evaluations held against each other: with values by topic, with means alone, and with gaps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from stats.ranking.evaluation_tables import MEANS_ALONE, EvaluationTable, ValuesMissing, compare_tables
from stats.ranking.rank_correlation import pearson

RNG = np.random.default_rng(7)
RUNS = [f"r{number}" for number in range(8)]
TOPICS = [str(number) for number in range(20)]
TRUE = pd.DataFrame(np.linspace(0, 1, 8)[:, None] + RNG.normal(0, 0.3, (8, 20)), index=RUNS, columns=TOPICS)
JUDGED = TRUE + RNG.normal(0, 0.4, (8, 20))


def a_table(frame: pd.DataFrame, **stated: float) -> EvaluationTable:
    return EvaluationTable(frame, stated)


def test_the_coefficients_are_scipys_of_the_means() -> None:
    found = compare_tables(a_table(TRUE), a_table(JUDGED), at=[5])

    one, two = TRUE.mean(axis=1), JUDGED.mean(axis=1)
    best = one.nlargest(5).index
    values = {name: estimate.value for name, estimate in found.correlations.items()}
    assert values["kendall"] == pytest.approx(stats.kendalltau(one, two).statistic)
    assert values["spearman"] == pytest.approx(stats.spearmanr(one, two).statistic)
    assert values["pearson"] == pytest.approx(stats.pearsonr(one, two).statistic)
    assert values["kendall@5"] == pytest.approx(stats.kendalltau(one[best], two[best]).statistic)
    assert (found.n_runs, found.n_topics, found.notes) == (8, 20, ())
    pearson_found = found.correlations["pearson"]
    assert pearson_found.low is not None
    assert pearson_found.high is not None
    assert pearson_found.low < pearson_found.value < pearson_found.high  # type: ignore[operator]
    assert pearson_found.resampled


def test_means_alone_are_compared_without_an_interval() -> None:
    one, two = dict(TRUE.mean(axis=1)), dict(JUDGED.mean(axis=1))

    found = compare_tables(a_table(TRUE), a_table(pd.DataFrame(), **two))

    kendall = found.correlations["kendall"]
    assert kendall.value == pytest.approx(stats.kendalltau(list(one.values()), list(two.values())).statistic)
    assert (kendall.low, kendall.reason) == (None, MEANS_ALONE)
    assert found.n_topics == 0


def test_what_is_missing_is_refused_told_passed_over_or_filled() -> None:
    lacking = JUDGED.drop(index="r7").copy()
    lacking.loc["r0", "3"] = np.nan

    with pytest.raises(ValuesMissing, match=r"lacks 1 run \(r7\), 1 value of other runs and topics"):
        compare_tables(a_table(TRUE), a_table(lacking), missing="error")
    warned = compare_tables(a_table(TRUE), a_table(lacking), missing="warn")
    skipped = compare_tables(a_table(TRUE), a_table(lacking), missing="skip")
    filled = compare_tables(a_table(TRUE), a_table(lacking), missing="default", default=-9)

    assert (warned.n_runs, warned.n_topics) == (skipped.n_runs, skipped.n_topics) == (7, 19)
    assert "r7" in warned.notes[0]
    assert skipped.notes == ()
    assert (filled.n_runs, filled.n_topics) == (8, 20)
    assert "-9 is taken in their place" in filled.notes[0]
    means = lacking.reindex(RUNS).fillna(-9).mean(axis=1)
    assert filled.correlations["pearson"].value == pytest.approx(stats.pearsonr(TRUE.mean(axis=1), means).statistic)


def test_stated_means_that_are_not_those_of_the_topics_are_named() -> None:
    stated = dict(TRUE.mean(axis=1)) | {"r2": 0.99}

    found = compare_tables(EvaluationTable(TRUE, stated), a_table(JUDGED))

    assert found.notes == ("The values of “all” are not the means of the topics for 1 run (r2).",)


def test_few_runs_have_no_correlation() -> None:
    assert compare_tables(a_table(TRUE[:3]), a_table(JUDGED[:3])).correlations["pearson"].value is None
    assert pearson([1, 2, 3, 4], [5, 5, 5, 5]).value is None
