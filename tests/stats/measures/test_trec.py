from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collection.rankings import Ranked, in_order
from stats.measures.trec import UnknownMeasure, run_of, system_scores


def ranked(scores: Mapping[str, float]) -> list[str]:
    return in_order(Ranked(docno, 0, score) for docno, score in scores.items())


docnos = st.sampled_from([f"d{number}" for number in range(8)])
judged = st.dictionaries(docnos, st.integers(0, 3), min_size=1)
scored = st.dictionaries(docnos, st.integers(0, 3).map(float), min_size=1)


def ndcg(grades: Sequence[int], judged_grades: Sequence[int], cutoff: int) -> float:
    """As trec_eval: linear gains, discount log2(rank + 1)."""
    ideal = sorted(judged_grades, reverse=True)
    dcg, best = (
        sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:cutoff], start=1))
        for gains in (grades, ideal)
    )
    return dcg / best if best else 0.0


def average_precision(grades: Sequence[int], judged_grades: Sequence[int]) -> float:
    relevant = sum(grade > 0 for grade in judged_grades)
    found = 0
    total = 0.0
    for rank, grade in enumerate(grades, start=1):
        if grade > 0:
            found += 1
            total += found / rank
    return total / relevant if relevant else 0.0


def one(measure: str, qrels: Mapping[str, int], run: Mapping[str, float]) -> float:
    return float(system_scores(measure, {"t": qrels}, {"s": {"t": run}}).to_numpy()[0, 0])


@settings(deadline=None)
@given(judged, scored)
def test_ties_and_graded_labels_count_as_in_trec_eval(qrels: dict[str, int], run: dict[str, float]) -> None:
    grades = [qrels.get(docno, 0) for docno in ranked(run)]

    found = {measure: one(measure, qrels, run) for measure in ("nDCG@3", "nDCG@10", "P@3", "P(rel=2)@5", "AP")}

    assert found["nDCG@3"] == pytest.approx(ndcg(grades, list(qrels.values()), 3))
    assert found["nDCG@10"] == pytest.approx(ndcg(grades, list(qrels.values()), 10))
    assert found["P@3"] == pytest.approx(sum(grade > 0 for grade in grades[:3]) / 3)
    assert found["P(rel=2)@5"] == pytest.approx(sum(grade >= 2 for grade in grades[:5]) / 5)
    assert found["AP"] == pytest.approx(average_precision(grades, list(qrels.values())))


def test_the_higher_docno_wins_a_tie() -> None:
    assert ranked({"a": 1.0, "c": 1.0, "b": 2.0}) == ["b", "c", "a"]
    assert one("P@1", {"a": 1}, {"a": 1.0, "c": 1.0}) == 0.0
    assert one("P@1", {"c": 1}, {"a": 1.0, "c": 1.0}) == 1.0


def test_scores_that_differ_beyond_single_precision_tie() -> None:
    scores = {"a": 0.3 + 1e-12, "b": 0.3}

    assert ranked(scores) == ["b", "a"]
    assert one("P@1", {"b": 1}, scores) == 1.0


def test_a_list_without_scores_keeps_its_order() -> None:
    assert ranked(run_of(["b", "a", "c"])) == ["b", "a", "c"]


def test_topics_are_those_of_the_qrels_and_a_missing_one_scores_zero() -> None:
    qrels = {"t1": {"a": 1}, "t2": {"a": 1}}
    run = {"t1": {"a": 1.0}, "t3": {"a": 1.0}}

    for measure in ("P@1", "RR"):
        assert system_scores(measure, qrels, {"s": run}).loc["s"].to_dict() == {"t1": 1.0, "t2": 0.0}


def test_an_empty_run_scores_zero_everywhere() -> None:
    found = system_scores("AP", {"t1": {"a": 1}}, {"empty": {}, "full": {"t1": {"a": 1.0}}})

    assert found["t1"].to_dict() == {"empty": 0.0, "full": 1.0}


def test_an_unjudged_passage_is_not_relevant() -> None:
    assert one("P@2", {"a": 1}, {"a": 1.0, "unjudged": 2.0}) == 0.5
    assert one("Judged@2", {"a": 1}, {"a": 1.0, "unjudged": 2.0}) == 0.5


@pytest.mark.parametrize("measure", ["nDGC@10", "nDCG@", "", "__import__('os')", "BPM", "nDCG(foo=1)@3"])
def test_a_measure_that_cannot_be_read_is_refused_by_name(measure: str) -> None:
    with pytest.raises(UnknownMeasure, match=re.escape(f"“{measure}”")):
        one(measure, {"a": 1}, {"a": 1.0})


def test_a_measure_of_subtopics_is_refused_with_the_way_out() -> None:
    with pytest.raises(UnknownMeasure, match="alpha_ndcg"):
        one("alpha_nDCG@10", {"a": 1}, {"a": 1.0})


def test_system_scores_have_systems_as_rows() -> None:
    found = system_scores(
        "nDCG@2", {"t1": {"a": 2, "b": 1}}, {"good": {"t1": run_of(["a", "b"])}, "bad": {"t1": run_of(["b", "a"])}}
    )

    np.testing.assert_allclose(found["t1"], [1.0, (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))])


# --- Whatever ir-measures has ---------------------------------------------------------------------

FORMS = ("{}", "{}@10", "{}(rel=2)", "{}(judged_only=True)@5", "{}@0", "{}@-1", "{}(", "{}@1.5", "{}(rel='x')")
ODD: list[Mapping[str, Mapping[str, int]]] = [{"t0": {"d1": 1, "d 2": 0, "d3": 3}, "a topic": {"d4": 0}}, {"7": {}}]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*sorted(ir_measures.measures.registry), "nDCG(dcg='exp-log2')", "Unheard"])
def test_every_measure_has_a_figure_or_a_sentence_on_any_names_of_topics(name: str) -> None:
    for measure in (form.format(name) for form in FORMS):
        for qrels in ODD:
            with suppress(UnknownMeasure):
                scores = system_scores(measure, qrels, {"s": {"t0": {"d1": 2.0, "d 2": 1.0}}, "empty": {}})
                assert np.isfinite(scores.to_numpy()).all(), measure


def test_topics_may_have_any_names() -> None:
    qrels, run = {"d1": 1, "d2": 0, "d3": 3}, {"d1": 2.0, "d2": 1.0}

    for measure in ("ERR@10", "nDCG(dcg='exp-log2')@10", "AP", "nDCG@10"):
        by_name = [
            system_scores(measure, {topic: qrels}, {"s": {topic: run}}).to_numpy()[0, 0] for topic in ("7", "t0", "a b")
        ]
        assert by_name[0] == by_name[1] == by_name[2] > 0, measure
