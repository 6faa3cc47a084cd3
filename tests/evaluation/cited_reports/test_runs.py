"""ARGUE's figures of runs, from counts of their reports."""

from __future__ import annotations

import pytest

from evaluation.cited_reports.runs import ReportFigures, figures_by_run
from stats.measures.cited_reports import ARGUE, Counts, Figure
from stats.measures.scores import Score


def a_report(topic: str, run: str, support: Counts, sentences: Counts, nuggets: Counts) -> ReportFigures:
    counts = {"citation support": support, "sentence support": sentences, "nugget coverage": nuggets}
    counts["nugget coverage weighted"] = nuggets
    figures = {name: Figure(Score(None), tuple(counts[part] for part in parts)) for name, parts in ARGUE.items()}
    return ReportFigures(topic, run, figures)


def test_by_hand_and_macro_f1_is_the_mean_of_the_topics_own() -> None:
    reports = [
        a_report("t1", "a", Counts(9, 10), Counts(14, 15), Counts(9, 15)),
        a_report("t2", "a", Counts(1, 10), Counts(1, 5), Counts(5, 5)),
    ]

    [run] = figures_by_run(reports)
    support, sentences, nuggets, f1 = map(run.share, ("citation support", "sentence support", "nugget coverage", "f1"))

    assert (support.micro.value, support.macro.value) == (0.5, 0.5)
    assert sentences.micro.value == 0.75
    assert sentences.macro.value == pytest.approx((14 / 15 + 0.2) / 2)
    assert (nuggets.micro.value, nuggets.macro.value) == (0.7, 0.8)
    assert f1.micro.value == pytest.approx(2 * 0.75 * 0.7 / 1.45)
    assert f1.macro.value == pytest.approx((0.7304 + 1 / 3) / 2, abs=5e-5)


def test_f1_is_over_the_topics_that_have_both_and_says_over_how_many() -> None:
    reports = [
        a_report("t1", "a", Counts(1, 2), Counts(1, 2), Counts(1, 2)),
        a_report("t2", "a", Counts(2, 2), Counts(2, 2), Counts(0, 0, 3)),
        a_report("t1", "b", Counts(0, 0, 2), Counts(0, 0, 2), Counts(0, 0)),
    ]

    a, b = figures_by_run(reports)

    assert [(share.name, share.n_topics, share.micro.value) for share in a.shares] == [
        ("citation support", 2, 0.75),
        ("sentence support", 2, 0.75),
        ("nugget coverage", 1, 0.5),
        ("nugget coverage weighted", 1, 0.5),
        ("f1", 1, 0.5),
        ("f1 weighted", 1, 0.5),
    ]
    assert [(share.n_topics, share.micro.value, share.macro.value) for share in b.shares] == [(0, None, None)] * 6
