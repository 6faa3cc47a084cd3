"""Readers and writers, without a database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from collection.formats.json_fields import json_objects
from collection.formats.jsonl import (
    CollectionLine,
    ElementSpanLine,
    Line,
    PassageLine,
    RankingLine,
    ReportLine,
    RubricElementLine,
    RunLine,
    SystemLine,
    TopicLine,
    parse_line,
    read_collection,
    written_line,
)
from collection.formats.judgments_reader import PLAIN, _with_care, parse_judgment, read_judgments
from collection.formats.problems import MOST_PROBLEMS, BrokenFile, BrokenLine, InputFile
from collection.formats.trec import read_passages, read_qrels, read_run

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
names = texts.filter(lambda text: text.strip() != "")
counts = st.integers(0, 2**31 - 1)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
attributes = st.dictionaries(texts, json_values, max_size=3)
kinds = st.sampled_from(["sub_question", "nugget", "key_point"])
lines = st.one_of(
    st.builds(CollectionLine, texts, texts, texts, texts, attributes),
    st.builds(TopicLine, names, texts, texts, attributes),
    st.builds(
        RubricElementLine,
        names,
        kinds,
        names,
        names,
        st.none() | counts,
        st.sampled_from(["", "vital", "okay"]),
        st.booleans(),
        attributes,
    ),
    st.builds(PassageLine, names, st.none() | texts, texts, texts, attributes),
    st.builds(ElementSpanLine, names, kinds, names, names, names, counts, counts),
    st.builds(ElementSpanLine, names, kinds, names, names, names),
    st.builds(SystemLine, names, texts, attributes),
    st.builds(RunLine, names, names, attributes),
    st.builds(ReportLine, names, names, texts, attributes),
    st.builds(RankingLine, names, names, names, counts, st.floats(-1e9, 1e9)),
)


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., InputFile]:
    """Write a file and open it for reading."""

    def write(content: str | bytes, name: str = "file.jsonl") -> InputFile:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return InputFile(path)

    return write


def problems_of(file: InputFile, read: Callable[[InputFile], Any]) -> list[tuple[int | None, str]]:
    """Read the whole file, and return the lines and the reasons of its problems."""
    with pytest.raises(BrokenFile) as broken, file:
        list(read(file))
    return [(problem.line, problem.reason) for problem in broken.value.problems]


@given(lines)
def test_a_line_that_is_written_is_read_back_as_it_was(line: Line) -> None:
    written = written_line(line)

    assert "\n" not in written[:-1]
    assert parse_line(json.loads(written)) == line


def test_unknown_fields_travel_in_attributes(written: Callable[..., InputFile]) -> None:
    file = written('{"type": "topic", "topic_id": "t", "request": "r", "domain": "law", "attributes": {"k": 1}}')

    [(_, line)] = list(read_collection(file))

    assert isinstance(line, TopicLine)
    assert line.attributes == {"k": 1, "domain": "law"}


def test_an_attribute_that_stands_twice_is_refused(written: Callable[..., InputFile]) -> None:
    file = written('{"type": "topic", "topic_id": "t", "request": "r", "k": 2, "attributes": {"k": 1}}')

    [(line, reason)] = problems_of(file, read_collection)

    assert line == 1
    assert "both" in reason


def test_byte_order_mark_line_ends_and_blank_lines_are_no_part_of_the_text(written: Callable[..., InputFile]) -> None:
    file = written(b'\xef\xbb\xbf{"a": "x\\r\\ny"}\r\n\r\n   \n{"a": "\xe2\x80\xa8 is no line end"}')

    found = list(json_objects(file))

    assert found == [(1, {"a": "x\r\ny"}), (4, {"a": "\u2028 is no line end"})]


RANKING = b'{"type": "ranking", "run": "r", "topic_id": "t", "passage_id": "p", '


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nonsense", "not JSON"),
        (b"[1]", "not an object"),
        (b'{"type": "topick"}', "no type"),
        (b'{"type": {"a": 1}}', "no type"),
        (b'{"topic_id": "t"}', "“type” is missing"),
        (b'{"type": "topic", "topic_id": "t"}', "“request” is missing"),
        (b'{"type": "topic", "topic_id": 7, "request": "r"}', "not a text"),
        (b'{"type": "topic", "topic_id": " ", "request": "r"}', "is empty"),
        (b'{"type": "topic", "topic_id": "t", "request": "r", "attributes": []}', "not an object"),
        (b'{"type": "topic", "topic_id": "t", "request": "a\\u0000b"}', "U+0000"),
        (b'{"type": "topic", "topic_id": "t", "request": "a\\ud83d"}', "surrogate"),
        (b'{"type": "topic", "topic_id": "t", "request": "r", "x": NaN}', "NaN"),
        (b'{"type": "topic", "topic_id": "t", "request": "r", "x": 1e999}', "too large"),
        (b'{"type": "topic", "topic_id": "t", "request": "caf\xe9"}', "not UTF-8"),
        (b'{"type": "rubric_element", "topic_id": "t", "kind": "facet", "element_id": "e", "text": "x"}', "one of"),
        (b'{"type": "rubric_element", "topic_id": "t", "kind": "nugget", "element_id": "e"}', "no text"),
        (
            RANKING + b'"rank": -1, "score": 1}',
            "whole number",
        ),
        (
            RANKING + b'"rank": 1, "score": true}',
            "not a number",
        ),
        (
            RANKING + b'"rank": 1, "score": 1, "x": 1}',
            "is unknown",
        ),
        (
            b'{"type": "element_span", "topic_id": "t", "kind": "nugget", "element_id": "e", "passage_id": "p",'
            b' "quote": "q", "start": 1}',
            "Only one of",
        ),
        (b"[" * 100_000, "nested"),
    ],
)
def test_a_broken_line_is_named_with_its_reason(written: Callable[..., InputFile], line: bytes, reason: str) -> None:
    file = written(b'{"type": "system", "name": "fine"}\n' + line)

    [(number, found)] = problems_of(file, read_collection)

    assert number == 2
    assert reason in found


def test_a_text_about_escapes_is_not_taken_for_them(written: Callable[..., InputFile]) -> None:
    file = written(json.dumps({"a": r"\u0000 and 😀 😀"}) + '\n{"a": "\\ud83d\\ude00"}')

    assert [found["a"] for _, found in json_objects(file)] == [r"\u0000 and 😀 😀", "😀"]


def test_all_problems_are_told_at_once_up_to_a_limit(written: Callable[..., InputFile]) -> None:
    file = written("nonsense\n" * 100)

    assert [line for line, _ in problems_of(file, read_collection)] == list(range(1, MOST_PROBLEMS + 1))


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    [(line, reason)] = problems_of(InputFile(tmp_path / "nowhere.jsonl"), read_collection)

    assert line is None
    assert "cannot be read" in reason


def test_a_hash_in_an_id_begins_no_comment(written: Callable[..., InputFile]) -> None:
    run = written("7 Q0 msmarco_v2.1_doc_39#8_35 1 2.5 mine\r\n\n", "a.run")
    qrels = written("7\t0\tmsmarco_v2.1_doc_39#8_35\t3\n", "a.qrels")

    [(_, ranked)], [(_, judged)] = list(read_run(run)), list(read_qrels(qrels))

    assert ranked.passage_id == judged.passage_id == "msmarco_v2.1_doc_39#8_35"
    assert (ranked.rank, ranked.score, ranked.tag, judged.grade) == (1, 2.5, "mine", 3)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("7 Q0 p 1 2.5", "5 columns, not 6"),
        ("7 Q0 p first 2.5 tag", "rank"),
        ("7 Q0 p 1 nan tag", "not a number"),
        ("7 Q0 p 1 high tag", "score"),
    ],
)
def test_a_broken_run_names_the_line(written: Callable[..., InputFile], line: str, reason: str) -> None:
    [(number, found)] = problems_of(written(f"7 Q0 p 1 2.5 tag\n{line}", "a.run"), read_run)

    assert number == 2
    assert reason in found


@pytest.mark.parametrize("fields", [("id", "contents"), ("docid", "text"), ("_id", "text"), ("docno", "body")])
def test_passages_come_under_many_names(written: Callable[..., InputFile], fields: tuple[str, str]) -> None:
    file = written(json.dumps({fields[0]: 12, fields[1]: "Text.\r\n", "url": "u"}))

    [(_, line)] = list(read_passages(file))

    assert line == PassageLine("12", "Text.\r\n", attributes={"url": "u"})


def test_a_csv_may_hold_line_ends_in_quotes(written: Callable[..., InputFile]) -> None:
    file = written('\ufeffitem_id,criterion,rater,grade\r\n"a\r\nb",c,ada,1\r\n\r\nd,c,ada,\r\n', "table.csv")

    [(line, reason)] = problems_of(file, read_judgments)
    rows = [row for _, row in read_judgments(InputFile(file.path))]

    assert (line, "ungraded" in reason) == (5, True)
    assert [(row.item_id, row.grade) for row in rows] == [("a\r\nb", 1.0)]


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("item_id,criterion,rater\na,b,c\n", 1, "“grade” is missing"),
        ("", 1, "“item_id” is missing"),
        ("item_id,criterion,rater,grade\na,b,c\n", 2, "one value for each column"),
        ("item_id,criterion,rater,grade\na,b,c,1,2\n", 2, "one value for each column"),
        ("item_id,criterion,rater,grade\na,b,c,one\n", 2, "not a number"),
        ("item_id,criterion,rater,grade\na,b,c,inf\n", 2, "not a number"),
        ("item_id,criterion,rater,grade,judged_at\na,b,c,1,2025-03-01T10:00:00\n", 2, "time zone"),
        ("item_id,criterion,rater,grade,judged_at\na,b,c,1,soon\n", 2, "not a time"),
        ("item_id,criterion,rater,grade,rater_kind\na,b,c,1,robot\n", 2, "one of"),
        ("item_id,criterion,rater,grade,seconds\na,b,c,1,-3\n", 2, "below 0"),
        ('item_id,criterion,rater,grade\n"a,b,c,1\n', 2, "not CSV"),
    ],
)
def test_a_broken_table_names_the_line(written: Callable[..., InputFile], content: str, line: int, reason: str) -> None:
    [(number, found)] = problems_of(written(content, "table.csv"), read_judgments)

    assert number == line
    assert reason in found


MOMENT = "2025-03-01T14:30:00+00:00"
CELLS: list[Any] = [None, "", " ", "a", "1", "judge", MOMENT, 1, 0.5, -1, True, 2**40, 1e301, []]


@given(found=st.dictionaries(st.sampled_from(sorted({*PLAIN, "note"})), st.sampled_from(CELLS)), complete=st.booleans())
@example(found={"ungraded": []}, complete=True)
@example(found={"rater_origin": 0}, complete=True)
def test_a_row_read_at_once_says_what_it_says_read_with_care(found: dict[str, Any], *, complete: bool) -> None:
    row = {"item_id": "i", "criterion": "c", "rater": "r", "grade": 1} | found if complete else found

    try:
        careful = _with_care(row)
    except BrokenLine:
        with pytest.raises(BrokenLine):
            parse_judgment(row)
    else:
        assert parse_judgment(row) == careful


def test_a_workbook_is_refused(written: Callable[..., InputFile]) -> None:
    file = written("x", "table.xlsx")
    with ZipFile(file.path, "w") as workbook:
        # Of a fixed date, which stands among the first bytes.
        workbook.writestr(ZipInfo("xl/workbook.xml"), "<workbook/>")

    found = problems_of(file, read_judgments)

    assert found == [(1, "Byte 17 of the line is not UTF-8.")]
