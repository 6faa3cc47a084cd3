from __future__ import annotations

import copy
from typing import Any

import pytest

from collection.formats.cited_reports import (
    CitedDocument,
    is_cited_report,
    parse_cited_report,
    written_report,
)
from collection.formats.cited_reports.tracks import TRACKS, advice, broken_by_all, broken_rules
from collection.formats.problems import BrokenLine

REFERENCES = ["d0", "d1", "d2"]
RAG: dict[str, Any] = {
    "metadata": {"team_id": "team", "run_id": "r1", "type": "automatic", "narrative_id": 12, "narrative": "Why?"},
    "references": REFERENCES,
    "answer": [
        {"text": "# Bridges 🌉", "citations": []},
        {"text": "They sway.", "citations": [2, 0]},
        {"text": "They sing.", "citations": ["d1"], "note": "kept"},
    ],
}
SHARED: dict[str, Any] = {
    "metadata": {"team_id": "team", "run_id": "r1", "topic_id": "t1", "colour": "green"},
    "responses": [
        {"text": "They sway.", "citations": {"d1": 80, "d0": 12.5}},
        {"text": "They sing.", "citations": ["d2"], "metadata": {"a": 1}, "evaldata": None},
        {"text": "", "citations": {}},
    ],
    "references": REFERENCES,
    "ranking": [{"doc_id": "d0", "rank": 1, "score": 2.0}],
    "documents": {"d0": {"id": "d0", "text": "It sways."}},
}
FLAT: dict[str, Any] = {name: RAG[name] for name in ("references", "answer")} | {
    "run_id": "r1", "topic_id": "12", "topic": "Why?", "response_length": 6,
}  # fmt: skip
MIXED: dict[str, Any] = RAG | {"answer": [{"text": "Both.", "citations": [0, "d2"]}]}


def changed(report: dict[str, Any], *path: Any, to: Any = None) -> dict[str, Any]:
    """Return the report with another value at this path; without one, the path's end is left out."""
    found = copy.deepcopy(report)
    *way, last = path
    inner: Any = found
    for step in way:
        inner = inner[step]
    if to is None:
        del inner[last]
    else:
        inner[last] = to
    return found


@pytest.mark.parametrize("found", [RAG, SHARED, MIXED], ids=["rag", "shared", "mixed"])
def test_what_is_read_is_written_equal(found: dict[str, Any]) -> None:
    assert is_cited_report(found)
    assert written_report(parse_cited_report(copy.deepcopy(found))) == found


def test_sentences_stand_in_the_text_by_code_points() -> None:
    report = parse_cited_report(RAG)

    assert report.text == "# Bridges 🌉 They sway. They sing."
    assert [report.text[start:end] for start, end in report.spans] == ["# Bridges 🌉", "They sway.", "They sing."]
    assert (report.run, report.topic_id) == ("r1", "12")


def test_citations_keep_their_order_and_their_weights() -> None:
    rag, shared = parse_cited_report(RAG), parse_cited_report(SHARED)

    assert rag.sentences[1].citations == (CitedDocument("d2", place=2), CitedDocument("d0", place=0))
    assert shared.sentences[0].citations == (CitedDocument("d1", weight=80), CitedDocument("d0", weight=12.5))
    assert rag.uncited == []
    assert shared.uncited == []


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (changed(RAG, "metadata"), "“metadata” is not an object"),
        (changed(RAG, "metadata", "run_id"), "“run_id” is missing"),
        (changed(RAG, "metadata", "narrative_id"), "no field “topic_id”"),
        (changed(RAG, "references", to="d0"), '“references” is "d0"'),
        (changed(RAG, "references", to=["d0", 3]), "not a list of ids"),
        (changed(RAG, "answer"), "no sentences"),
        (RAG | {"responses": []}, "“answer” and “responses”, and they differ"),
        (changed(RAG, "answer", to="They sway."), "not a list of sentences"),
        (changed(RAG, "answer", 0, to="They sway."), "Sentence 1 is"),
        (changed(RAG, "answer", 1, "text"), "Sentence 2: The field “text” is missing"),
        (changed(RAG, "answer", 1, "citations"), "Sentence 2: The field “citations” is missing"),
        (changed(RAG, "answer", 1, "citations", to="d0"), "Sentence 2: the citations are"),
        (changed(RAG, "answer", 1, "citations", to=[3]), "Sentence 2 cites place 3 of 3 references"),
        (changed(RAG, "answer", 1, "citations", to=[-1]), "Sentence 2 cites place -1"),
        (changed(RAG, "answer", 1, "citations", to=[True]), "Sentence 2 cites true"),
        (changed(RAG, "answer", 1, "citations", to=[1.0]), r"Sentence 2 cites 1\.0"),
        (changed(SHARED, "responses", 0, "citations", to={"d0": "much"}), "the weight of “d0” is"),
    ],
)
def test_a_broken_report_says_what_is_wrong(found: dict[str, Any], said: str) -> None:
    with pytest.raises(BrokenLine, match=said):
        parse_cited_report(found)


