from __future__ import annotations

import numpy as np
import pytest

from stats.measures.grades import GradeTable
from stats.measures.trec import UnknownMeasure
from stats.ranking.measure_names import NoLeaderboard, parse_measure
from stats.ranking.oracle_contexts import Oracle, TokenCounts
from stats.ranking.scoring import SourceGrades, score_systems

# Passage p answers questions as listed, at grade 5, 4 or 3.
GRADES = SourceGrades(
    {
        "t1": GradeTable(("a", "b", "c"), ("q1", "q2", "q3"), np.array([[5, 0, 0], [5, 4, 0], [np.nan, 0, 0]])),
        "t2": GradeTable(("a",), ("q1", "q2"), np.array([[np.nan, np.nan]])),
    },
    threshold=3,
)
RANKINGS = {"first": {"t1": ["b", "a"], "t2": ["a"]}, "second": {"t1": ["a", "c", "x"]}}
FIRST = Oracle("first", RANKINGS["first"])


@pytest.mark.parametrize(
    ("name", "family", "cutoff", "minimum"),
    [
        ("coverage", "coverage", None, None),
        ("coverage@5", "coverage", 5, None),
        ("Cover@20≥3", "Cover", 20, 3.0),
        ("Cover", "Cover", 20, None),
        ("alpha-nDCG@10>=4", "alpha-nDCG", 10, 4.0),
        ("KPR@3", "KPR", 3, None),
        ("nDCG@10", "nDCG", None, None),
    ],
)
def test_a_measure_is_named_as_the_field_writes_it(
    name: str, family: str, cutoff: int | None, minimum: float | None
) -> None:
    measure = parse_measure(name)

    assert (measure.family, measure.cutoff, measure.minimum) == (family, cutoff, minimum)


def test_density_names_what_counts_its_tokens() -> None:
    named = parse_measure("density(tokens=llama-3.1)@5>=4")

    assert (named.family, named.tokenizer, named.cutoff, named.minimum) == ("density", "llama-3.1", 5, 4.0)
    assert parse_measure("density").tokenizer == "words"
    assert parse_measure("coverage(tokens=words)").of_qrels  # and ir-measures knows no such measure


def test_no_name_is_refused_with_examples() -> None:
    with pytest.raises(NoLeaderboard, match="coverage, Cover@20>=3"):
        parse_measure(" ")


def test_cover_counts_every_question_and_coverage_those_that_can_be_answered() -> None:
    cover = score_systems(parse_measure("Cover@1"), GRADES, RANKINGS).table
    coverage = score_systems(parse_measure("coverage@1"), GRADES, RANKINGS).table

    assert cover["t1"].to_dict() == pytest.approx({"first": 2 / 3, "second": 1 / 3})
    assert coverage["t1"].to_dict() == pytest.approx({"first": 1.0, "second": 1 / 2})


def test_the_oracle_says_what_can_be_answered() -> None:
    found = score_systems(parse_measure("coverage@1"), GRADES, RANKINGS, oracle=Oracle("second", RANKINGS["second"]))

    assert found.table["t1"].to_dict() == {"first": 1.0, "second": 1.0}  # q1 is all that its passages answer
    assert found.n_unanswerable == 2


def test_the_measures_minimum_goes_before_the_threshold_but_not_on_a_scale_of_yes_and_no() -> None:
    measure = parse_measure("Cover@1>=5")
    yes_or_no = SourceGrades({"t1": GradeTable(("b",), ("q1",), np.array([[1.0]]))}, threshold=1, scale=(0, 1))

    assert score_systems(measure, GRADES, RANKINGS).table.at["first", "t1"] == pytest.approx(1 / 3)
    assert score_systems(measure, yes_or_no, RANKINGS).table.at["first", "t1"] == 1.0


def test_a_topic_without_any_grade_is_undefined_and_says_why() -> None:
    found = score_systems(parse_measure("Cover@20"), GRADES, RANKINGS)

    assert np.isnan(found.table["t2"]).all()
    assert found.reasons == {"the source has no judgments of the topic": 2}


def test_missing_grades_stay_in_the_denominator_and_are_counted() -> None:
    found = score_systems(parse_measure("Cover@20"), GRADES, {"second": RANKINGS["second"]})

    assert found.table.at["second", "t1"] == pytest.approx(1 / 3)
    assert (found.n_ungraded, found.n_asked) == (2, 3)  # x is unjudged, so q2 and q3 may be answered by it
    assert found.ungraded_share == pytest.approx(2 / 3)


def test_qrels_are_made_of_the_highest_grades_at_each_sources_threshold() -> None:
    found = score_systems(parse_measure("P(rel=η)@2"), GRADES, RANKINGS)

    assert found.table["t1"].to_dict() == {"first": 1.0, "second": 0.5}
    assert (found.n_ungraded, found.n_asked) == (0, 4)
    assert found.reasons == {"the source has no judgments of the topic": 2}


def test_a_report_that_the_source_did_not_judge_has_no_score() -> None:
    grades = SourceGrades({"t": GradeTable(("one", "two"), ("q",), np.array([[1.0], [np.nan]]))}, threshold=1)

    found = score_systems(
        parse_measure("coverage"), grades, {"one": {"t": ["one"]}, "two": {"t": ["two"]}, "three": {}}
    )

    assert found.table.at["one", "t"] == 1.0
    assert np.isnan(found.table["t"][["two", "three"]]).all()
    assert found.reasons == {"the source has no judgment of a report of the system on the topic": 2}


