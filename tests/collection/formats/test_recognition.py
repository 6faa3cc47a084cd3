"""Files of the field, read by their keys and types: what each is, what is read of it, and what is refused or asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from collection.formats.first_records import MOST_CHARACTERS, MOST_FIELDS, first_records
from collection.formats.problems import BrokenFile, InputFile
from collection.formats.recognition import Named, UnclearFormat, recognised
from collection.formats.topics import read_topics
from collection.formats.trec import read_passages, read_qrels, read_run

READERS: dict[str, Any] = {"topics": read_topics, "passages": read_passages, "run": read_run, "qrels": read_qrels}
LONG = " ".join(["A wheelwright looks after every wheel of the mill at the harbour."] * 4)


def read(folder: Path, name: str, content: str) -> tuple[str, list[tuple[Any, ...]]]:
    """Return the format and the first values of what is read."""
    path = folder / name
    path.write_text(content)
    found = recognised(path, name=name)
    with InputFile(path) as file:
        rows = [tuple(vars(line).values()) for _, line in READERS[found](file)]
    return found, rows


@pytest.mark.parametrize(
    ("name", "line"), [("a.txt", "t1 Q0 d1 1 0.98"), ("bm25.run", "t1 0 d1 1 0.98"), ("bm25.txt", "t1 Q0 d1 1 12.5")]
)
def test_a_run_without_its_tag_is_no_qrels(tmp_path: Path, name: str, line: str) -> None:
    (tmp_path / name).write_text(f"{line}\n")

    with pytest.raises(BrokenFile) as refused:
        recognised(tmp_path / name, name=name)

    assert [problem.line for problem in refused.value.problems] == [1]


@pytest.mark.parametrize(
    ("name", "line"), [("a.txt", "t1 0 d1 1 0.98"), ("bm25.qrels", "t1 Q0 d1 1 0.98"), ("a.txt", "t1 Q0 d1 1")]
)
def test_qrels_with_a_fifth_column_or_q0_are_qrels(tmp_path: Path, name: str, line: str) -> None:
    (tmp_path / name).write_text(f"{line}\n")

    assert recognised(tmp_path / name, name=name) == "qrels"


@pytest.mark.parametrize(
    ("name", "content", "found", "rows"),
    [
        # TREC's tags: with attributes, on one line, unknown ones, closed ones, entities, and < in a text.
        ("a.txt", "<top lang='en'>\n<num>1</num>\n<title>ice</title>\n</top>", "topics", [("1", "ice")]),
        ("a.txt", "<top><num>1</num><title>ice</title></top>\n<top ><num>2<title>tea</top>", "topics",
         [("1", "ice"), ("2", "tea")]),
        ("a.txt", "<topics>\n<TOP id='x'>\n<num> Number: 051\n<dom> Domain: Ice\n<title> Topic: ice\n</TOP>\n</topics>",
         "topics", [("051", "ice")]),
        ("a.txt", "<top>\n<num> 7\n<title>Salt &amp; <b>mills</b> &lt; 1900 x<y AT&T\n</top>", "topics",
         [("7", "Salt & <b>mills</b> < 1900 x<y AT&T")]),
        # XML.
        ("a.xml", '<?xml version="1.0"?>\n<topics>\n<topic number="1"><query>ice</query></topic></topics>', "topics",
         [("1", "ice")]),
        ("a.xml", '<t><topic number="3">a b</topic>\n<topic number="4"><title>x</title><description>y</description>'
         "</topic></t>", "topics", [("3", "a b"), ("4", "y")]),
        # Any white space separates.
        ("a.run", "q1 Q0 d1 1 2.0\tbase\n", "run", [("q1", "d1", 1, 2.0, "base")]),
        ("a.run", "q1\tQ0  d1\t1 2.0\t\tbase\n", "run", [("q1", "d1", 1, 2.0, "base")]),
        ("a.qrels", "q1 0 d1\t1\n", "qrels", [("q1", "d1", 1.0)]),
        ("a", "q1\tQ0\td1\t1\n", "qrels", [("q1", "d1", 1.0)]),
        # BEIR, MS MARCO, ranx.
        ("test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t2\n", "qrels", [("q1", "d1", 2.0)]),
        ("x.tsv", "q1\td1\t2\nq1\td2\t0\n", "qrels", [("q1", "d1", 2.0), ("q1", "d2", 0.0)]),
        ("x.tsv", "1\t7\t1\n1\t8\t2\n1\t9\t3\n1\t5\t4\n", "run",
         [("1", "7", 1, 1.0), ("1", "8", 2, 0.5), ("1", "9", 3, 1 / 3), ("1", "5", 4, 0.25)]),
        ("a.json", '{"q1": {"d1": 0.5, "d2": 1.5}}', "run", [("q1", "d2", 1, 1.5), ("q1", "d1", 2, 0.5)]),
        ("qrels.json", '{"q1": {"d1": 1}}', "qrels", [("q1", "d1", 1.0)]),
        # Tables, lists and lines of names.
        ("a.tsv", "Query ID\tQuery\n301\tice\n", "topics", [("301", "ice")]),
        ("a.csv", 'qid,query\n1,"ice, tea"\n', "topics", [("1", "ice, tea")]),
        ("psgs.tsv", "id\ttext\ttitle\n1\tAn \"iced\" tea\tTea\n", "passages", [("1", 'An "iced" tea')]),
        ("a.json", '[{"id": "q1", "query": "ice"},\n {"id": "q2", "query": "tea"}]', "topics",
         [("q1", "ice"), ("q2", "tea")]),
        ("a.json", '[\n{"docid": "d1", "segment": "ice"}\n]', "passages", [("d1", "ice")]),
        ("a.jsonl", '{"id": "d1", "title": "x", "url": "y", "text": "z"}', "passages", [("d1", "z")]),
        # Long texts are passages; names of files decide about short ones.
        ("a.tsv", f"1\t{LONG}\n2\t{LONG}\n", "passages", [("1", LONG), ("2", LONG)]),
        ("collection.tsv", "1\tice\n2\ttea\n", "passages", [("1", "ice"), ("2", "tea")]),
        ("queries.dev.tsv", "1\tice of 1999\n", "topics", [("1", "ice of 1999")]),
    ],
)  # fmt: skip
def test_it_is_what_it_is(tmp_path: Path, name: str, content: str, found: str, rows: list[tuple[Any, ...]]) -> None:
    what, read_rows = read(tmp_path, name, content)

    assert what == found
    assert [row[: len(one)] for row, one in zip(read_rows, rows, strict=True)] == rows


@pytest.mark.parametrize(
    ("name", "content", "formats"),
    [
        ("a.tsv", "1\tice\n2\ttea\n", {"topics", "passages"}),
        ("a.jsonl", '{"id": "1", "text": "ice"}', {"topics", "passages"}),
        ("a.json", '{"q1": {"d1": 1, "d2": 0}}', {"run", "qrels", "scores"}),
        ("a.tsv", "q1\td1\t1\n", {"run", "qrels"}),
    ],
)
def test_what_may_be_two_things_is_asked(tmp_path: Path, name: str, content: str, formats: set[str]) -> None:
    path = tmp_path / name
    path.write_text(content)

    with pytest.raises(UnclearFormat) as asked:
        recognised(path, name=name)

    assert set(asked.value.formats) == formats


@pytest.mark.parametrize(
    ("named", "found"), [(Named(topics={"1", "2"}), "topics"), (Named((), {"1", "2"}), "passages")]
)
def test_what_runs_name_decides(tmp_path: Path, named: Named, found: str) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("1\tice\n2\ttea\n")

    assert recognised(path, name="a.tsv", named=named) == found


@pytest.mark.parametrize(
    "content",
    [
        "# by three people\nq1 0 d1 1\n",
        "ndcg\t0.25\nmap\t0.5\n",
        "map\tall\t0.25\nP_10\tall\t0.5\n",
        "who made it\t['a', 'b']\nwhy is it\t['c']\n",
        "Nummer\tFrage\n301\tice\n302\ttea\n",
        "<topics></topics>",
        "<!DOCTYPE x [<!ENTITY a 'b'>]><topics><topic number='1'>&a;</topic></topics>",
    ],
)
def test_what_would_be_misread_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(BrokenFile):
        read(tmp_path, "a.txt", content)


def test_qrels_with_subtopics_are_refused_by_line(tmp_path: Path) -> None:
    with pytest.raises(BrokenFile) as refused:
        read(tmp_path, "a.qrels", "1 1 d1 1\n1 2 d2 1\n1 2 d1 0\n")

    assert [problem.line for problem in refused.value.problems] == [3]


def test_topics_without_a_request_are_refused_once_each(tmp_path: Path) -> None:
    with pytest.raises(BrokenFile) as refused:
        read(tmp_path, "a.txt", "<top>\n<num> 1\n<docid>A</docid>\n</top>\n\n<top>\n<num> 2\n</top>\n")

    assert [(problem.line, "docid" in problem.reason) for problem in refused.value.problems] == [(1, True), (6, False)]


def test_a_line_of_a_json_list_is_named(tmp_path: Path) -> None:
    path = tmp_path / "topics.json"
    path.write_text('[\n{"id": "1", "query": "ice"},\n\n{"id": "2"}\n]')

    with pytest.raises(BrokenFile) as refused, InputFile(path) as file:
        list(read_topics(file))

    assert [problem.line for problem in refused.value.problems] == [4]


def test_other_tags_become_attributes(tmp_path: Path) -> None:
    path = tmp_path / "topics.txt"
    path.write_text("<top>\n<num> 051\n<dom> Domain: Crafts\n<title> Topic: a\n<con> Concept(s):\n1. b\n2. c\n</top>\n")

    with InputFile(path) as file:
        [(_, topic)] = read_topics(file)

    assert topic.attributes == {"dom": "Crafts", "con": "1. b 2. c"}


def test_nuggets_are_known_where_the_first_topic_has_none(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"qid": "1", "query": "a", "nuggets": []}, {"qid": "2", "query": "b", "nuggets": [{"text": "x"}]}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    assert recognised(path, name="a.jsonl") == "nuggets"


def test_first_records_are_those_that_are_read(tmp_path: Path) -> None:
    path = tmp_path / "topics.tsv"
    path.write_text("".join(f"q{n}\trequest {n}\n" for n in range(5)))

    shown = first_records(path, name="topics.tsv", file_format="topics")

    assert shown == [[("topic_id", f"q{n}"), ("request", f"request {n}")] for n in range(3)]


def test_first_records_show_so_many_fields_and_no_longer_names(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"type": "topic", **{f"{n}-{'x' * 300}": n for n in range(20_000)}}))

    [record] = first_records(path, name="a.jsonl", file_format="assize")

    assert len(record) == MOST_FIELDS + 1
    assert max(len(name) for name, _ in record) == MOST_CHARACTERS
