"""Files that mean harm, or are merely odd: each gets a line and a reason, never a fault of ours."""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from annotate.crowd.prolific import read_submissions
from collection.formats import problems, values
from collection.formats.jsonl import read_collection
from collection.formats.judgments_reader import read_judgments
from collection.formats.problems import BrokenFile, BrokenLine, InputFile
from collection.formats.rubric_workbench import read_graded
from collection.formats.topics import read_topics
from collection.formats.trec import read_qrels, read_run
from collection.formats.values import read_moment, read_number, read_whole, strict_json
from collection.importing.background import memory_limit

TABLE = "item_id,criterion,rater,grade,seconds,judged_at\n"
Read = Callable[[InputFile], Any]


def refusal_of(path: Path, content: bytes, read: Read) -> str:
    """Return what is said of a file with this content."""
    path.write_bytes(content)
    with pytest.raises(BrokenFile) as refused, InputFile(path) as file:
        list(read(file))
    return str(refused.value)


@pytest.mark.parametrize(
    ("name", "content", "read", "reason"),
    [
        ("a.csv", TABLE + "a,b,c,1,nan,\n", read_judgments, "line 2: The seconds “nan” is not a number."),
        ("a.csv", TABLE + "a,b,c,inf,,\n", read_judgments, "line 2: The grade “inf” is not a number."),
        ("a.csv", TABLE + f"a,b,c,{'9' * 5_000},,\n", read_judgments, "line 2: The grade “999"),
        ("a.csv", TABLE + "a,b,c,١,,\n", read_judgments, "line 2: The grade “١” is not a number."),
        ("a.csv", TABLE + "a,b,c,1_0,,\n", read_judgments, "line 2: The grade “1_0” is not a number."),
        ("a.csv", TABLE + "a,b,c,1,,0001-01-01T00:00:00+14:00\n", read_judgments, "line 2: “0001-01-01T00"),
        ("a.csv", TABLE + "a,b,c,1,,9999-12-31T23:59:59-12:00\n", read_judgments, "not a time between 1900 and 2200"),
        ("a.csv", 'item_id,"criterion,rater,grade\na,b,c,1\n', read_judgments, "line 1: This is not CSV"),
        ("a.csv", "item_id,criterion,rater,grade,grade\na,b,c,1,2\n", read_judgments, "two columns “grade”"),
        ("a.csv", "item_id,criterion,rater,grade\ra,b,c,1\r", read_judgments, "line 1: The lines end with CR alone"),
        ("a.csv", TABLE + "a\x00,b,c,1,,\n", read_judgments, "line 2: A text contains the character U+0000"),
        ("a.csv", "", read_judgments, "line 1: The column “item_id” is missing."),
        ("a.csv", "Submission id,Status,Status\n", read_submissions, "line 1: The column “Participant id” is missing"),
        ("a.csv", 'Submission id,"Participant id\n', read_submissions, "line 1: This is not CSV"),
        ("a.run", "t Q0 d\x00 1 2 tag\n", read_run, "line 1: A text contains the character U+0000"),
        ("a.run", f"t Q0 d {'1' * 5_000} 2 tag\n", read_run, "line 1: The rank “111"),
        ("a.run", "t Q0 d 1 1e999 tag\n", read_run, "line 1: The score “1e999” is not a number."),
        ("a.run", "t d1 0\nt d2 1\n", read_run, "line 1: The rank is 0"),
        ("a.qrels", "t 0 d ²\n", read_qrels, "line 1: The grade “²” is not a number."),
        ("a.jsonl", '{"type": "topic", "topic_id": "t", "topic_id": "u"}', read_collection, "“topic_id” is twice"),
        ("a.jsonl", '{"a":' * 5_000 + "1" + "}" * 5_000, read_collection, "line 1: This JSON is nested"),
        ("a.jsonl", '{"a":' * 65 + "1" + "}" * 65, read_collection, "line 1: This JSON is nested"),
        ("a.jsonl", '{"a": ' + "9" * 5_000 + "}", read_collection, "line 1: This JSON cannot be used"),
        ("a.jsonl", '{"a": 1e999}', read_collection, "line 1: This JSON cannot be used: 1e999 is too large"),
        ("a.jsonl", '{"a": "\\ud800"}', read_collection, "line 1: A text contains half of a surrogate pair"),
        ("a.jsonl", "[" + "[]," * 600_000 + "[]]", read_collection, "line 1: This JSON contains more than 1,000,000"),
    ],
)  # fmt: skip
def test_an_odd_file_is_refused_by_line_and_reason(
    tmp_path: Path, name: str, content: str, read: Read, reason: str
) -> None:
    assert reason in refusal_of(tmp_path / name, content.encode(), read)


