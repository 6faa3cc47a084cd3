from __future__ import annotations

from collection.texts.highlights import pieces_of


def test_a_text_is_cut_where_marks_begin_and_end() -> None:
    marks = [(0, 4, "A"), (2, 6, "B"), (None, None, "A"), (2, 4, "A")]

    pieces = [(piece.text, piece.names) for piece in pieces_of("abcdefgh", marks)]

    assert pieces == [("ab", ("A",)), ("cd", ("A", "B")), ("ef", ("B",)), ("gh", ())]


def test_a_text_without_marks_is_one_piece() -> None:
    assert [piece.text for piece in pieces_of("🐝 bees", [])] == ["🐝 bees"]
