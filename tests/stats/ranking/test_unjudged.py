from __future__ import annotations

import numpy as np
import pytest

from stats.measures.grades import GradeTable
from stats.ranking.qrels_scoring import parse_qrels_measure
from stats.ranking.unjudged import FEWEST_TOPICS, runs_that_are_the_labels

TOPICS = [f"t{n}" for n in range(FEWEST_TOPICS)]


def test_a_run_that_ranks_just_what_is_labelled_is_its_own_judge() -> None:
    tables = {topic: GradeTable.from_rows([("a", "q", 1.0), ("b", "q", 2.0), ("c", "q", None)]) for topic in TOPICS}
    gold = {topic: ["b", "a"] for topic in TOPICS}
    rankings = {"gold": gold, "more": gold | {"t0": ["a", "b", "c"]}, "less": gold | {"t1": ["a"]}}
    judged = tables | {"t9": GradeTable.from_rows([("a", "q", 0.0)])}

    assert runs_that_are_the_labels(tables, rankings) == ["gold"]
    assert runs_that_are_the_labels({topic: tables[topic] for topic in TOPICS[1:]}, rankings) == []
    assert runs_that_are_the_labels(judged, rankings) == []


def test_what_is_declared_irrelevant_makes_nobody_else_the_judge() -> None:
    """Of four passages two are named, as gold ones are; the others have the grade 0 by declaration alone."""
    named = np.array([[1.0], [1.0], [np.nan], [np.nan]])
    table = GradeTable(("a", "b", "c", "d"), ("q",), named * [[1], [2], [1], [1]])
    tables = {topic: table.with_unnamed(named, grade=0) for topic in TOPICS}
    gold = {topic: ["b", "a"] for topic in TOPICS}
    rankings = {"gold": gold, "more": gold | {"t0": ["a", "b", "c"]}, "less": gold | {"t1": ["a"]}}
    judged = tables | {"t9": GradeTable.from_rows([("a", "q", 0.0)])}

    assert runs_that_are_the_labels(tables, rankings) == ["gold"]
    assert runs_that_are_the_labels(judged, rankings) == []


@pytest.mark.parametrize(
    ("measure", "looks_to"),
    [
        ("AP", 10),
        ("AP@1000", 10),
        ("AP@5", 5),
        ("R@1000", 10),
        ("R@100", 10),
        ("nDCG@20", 20),
        ("nDCG", 10),
        ("P@5", 5),
    ],
)
def test_measures_of_all_that_is_relevant_look_at_the_same_passages(measure: str, looks_to: int) -> None:
    assert parse_qrels_measure(measure, threshold=1).looks_to == looks_to


def test_what_is_declared_irrelevant_is_known_wherever_it_stands() -> None:
    table = GradeTable(("a", "b", "c"), ("x", "y"), np.array([[3, np.nan], [np.nan, np.nan], [np.nan, np.nan]]))
    named = np.array([[1, np.nan], [1, np.nan], [np.nan, np.nan]])

    found = table.with_unnamed(named, grade=0)

    assert [found.n_known(passage) for passage in ("a", "b", "c", "elsewhere")] == [1, 0, 2, 2]
    assert found.of(["c", "elsewhere"]).tolist() == [[0, 0], [0, 0]]
    assert table.with_unnamed(np.full((3, 2), np.nan), grade=0) is table