def density_of(name: str, passages: dict[str, int], *, oracle: Oracle = FIRST) -> dict[str, float]:
    tokens = TokenCounts("words", passages)
    table = score_systems(parse_measure(name), GRADES, RANKINGS, oracle=oracle, tokens=tokens).table
    return {str(system): value for system, value in table["t1"].items()}


def test_the_oracles_context_counts_whole_whatever_the_cutoff() -> None:
    # Z* is b and a, 8 tokens for q1 and q2. The first passage of `first` answers both in 4, that of `second` one in 4.
    found = density_of("density@1", {"a": 4, "b": 4})

    assert found == pytest.approx({"first": 2**0.5, "second": (0.5 * 2) ** 0.5})
    assert density_of("density@2", {"a": 4, "b": 4, "c": 4})["first"] == 1.0


@pytest.mark.parametrize("known", [{"b": 4}, {"a": 4}])
def test_density_is_undefined_while_a_text_of_either_context_is_missing(known: dict[str, int]) -> None:
    tokens = TokenCounts("words", known)

    found = score_systems(parse_measure("density@1"), GRADES, RANKINGS, oracle=FIRST, tokens=tokens)

    assert np.isnan(found.table["t1"]).all()
    assert "The tokens of a text are not known: it is not stored here, or has no stored count." in found.reasons


@pytest.mark.parametrize("name", ["density", "density@10", "coverage@oracle", "nDCG@oracle"])
def test_what_compares_with_the_oracles_context_is_refused_without_one(name: str) -> None:
    with pytest.raises(NoLeaderboard, match="compares with the oracle’s context"):
        score_systems(parse_measure(name), GRADES, RANKINGS)


REPORTS = SourceGrades({"t1": GradeTable(("y",), ("q1", "q2", "q3"), np.array([[1.0, 0, 1]]))}, threshold=1)


def coverage_of_report(oracle: Oracle | None) -> float:
    table = score_systems(parse_measure("coverage"), REPORTS, {"y": {"t1": ["y"]}}, oracle=oracle).table
    return float(table.to_numpy()[0, 0])


def test_a_report_is_asked_what_the_oracles_context_answers_by_the_same_source() -> None:
    context = Oracle("o", {"t1": ["a", "b"]}, GRADES.tables, minimum=3)  # answers q1 and q2, and surely not q3

    assert coverage_of_report(context) == pytest.approx(1 / 2)
    assert coverage_of_report(None) == pytest.approx(2 / 3)


def test_what_the_source_did_not_grade_wholly_is_asked_of_the_report() -> None:
    unjudged = Oracle("o", {"t1": ["a", "x"]}, GRADES.tables, minimum=3)  # x may answer q2 and q3
    never = Oracle("o", {"t1": ["a", "b"]})

    assert coverage_of_report(unjudged) == pytest.approx(2 / 3)
    assert coverage_of_report(never) == pytest.approx(2 / 3)


def test_a_reports_density_is_against_the_oracles_context_not_its_report() -> None:
    tokens = TokenCounts("words", {"a": 6, "b": 6}, {("t1", "y"): 4})
    rankings = {"y": {"t1": ["y"]}, "first": {"t1": ["first"]}}

    found = score_systems(parse_measure("density"), REPORTS, rankings, oracle=FIRST, tokens=tokens)

    assert found.table.at["y", "t1"] == pytest.approx((2 / 3 / 4 * 12) ** 0.5)


def test_a_cutoff_at_the_oracle_is_as_long_as_its_context_topic_by_topic() -> None:
    grades = SourceGrades(
        {topic: GradeTable(("a", "b"), ("q1",), np.array([[3.0], [5.0]])) for topic in ("one", "two", "three")}, 3
    )
    oracle = Oracle("o", {"one": ["b"], "two": ["b", "a"]})
    rankings = {"run": {topic: ["x", "b", "a"] for topic in grades.tables}}

    tables = {
        name: score_systems(parse_measure(name), grades, rankings, oracle=oracle)
        for name in ("coverage@oracle", "alpha-nDCG@oracle", "R@oracle", "P(rel=5)@oracle")
    }

    rows = {name: found.table.to_numpy()[0, :2].tolist() for name, found in tables.items()}
    assert rows["coverage@oracle"] == [0, 1]
    assert rows["alpha-nDCG@oracle"] == [0, pytest.approx(1 / np.log2(3) / (1 + 0.5 / np.log2(3)))]
    assert rows["R@oracle"] == [0, 0.5]
    assert rows["P(rel=5)@oracle"] == [0, 0.5]
    for found in tables.values():
        assert np.isnan(found.table["three"]).all()
        assert found.reasons == {"the oracle ranks no passage for the topic": 1}


def test_key_point_recall_is_the_share_that_the_first_passages_hold() -> None:
    assert score_systems(parse_measure("KPR@1"), GRADES, RANKINGS).table.at["first", "t1"] == pytest.approx(2 / 3)


def test_an_unknown_measure_is_refused_with_examples() -> None:
    with pytest.raises(UnknownMeasure, match="There is no measure “goodness”"):
        score_systems(parse_measure("goodness"), GRADES, RANKINGS)
