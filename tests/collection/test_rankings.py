from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command

from collection.models import Collection, Topic
from collection.rankings import Order, Ranked, in_order, read_rankings


@pytest.mark.parametrize(("order", "expected"), [("score", ["d", "c", "b", "a"]), ("rank", ["b", "c", "a", "d"])])
def test_passages_stand_by_score_with_ties_by_docno_descending_or_by_rank(order: Order, expected: list[str]) -> None:
    lines = [Ranked("a", 3, 1.0), Ranked("b", 1, 1.0), Ranked("c", 2, 1.0), Ranked("d", 4, 2.0)]

    assert in_order(lines, order) == expected


def test_scores_that_differ_beyond_single_precision_tie() -> None:
    assert in_order([Ranked("a", 1, 0.3 + 1e-12), Ranked("b", 2, 0.3)]) == ["b", "a"]


def import_run(folder: Path, text: str) -> None:
    (folder / "a.run").write_text(text)
    call_command("import_run", str(folder / "a.run"), "--collection", "bridges")


def test_a_rank_from_zero_does_not_deepen_a_ranking(collection: Collection, tmp_path: Path) -> None:
    import_run(tmp_path, "".join(f"t0 Q0 p{rank} {rank} {20 - rank} a\n" for rank in range(15)))

    [found] = read_rankings(collection, depth=10)

    assert (found.topic, found.docnos) == (Topic.objects.get(topic_id="t0").pk, [f"p{rank}" for rank in range(10)])


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("t0 Q0 a 1 5 a\nt0 Q0 b 2 5 a\n", "1 × tied scores that the ranks put in another order"),
        ("t0 Q0 a 1 4 a\nt0 Q0 b 2 5 a\n", "1 × scores that contradict the ranks"),
    ],
)
def test_an_import_says_where_ranks_are_not_the_order_by_score(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: str, said: str
) -> None:
    import_run(tmp_path, lines)

    out = capsys.readouterr().out

    assert said in out
    assert "run “a”, topic “t0”" in out


@pytest.mark.parametrize("lines", ["t0 Q0 b 1 5 a\nt0 Q0 a 2 5 a\n", "t0 Q0 a 1 5 a\nt0 Q0 b 1 5 a\n"])
def test_an_import_is_silent_where_ranks_follow_the_scores_or_tie_as_they_do(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: str
) -> None:
    import_run(tmp_path, lines)

    assert "ranks" not in capsys.readouterr().out