def list_of_objects(n: int) -> str:
    return "[" + ",\n".join('{"id": "q", "request": "who"}' for _ in range(n)) + "]"


def line_of_tags(n: int) -> str:
    return "<top><num>1<title>" + " <b>ice" * n


@pytest.mark.parametrize(("content_of", "n"), [(list_of_objects, 5_000), (line_of_tags, 50_000)])
def test_four_times_as_much_takes_about_four_times_as_long(
    tmp_path: Path, content_of: Callable[[int], str], n: int
) -> None:
    def seconds(times: int) -> float:
        path = tmp_path / "topics"
        path.write_text(content_of(times * n))
        begun = process_time()
        with InputFile(path) as file:
            assert list(read_topics(file))
        return process_time() - begun

    assert seconds(4) < 8 * min(seconds(1), seconds(1))


def test_a_line_without_an_end_is_not_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems, "MOST_LINE_BYTES", 1_000)

    said = refusal_of(tmp_path / "a.jsonl", b'{"type": "system"}\n' + b"x" * 1_001, read_collection)

    assert "line 2: The line is longer than" in said


def test_a_small_gzip_that_unpacks_to_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems, "MOST_UNPACKED", 10_000)
    path = tmp_path / "graded.jsonl.gz"
    path.write_bytes(gzip.compress(b'["t", []]\n' + b" " * 9_000 + b"\n" + b" " * 9_000 + b"\n"))

    with pytest.raises(BrokenFile, match="Unpacked, the file is larger"), InputFile(path) as file:
        list(read_graded(file))


@given(st.text())
def test_numbers_and_times_are_read_or_refused_and_nothing_else(written: str) -> None:
    told = []
    for read in (
        lambda: read_number(written, "grade"),
        lambda: read_whole(written, "rank"),
        lambda: read_moment(written),
    ):
        try:
            read()
        except BrokenLine as broken:
            told.append(broken.reason)
    assert all(told)


@given(st.floats(allow_nan=False, min_value=-1e300, max_value=1e300))
def test_every_number_that_python_writes_is_read_back(number: float) -> None:
    assert read_number(repr(number), "grade") == number


def test_json_as_deep_as_allowed_is_read() -> None:
    deep = "[" * values.MOST_LEVELS + "]" * values.MOST_LEVELS

    assert json.dumps(strict_json(deep)) == deep
    with pytest.raises(BrokenLine, match="nested"):
        strict_json(f"[{deep}]")


LIMITED = """
import django
django.setup()
from collection.importing.background import memory_limit
try:
    with memory_limit(100):
        held = bytearray(50 * 1024**2)
        bomb = [[] for _ in range(10**8)]
except MemoryError:
    held = bytearray(500 * 1024**2)
    print("ended, and went on")
"""


def test_an_import_that_needs_too_much_memory_ends_and_its_worker_goes_on() -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"}

    done = subprocess.run(
        [sys.executable, "-c", LIMITED],
        capture_output=True,
        text=True,
        cwd=settings.BASE_DIR,
        env=environment,
        check=False,
        timeout=120,
    )

    assert done.stdout == "ended, and went on\n", done.stderr


def test_threads_that_share_a_process_are_not_limited() -> None:
    limits: list[tuple[int, int]] = []

    def look() -> None:
        with memory_limit(100):
            limits.append(resource.getrlimit(resource.RLIMIT_DATA))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()

    assert limits == [resource.getrlimit(resource.RLIMIT_DATA)]