def set_in(report: dict[str, Any], *path: Any, to: Any) -> dict[str, Any]:
    """Return the report with this value at the path, null too."""
    found = copy.deepcopy(report)
    inner: Any = found
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    return found


TWICE = set_in(RAG, "answer", 1, "citations", to=[2, 0, "d2", 0])


@pytest.mark.parametrize(
    "found",
    [
        FLAT,
        TWICE,
        set_in(SHARED, "responses", 0, "citations", to=None),
        changed(SHARED, "references"),
        set_in(SHARED, "references", to=None),
        SHARED | {"answer": SHARED["responses"]},
        SHARED | {"answer": None},
    ],
    ids=["2024", "twice", "null citations", "no references", "null references", "both names", "null answer"],
)
def test_what_some_track_takes_is_read_and_written_equal(found: dict[str, Any]) -> None:
    assert is_cited_report(found)
    assert written_report(parse_cited_report(copy.deepcopy(found))) == found


def test_a_document_cited_twice_counts_once_where_it_was_first() -> None:
    sentence = parse_cited_report(TWICE).sentences[1]

    assert sentence.citations == (CitedDocument("d2", place=2), CitedDocument("d0", place=0))
    assert sentence.n_cited == 4


MARCO = [f"msmarco_v2.1_doc_0{n}_{n}#1_2" for n in range(4)]
NEWS = [f"0a1b2c3d-0000-4444-8888-0123456789a{n}_7" for n in range(4)]
SHARDS = [f"shard_{n}_9" for n in range(4)]
SENTENCES = [{"text": "They sway.", "citations": [1, 0]}, {"text": "They sing.", "citations": []}]
CITED_BY_ID = {"text": "They sway.", "citations": [NEWS[0]]}
VALID: dict[str, dict[str, Any]] = {
    "rag24": {
        "run_id": "r", "topic_id": "1", "topic": "why", "response_length": 4, "references": MARCO[:2],
        "answer": SENTENCES,
    },
    "rag25": {
        "metadata": {"team_id": "t", "run_id": "r", "narrative_id": 1, "type": "manual", "narrative": "why"},
        "references": MARCO[:2], "answer": SENTENCES,
    },
    "rag26": {
        "metadata": {"team_id": "t", "run_id": "r", "narrative_id": "1", "narrative": "why", "run_desc": "plain"},
        "references": SHARDS[:2], "answer": SENTENCES,
    },
    "ragtime26": {
        "metadata": {"team_id": "t", "run_id": "r", "topic_id": "1", "run_desc": "plain"}, "references": NEWS[:1],
        "responses": [CITED_BY_ID],
    },
    "dragun25": {
        "metadata": {"team_id": "t", "run_id": "r", "topic_id": "1", "type": "automatic", "use_starter_kit": 0},
        "responses": [{"text": "They sway.", "citations": MARCO[:1]}],
    },
    "shared": SHARED,
}  # fmt: skip
WORD = {"text": "word " * 200, "citations": []}
NFKC = {"text": "a\u00b4b " * 300, "citations": []}  # 300 words as they stand, 600 where NFKC parts them
BROKEN: list[tuple[str, dict[str, Any], str]] = [
    ("rag24", changed(VALID["rag24"], "response_length"), "no response_length"),
    ("rag24", set_in(VALID["rag24"], "references", to=[*MARCO[:2], MARCO[0]]), "2 times"),
    ("rag24", set_in(VALID["rag24"], "references", to=[f"{MARCO[0]}{n}" for n in range(21)]), "21 references"),
    ("rag24", set_in(VALID["rag24"], "references", to=[MARCO[0], "d1"]), "“d1” is not an id"),
    ("rag24", set_in(VALID["rag24"], "answer", 0, "citations", to=[MARCO[0]]), "cites by id, not by place"),
    ("rag24", set_in(VALID["rag24"], "answer", 0, "citations", to=None), "are null: write"),
    ("rag25", changed(VALID["rag25"], "metadata", "narrative_id") | {"topic_id": 1}, "no field “topic_id”"),
    ("rag25", set_in(VALID["rag25"], "metadata", "type", to="magic"), "manual or automatic"),
    ("rag25", set_in(VALID["rag25"], "answer", 1, "citations", to=[MARCO[0]]), "choose one"),
    ("rag25", set_in(VALID["rag25"], "references", to=MARCO[:2]) | {"answer": [CITED_BY_ID]}, "not a reference"),
    ("rag26", changed(VALID["rag26"], "metadata", "run_desc"), "no run_desc"),
    ("rag26", set_in(VALID["rag26"], "metadata", "team_id", to=7), "no team_id"),
    ("rag26", set_in(VALID["rag26"], "metadata", "topic_id", to="2"), 'two topics: "1" and "2"'),
    ("rag26", set_in(VALID["rag26"], "metadata", "run_id", to="r" * 21), "21 characters, more than 20"),
    ("rag26", set_in(VALID["rag26"], "answer", 1, "text", to=" "), "Sentence 2 has no text"),
    ("rag26", set_in(VALID["rag26"], "answer", to=[WORD] * 6), "1,200 words, more than 1,024"),
    ("rag26", set_in(VALID["rag26"], "answer", 0, "citations", to={SHARDS[0]: 9}), "cites with weights"),
    ("rag26", set_in(VALID["rag26"], "references", to=[]) | {"answer": SENTENCES[1:]}, ""),
    ("rag26", set_in(VALID["rag26"], "answer", to=[NFKC] * 3), ""),
    ("ragtime26", set_in(VALID["ragtime26"], "responses", 0, "citations", to=["wiki"]), "“wiki” is not an id"),
    ("ragtime26", set_in(VALID["ragtime26"], "references", to=["wiki"]), ""),
    ("ragtime26", set_in(VALID["ragtime26"], "metadata", "topic_id", to=1), "a text"),
    ("dragun25", set_in(VALID["dragun25"], "responses", to=[WORD] * 2), "400 words, more than 250"),
    ("dragun25", set_in(VALID["dragun25"], "responses", 0, "citations", to={MARCO[0]: 1}), "with weights, not by id"),
    ("shared", changed(SHARED, "references"), "no “references”"),
    ("shared", set_in(SHARED, "responses", 1, "citations", to=[0]), "cites by place"),
    ("shared", set_in(SHARED, "metadata", "request_id", to="t1"), "topic_id or request_id"),
]
ADVICE: list[tuple[str, dict[str, Any], str]] = [
    ("rag24", set_in(VALID["rag24"], "answer", to=[NFKC]), "600 words, more than 400"),
    ("rag25", set_in(VALID["rag25"], "references", to=["d0", "d1"]), "“d0” is not an id"),
    ("rag26", set_in(VALID["rag26"], "references", to=SHARDS[:3]), "is not cited"),
    ("rag26", set_in(VALID["rag26"], "answer", 0, "citations", to=[0, 1, 0, 1]), "has 4 citations, more than 3"),
    ("rag26", set_in(VALID["rag26"], "answer", 1, "citations", to=[SHARDS[0]]), "choose one"),
    ("rag26", set_in(VALID["rag26"], "answer", to=[]), "no text"),
    ("dragun25", set_in(VALID["dragun25"], "responses", 0, "text", to=""), "no text"),
]


