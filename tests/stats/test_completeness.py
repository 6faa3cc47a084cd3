from __future__ import annotations

import pytest

from stats.completeness import UNMARKED, Completeness, complete_first


@pytest.mark.parametrize(
    ("found", "mark", "why"),
    [
        (Completeness(10, 0, 10, 0), "", ""),
        (Completeness(10, 0, 10, 4), "", ""),
        (Completeness(10, 3, 7, 0), "unfinished", "3 of 10 items are missing"),
        (Completeness(10, 10, 0, 0), "unfinished", "10 of 10 items are missing"),
        (Completeness(10, 0, 10, 5), "failing", "5 of its 10 replies have no readable grade"),
        (Completeness(10, 6, 4, 3), "failing", "3 of its 4 replies have no readable grade"),
        (UNMARKED, "", ""),
    ],
)
def test_what_is_missing_or_unreadable_is_marked(found: Completeness, mark: str, why: str) -> None:
    assert (found.mark, found.why) == (mark, why)
    assert found.as_dict() == {"mark": mark or None, "mark_reason": why or None}
    assert found.after("judge") == (f"judge ({mark})" if mark else "judge")


def test_complete_judges_stand_first_and_failing_ones_last_and_equals_keep_their_order() -> None:
    failing, unfinished = Completeness(4, 0, 4, 4), Completeness(4, 3, 1, 0)
    judges = [("a", failing), ("b", unfinished), ("d", UNMARKED), ("c", UNMARKED), ("e", failing)]

    in_order = complete_first(judges, of=lambda judge: judge[1])

    assert [name for name, _ in in_order] == ["d", "c", "b", "a", "e"]
