"""A context and its reports in one row: pure functions."""

from __future__ import annotations

import pandas as pd
import pytest

from stats.ranking.leaderboard import measure_correlations
from stats.ranking.written_reports import WrittenReports, joined_in_words, joined_rows

CONTEXTS = {"y1": "z1", "y2": "z2", "again": "z2", "alone": "gone"}


def test_a_run_of_reports_stands_for_the_context_that_it_was_written_from() -> None:
    rows = joined_rows(CONTEXTS, ["z1", "z2", "z3"], ["y1", "y2", "again", "alone"])

    assert rows == {"z3": "z3", "y1": "z1", "y2": "z2", "again": "z2"}


def test_a_run_with_reports_of_its_own_keeps_its_row_and_one_that_is_ranked_too_its_own_ranking() -> None:
    rows = joined_rows({"y1": "z1", "z2": "z1"}, ["z1", "z2"], ["z1", "z2", "y1"])

    assert rows == {"z1": "z1", "z2": "z2", "y1": "z1"}


def test_the_words_name_contexts_that_stand_in_several_rows() -> None:
    several = joined_in_words({"y1": "z1", "y2": "z2", "again": "z2"})

    assert joined_in_words({"a": "a"}) == ""
    assert joined_in_words({"y1": "z1"}).startswith("1 run of")
    assert (several[:9], several[-5:]) == ("3 runs of", ": z2.")


def test_measures_of_contexts_and_of_reports_are_correlated_over_pairs_of_both() -> None:
    topics = ["t1", "t2"]
    contexts = pd.DataFrame([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]], ["z1", "z2", "z3", "z4"], topics)
    reports = pd.DataFrame([[0.0, 0.1], [0.3, 0.2], [0.4, 0.4], [0.9, 0.9]], ["y1", "y2", "y3", "y4"], topics)
    tables = {"contexts": contexts, "reports": reports}
    written = WrittenReports({f"y{n}": f"z{n}" for n in range(1, 5)}, frozenset({"contexts"}))

    joined = measure_correlations(tables, written=written)

    assert joined["contexts", "reports"].value == pytest.approx(1)
    assert joined["reports", "contexts"].value == pytest.approx(1)
    assert measure_correlations(tables)["contexts", "reports"].value is None
    assert [*written.pair(tables, "reports", "contexts")[1].index] == ["y1", "y2", "y3", "y4"]
