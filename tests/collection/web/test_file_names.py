from __future__ import annotations

from datetime import date

import pytest

from collection.web.file_names import file_stem, file_word


def test_a_name_says_study_measure_whose_what_part_order_and_day() -> None:
    stem = file_stem(
        "bridges", "nDCG@10", "people", "small judge", "scores", part="test", order="rank", on=date(2026, 3, 1)
    )

    assert stem == "bridges-nDCG@10-people-small-judge-scores-test-by-rank-2026-03-01"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("P(rel=η)@10", "P-rel-eta@10"),
        ("alpha-nDCG@20", "alpha-nDCG@20"),
        ("Cover@20>=3", "Cover@20-from-3"),
        ("google/flan-t5 · Prompt", "google-flan-t5-Prompt"),
        ('x"\r\n; filename="y.html', "x-filename-y.html"),
        ("../../etc", "etc"),
        ("ибис", ""),
    ],
)
def test_a_word_holds_only_what_a_file_name_may(text: str, word: str) -> None:
    assert file_word(text) == word


def test_what_has_no_letters_left_leaves_no_gap() -> None:
    assert file_stem("bridges", "ибис", "", "qrels") == "bridges-qrels"
