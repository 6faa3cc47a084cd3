from __future__ import annotations

import numpy as np
import pytest

from stats.ranking.filled_comparison import compare_filled, pool_of
from stats.ranking.filled_qrels import NotFilled, fill, grade_map
from stats.ranking.qrels_scoring import parse_qrels_measure

GRADES, FOUR = [0.0, 1, 2, 3, 4, 5], [0.0, 1, 2, 3]


def test_peoples_lines_stay_and_the_judges_stand_where_no_person_judged() -> None:
    people = {("t1", "a"): 3, ("t1", "b"): 0}
    judge = {("t1", "a"): 0, ("t1", "c"): 2, ("t1", "tied"): 1, ("t2", "a"): 3}

    filled = fill(people, judge, judged={*people, ("t1", "tied")})

    assert filled.lines == [("t1", "a", 3, False), ("t1", "b", 0, False), ("t1", "c", 2, True)]
    assert (filled.n_judged_too, filled.n_outside, filled.n_other_topics) == (2, 0, 1)


def test_fills_the_pool_alone_and_counts_what_stays_open() -> None:
    pool = pool_of({"one": {"t1": ["a", "c", "d"]}, "other": {"t1": ["e"]}}, depth=2)
    people = {("t1", "a"): 3}

    filled = fill(people, {("t1", "c"): 1, ("t1", "d"): 2}, judged=set(people), pool=pool)

    assert filled.filled == {("t1", "c")}
    assert filled.holes == {("t1", "e")}
    assert filled.n_outside == 1


def test_topics_that_no_person_judged_are_filled_if_asked() -> None:
    filled = fill({("t1", "a"): 1}, {("t2", "b"): 2}, judged={("t1", "a")}, all_topics=True)

    assert filled.lines == [("t1", "a", 1, False), ("t2", "b", 2, True)]


def test_grades_of_another_scale_become_labels_by_the_steps_that_are_stated() -> None:
    mapped = grade_map("2:1, 4:2,5:3", judge_scale=GRADES, scale=FOUR, judge_at=3)

    assert mapped.labels(np.array([0, 1, 2, 3, 4, 5.0])).tolist() == [0, 0, 1, 1, 2, 3]
    assert np.isnan(mapped.labels(np.array([np.nan]))).all()
    assert mapped.in_words == "label 1 from the judge’s 2 up, 2 from 4 up, 3 from 5 up; else 0"


def test_the_same_scale_needs_no_mapping_and_a_yes_or_no_goes_by_the_threshold() -> None:
    same = grade_map("", judge_scale=FOUR, scale=FOUR, judge_at=2)
    binary = grade_map("", judge_scale=GRADES, scale=[0, 1], judge_at=3)
    by_threshold = grade_map("", judge_scale=GRADES, scale=FOUR, judge_at=3, people_at=2)

    assert same.labels(np.array(FOUR)).tolist() == FOUR
    assert binary.labels(np.array(GRADES)).tolist() == [0, 0, 0, 1, 1, 1]
    assert by_threshold.labels(np.array(GRADES)).tolist() == [0, 0, 0, 3, 3, 3]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "for example “3:1, 4:2, 5:3”"),
        ("2=1", "is not a step"),
        ("4:1, 2:2", "judge’s grades of a mapping must rise"),
        ("2:2, 4:1", "labels of a mapping must rise"),
        ("9:1", "9 does not divide its grades"),
        ("0:1", "0 does not divide its grades"),
        ("2:4", "4 is not a label above the lowest"),
    ],
)
def test_a_mapping_that_is_none_says_what_to_change(text: str, says: str) -> None:
    with pytest.raises(NotFilled, match=says):
        grade_map(text, judge_scale=GRADES, scale=FOUR, judge_at=3)


def test_filling_turns_the_order_round_within_the_bounds() -> None:
    """By people `old` leads, of whose first two both are judged; the judge finds both of the first two of `new`."""
    topics = [f"t{number}" for number in range(6)]
    rankings = {
        "old": {topic: ["a", "b"] for topic in topics},
        "new": {topic: ["x", "y"] for topic in topics},
    }
    people = {(topic, docno): grade for topic in topics for docno, grade in (("a", 1), ("b", 0))}
    filled = people | {(topic, docno): 1 for topic in topics for docno in ("x", "y")}

    found = compare_filled(parse_qrels_measure("P@2", threshold=1), people, filled, rankings, highest=1)

    old, new = found.systems
    assert (old.system, old.before, old.low, old.high, old.after) == ("old", 0.5, 0.5, 0.5, 0.5)
    assert (new.system, new.before, new.low, new.high, new.after) == ("new", None, 0.0, 1.0, 1.0)
    assert (new.low_after, new.high_after) == (1.0, 1.0)
    assert [(one.rank, one.rank_after, one.places) for one in (old, new)] == [(1, 2, 0), (None, 1, None)]
    assert (new.unjudged, new.unjudged_after) == (1.0, 0.0)
    assert (found.n_topics, found.n_open, found.n_open_after) == (6, 1, 0)
    assert "at least 4" in found.kendall.reason
