from __future__ import annotations

from stats.measures.grades import GradeTable
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
