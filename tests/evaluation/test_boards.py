from __future__ import annotations

import numpy as np
import pytest

from evaluation.boards import BoardRefused, SourceGrades, parse_measure, score_board
from evaluation.measures.grades import GradeTable
from evaluation.measures.trec import UnknownMeasure

# Passage p answers questions as listed, at grade 5, 4 or 3.
GRADES = SourceGrades(
    {
        "t1": GradeTable(("a", "b", "c"), ("q1", "q2", "q3"), np.array([[5, 0, 0], [5, 4, 0], [np.nan, 0, 0]])),
        "t2": GradeTable(("a",), ("q1", "q2"), np.array([[np.nan, np.nan]])),
    },
    threshold=3,
)
RANKINGS = {"first": {"t1": ["b", "a"], "t2": ["a"]}, "second": {"t1": ["a", "c", "x"]}}


@pytest.mark.parametrize(
    ("name", "family", "cutoff", "minimum"),
    [
        ("coverage", "coverage", None, None),
        ("coverage@5", "coverage", 5, None),
        ("Cover@20≥3", "Cover", 20, 3.0),
        ("Cover", "Cover", 20, None),
        ("alpha-nDCG@10>=4", "alpha-nDCG", 10, 4.0),
        ("KPR@3", "KPR", 3, None),
        ("nDCG@10", "ir-measures", None, None),
    ],
)
def test_a_measure_is_named_as_the_field_writes_it(
    name: str, family: str, cutoff: int | None, minimum: float | None
) -> None:
    measure = parse_measure(name)

    assert (measure.family, measure.cutoff, measure.minimum) == (family, cutoff, minimum)


def test_no_name_is_refused_with_examples() -> None:
    with pytest.raises(BoardRefused, match="coverage, Cover@20>=3"):
        parse_measure(" ")


def test_cover_counts_every_question_and_coverage_those_that_can_be_answered() -> None:
    cover = score_board(parse_measure("Cover@1"), GRADES, RANKINGS).table
    coverage = score_board(parse_measure("coverage@1"), GRADES, RANKINGS).table

    assert cover["t1"].to_dict() == pytest.approx({"first": 2 / 3, "second": 1 / 3})
    assert coverage["t1"].to_dict() == pytest.approx({"first": 1.0, "second": 1 / 2})


def test_the_oracle_says_what_can_be_answered() -> None:
    found = score_board(parse_measure("coverage@1"), GRADES, RANKINGS, oracle="second").table

    assert found["t1"].to_dict() == {"first": 1.0, "second": 1.0}  # q1 is all that its passages answer


def test_the_measures_minimum_goes_before_the_threshold_but_not_on_a_scale_of_yes_and_no() -> None:
    measure = parse_measure("Cover@1>=5")
    yes_or_no = SourceGrades({"t1": GradeTable(("b",), ("q1",), np.array([[1.0]]))}, threshold=1, graded=False)

    assert score_board(measure, GRADES, RANKINGS).table.at["first", "t1"] == pytest.approx(1 / 3)
    assert score_board(measure, yes_or_no, RANKINGS).table.at["first", "t1"] == 1.0


def test_a_topic_without_any_grade_is_undefined_and_says_why() -> None:
    found = score_board(parse_measure("Cover@20"), GRADES, RANKINGS)

    assert np.isnan(found.table["t2"]).all()
    assert found.reasons == {"the source judged nothing of the topic": 2}


def test_missing_grades_stay_in_the_denominator_and_are_counted() -> None:
    found = score_board(parse_measure("Cover@20"), GRADES, {"second": RANKINGS["second"]})

    assert found.table.at["second", "t1"] == pytest.approx(1 / 3)
    assert (found.n_ungraded, found.n_asked) == (2, 3)  # x is unjudged, so q2 and q3 may be answered by it
    assert found.ungraded_share == pytest.approx(2 / 3)


def test_qrels_are_made_of_the_highest_grades_at_each_sources_threshold() -> None:
    found = score_board(parse_measure("P(rel=η)@2"), GRADES, RANKINGS)

    assert found.table["t1"].to_dict() == {"first": 1.0, "second": 0.5}
    assert (found.n_ungraded, found.n_asked) == (0, 4)
    assert found.reasons == {"the source judged nothing of the topic": 2}


def test_a_report_that_the_source_did_not_judge_has_no_score() -> None:
    grades = SourceGrades({"t": GradeTable(("one", "two"), ("q",), np.array([[1.0], [np.nan]]))}, threshold=1)

    found = score_board(parse_measure("coverage"), grades, {"one": {"t": ["one"]}, "two": {"t": ["two"]}, "three": {}})

    assert found.table.at["one", "t"] == 1.0
    assert np.isnan(found.table["t"][["two", "three"]]).all()
    assert found.reasons == {"the source judged no report of the system on the topic": 2}


def test_density_is_one_for_the_oracle_and_falls_with_words() -> None:
    texts = {("t1", "b"): "four words are here", ("t1", "a"): "four words are here"}

    found = score_board(parse_measure("density@1"), GRADES, RANKINGS, oracle="first", texts=texts)

    assert found.table.at["first", "t1"] == pytest.approx(1.0)
    assert found.table.at["second", "t1"] == pytest.approx(0.5**0.5)


def test_density_without_an_oracle_is_refused() -> None:
    with pytest.raises(BoardRefused, match="Density compares with an oracle"):
        score_board(parse_measure("density@10"), GRADES, RANKINGS)


def test_key_point_recall_is_the_share_that_the_first_passages_hold() -> None:
    assert score_board(parse_measure("KPR@1"), GRADES, RANKINGS).table.at["first", "t1"] == pytest.approx(2 / 3)


def test_an_unknown_measure_is_refused_with_examples() -> None:
    with pytest.raises(UnknownMeasure, match="There is no measure “goodness”"):
        score_board(parse_measure("goodness"), GRADES, RANKINGS)
