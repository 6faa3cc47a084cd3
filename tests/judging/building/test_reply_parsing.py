"""What is read of replies, worked out by hand, and each bad reply as the fault that it is."""

from __future__ import annotations

import pytest

from judging.building.reply_parsing import (
    Parsed,
    Row,
    first_tagged,
    json_list,
    labels,
    merged,
    points_with_spans,
    tagged,
)

DOCUMENT = "Bees dance. The angle tells the direction; the time tells the distance."


def seen(parsed: Parsed) -> tuple[list[str], list[tuple[str, str]]]:
    return [row.text for row in parsed.rows], [(fault.kind, fault.detail) for fault in parsed.faults]


@pytest.mark.parametrize(
    ("reply", "rows", "faults"),
    [
        ("<q>1. Who dances?</q>\n<q>Where?</q>", ["Who dances?", "Where?"], []),
        ("<q>Who?</q>", ["Who?"], [("too_few", "1 of 2")]),
        ("<q>Who?</q><q>Where?</q><q>When?</q>", ["Who?", "Where?"], [("too_many", "3 for 2")]),
        ("<q>Who?</q><q>who?</q>", ["Who?"], [("repeated", "who?"), ("too_few", "1 of 2")]),
        ("<q>Who?</q><q>Where do they", ["Who?"], [("too_few", "1 of 2")]),
        ("Who dances?</q><q>Where?</q>", ["Who dances?", "Where?"], []),
        ("<q> </q> I cannot help with that.", [], [("unreadable", "no <q>…</q>")]),
    ],
)
def test_reads_tagged_questions(reply: str, rows: list[str], faults: list[tuple[str, str]]) -> None:
    assert seen(tagged(reply, "q", count=2)) == (rows, faults)


@pytest.mark.parametrize(
    ("reply", "rows", "faults"),
    [
        ("Please write.</r> Report: …", ["Please write."], []),
        ("Here it is: <R> Please\n write. </R> <r>Or so.</r>", ["Please write."], []),
        ("<r>Please write.", [], [("unreadable", "no </r>")]),
        (" </r>", [], [("unreadable", "nothing before </r>")]),
    ],
)
def test_reads_the_first_tagged_text_whether_the_prompt_began_it_or_not(
    reply: str, rows: list[str], faults: list[tuple[str, str]]
) -> None:
    assert seen(first_tagged(reply, "r")) == (rows, faults)


@pytest.mark.parametrize(
    ("reply", "rows", "fault"),
    [
        ('{"questions": ["Why?", "How?"]}', ["Why?", "How?"], ""),
        ('```json\n{"questions": ["Why?", "How?"]}\n```', ["Why?", "How?"], ""),
        ('{"questions": ["Why?"', [], "unreadable"),
        ('{"questions": [1, 2]}', [], "unreadable"),
        ('["Why?"]', [], "unreadable"),
        ('{"questions": []}', [], "unreadable"),
        ('{"questions": ["Why?"]}', ["Why?"], "too_few"),
    ],
)
def test_reads_questions_in_json(reply: str, rows: list[str], fault: str) -> None:
    texts, faults = seen(json_list(reply, "questions", count=2))

    assert (texts, [kind for kind, _ in faults]) == (rows, [fault] if fault else [])


def test_a_span_is_where_the_document_says_it_letter_for_letter() -> None:
    reply = (
        "Point 1: <point_start>Angles point.<point_end><span_start>The angle tells the direction<span_end>\n"
        "Point 2: <point_start>Time is distance.<point_end><span_start>the time tells the distance.<span_end>"
        "<span_start>the Time tells<span_end>\n"
        "Point 3: <point_start>Bees sing.<point_end><span_start>Bees sing.<span_end>\n"
        "Point 4: <point_start>Nothing behind it.<point_end>"
    )

    parsed = points_with_spans(reply, DOCUMENT, docno="d1")

    texts, faults = seen(parsed)
    assert texts == ["Angles point.", "Time is distance."]
    assert parsed.rows[0].data["spans"] == [
        {"docno": "d1", "start": 12, "end": 41, "quote": "The angle tells the direction"}
    ]
    assert DOCUMENT[12:41] == "The angle tells the direction"
    assert faults == [
        ("not_verbatim", "the Time tells"), ("not_verbatim", "Bees sing."), ("no_span", "Nothing behind it."),
    ]  # fmt: skip


def test_none_is_no_point_and_no_fault() -> None:
    assert seen(points_with_spans("None.", DOCUMENT, docno="d1")) == ([], [])
    assert seen(points_with_spans("There is nothing.", DOCUMENT, docno="d1"))[1][0][0] == "unreadable"


ORIGINALS = [Row(f"Point {n}.", {"spans": [{"docno": f"d{n}", "start": 0, "end": 1, "quote": "x"}]}) for n in (1, 2, 3)]


@pytest.mark.parametrize(
    ("reply", "faults"),
    [
        ("One and three. [1, 3]\nTwo. [2]", []),
        ("One. [1]\nTwo. [2]", [("lost", "3")]),
        ("One. [1, 2]\nTwo. [2, 3]", [("doubled", "2")]),
        ("One. [1, 2, 3]\nNew. [4]", [("unknown", "4")]),
        ("One. [1, 2]\nThree.", [("unreadable", "Three.")]),
        ("", [("lost", "1"), ("lost", "2"), ("lost", "3")]),
    ],
)
def test_every_original_stands_behind_exactly_one_statement(reply: str, faults: list[tuple[str, str]]) -> None:
    parsed = merged(reply, ORIGINALS)

    assert seen(parsed)[1] == faults
    assert bool(parsed.rows) == (not faults)
    if not faults:
        assert [row.data["originals"] for row in parsed.rows] == [[1, 3], [2]]
        assert [span["docno"] for span in parsed.rows[0].data["spans"]] == ["d1", "d3"]


@pytest.mark.parametrize(
    ("reply", "found", "fault"),
    [
        ('{"labels": ["Vital", "okay"]}', ["vital", "okay"], ""),
        ('{"labels": ["vital", "useless"]}', ["vital", ""], "bad_label"),
        ('{"labels": ["vital"]}', ["", ""], "too_few"),
        ('{"labels": ["vital", "okay", "okay"]}', ["", ""], "too_many"),
        ("vital, okay", ["", ""], "unreadable"),
    ],
)
def test_a_label_belongs_to_its_nugget_or_to_none(reply: str, found: list[str], fault: str) -> None:
    given, faults = labels(reply, "labels", offered=("vital", "okay"), count=2)

    assert (given, [one.kind for one in faults]) == (found, [fault] if fault else [])
