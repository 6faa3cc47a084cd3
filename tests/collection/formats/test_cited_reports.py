from __future__ import annotations

import copy
from typing import Any

import pytest

from collection.formats.cited_reports import (
    TRACKS,
    CitedDocument,
    broken_rules,
    is_cited_report,
    parse_cited_report,
    written_report,
)
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
        (changed(RAG, "references"), "“references” is null"),
        (changed(RAG, "references", to=["d0", 3]), "not a list of ids"),
        (changed(RAG, "answer"), "no sentences"),
        (RAG | {"responses": []}, "both “answer” and “responses”"),
        (changed(RAG, "answer", to="They sway."), "not a list of sentences"),
        (changed(RAG, "answer", 0, to="They sway."), "Sentence 1 is"),
        (changed(RAG, "answer", 1, "text"), "Sentence 2: The field “text” is missing"),
        (changed(RAG, "answer", 1, "citations"), "Sentence 2: The field “citations” is missing"),
        (changed(RAG, "answer", 1, "citations", to="d0"), "Sentence 2: the citations are"),
        (changed(RAG, "answer", 1, "citations", to=[3]), "Sentence 2 cites place 3 of 3 references"),
        (changed(RAG, "answer", 1, "citations", to=[-1]), "Sentence 2 cites place -1"),
        (changed(RAG, "answer", 1, "citations", to=[True]), "Sentence 2 cites true"),
        (changed(RAG, "answer", 1, "citations", to=[1.0]), r"Sentence 2 cites 1\.0"),
        (changed(RAG, "answer", 1, "citations", to=[0, "d0"]), "Sentence 2 cites “d0” twice"),
        (changed(SHARED, "responses", 0, "citations", to={"d0": "much"}), "the weight of “d0” is"),
    ],
)
def test_a_broken_report_says_what_is_wrong(found: dict[str, Any], said: str) -> None:
    with pytest.raises(BrokenLine, match=said):
        parse_cited_report(found)


WORDY = {"text": "word " * 400, "citations": []}


@pytest.mark.parametrize(
    ("found", "track", "said"),
    [
        (RAG, "rag26", []),
        (MIXED, "rag26", []),
        (SHARED, "shared", []),
        (RAG, "rag24", ["The metadata must name the topic as topic_id."]),
        (RAG, "shared", ["The metadata must name the topic as topic_id or request_id.", "must be called “responses”"]),
        (SHARED, "rag26", ["must be called “answer”"]),
        (changed(RAG, "metadata", "team_id"), "rag26", ["The metadata have no team_id."]),
        (changed(RAG, "references", to=[*REFERENCES, "d9"]), "rag26", []),
        (changed(RAG, "answer", to=[WORDY]), "rag25", []),
        (changed(RAG, "answer", to=[WORDY, {"text": "more", "citations": []}]), "rag25", ["401 words, more than 400"]),
        (changed(RAG, "answer", to=[WORDY] * 3), "rag26", ["1,200 words, more than 1,024"]),
        (
            changed(changed(RAG, "references", to=["d0", "d1", "d2", "d3"]), "answer", 1, "citations", to=[0, 1, 2, 3]),
            "rag26",
            ["Sentence 2 has 4 citations, more than 3."],
        ),
        (
            changed(RAG, "answer", 1, "citations", to=["d9"]),
            "rag26",
            ["Sentence 2 cites “d9”, which is not a reference."],
        ),
        (changed(SHARED, "responses", 1, "citations", to=["d9"]), "shared", []),
    ],
)
def test_a_track_says_which_of_its_rules_are_broken(found: dict[str, Any], track: str, said: list[str]) -> None:
    broken = list(broken_rules(parse_cited_report(found), TRACKS[track]))

    assert len(broken) == len(said)
    assert all(part in rule for part, rule in zip(said, broken, strict=True))
