from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from stats.csv_files import csv_text, guarded, unguarded


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"])
def test_what_looks_like_a_formula_is_text(text: str) -> None:
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("cell", [-1, -0.5, None, "", "ada", "-1", "+2.5", "a=b"])
def test_numbers_and_plain_text_are_left_alone(cell: object) -> None:
    assert guarded(cell) == cell


@given(st.text())
def test_every_text_is_found_again(text: str) -> None:
    assert unguarded(guarded(text)) == text


def test_a_table_is_csv_that_says_what_was_there() -> None:
    text = csv_text([["who", "grade"], ["=ada, or ben", -1.5], ["x", None]])

    assert list(csv.reader(io.StringIO(text))) == [["who", "grade"], ["'=ada, or ben", "-1.5"], ["x", ""]]


@pytest.mark.parametrize("cell", ["'tis", "'s-Hertogenbosch", "'", "'-1"])
def test_an_apostrophe_that_was_not_put_there_stays(cell: str) -> None:
    assert unguarded(cell) == cell


def test_nothing_else_writes_csv() -> None:
    root = Path(settings.BASE_DIR)
    apps = [root / name for name in ("annotate", "collection", "config", "evaluation", "judging", "stats")]
    writers = [
        str(path.relative_to(root))
        for app in apps
        for path in app.rglob("*.py")
        if re.search(r"csv\.(writer|DictWriter)|\.to_csv\(", path.read_text())
    ]

    assert writers == ["stats/csv_files.py"]