@pytest.mark.parametrize("track", VALID)
def test_a_valid_report_breaks_no_rule_and_needs_no_advice(track: str) -> None:
    report = parse_cited_report(VALID[track])

    assert [*broken_rules(report, TRACKS[track]), *advice(report, TRACKS[track])] == []


@pytest.mark.parametrize(("track", "found", "said"), BROKEN)
def test_a_track_says_what_its_validator_refuses(track: str, found: dict[str, Any], said: str) -> None:
    try:
        broken = list(broken_rules(parse_cited_report(found), TRACKS[track]))
    except BrokenLine as line:
        broken = [line.reason]

    assert [said in one for one in broken] == [True] * bool(said)


@pytest.mark.parametrize(("track", "found", "said"), ADVICE)
def test_what_a_validator_only_warns_of_breaks_no_rule(track: str, found: dict[str, Any], said: str) -> None:
    report = parse_cited_report(found)

    assert list(broken_rules(report, TRACKS[track])) == []
    assert any(said in one for one in advice(report, TRACKS[track]))


def test_some_tracks_want_one_report_a_topic_and_one_run_a_file() -> None:
    reports = [("r", "1"), ("r", "1"), ("s", "1")]

    assert list(broken_by_all(reports, TRACKS["rag24"])) == [
        "The run “r” has 2 reports on the topic “1”.",
        "The file has 2 runs: r, s.",
    ]
    assert len(list(broken_by_all(reports, TRACKS["rag26"]))) == 1
    assert list(broken_by_all(reports, TRACKS["shared"])) == []
