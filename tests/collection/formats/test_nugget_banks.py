"""Nuggets and rubrics as the field writes them: what is read is written again equal, and what is broken says where."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from collection.formats.nugget_banks import (
    FORMS,
    are_scores,
    is_assignment,
    is_nugget_bank,
    parse_assignment,
    parse_bank_topic,
    parts_of,
    written_assignment,
    written_topic,
)
from collection.formats.offsets import code_points, counted_as, encoding_named
from collection.formats.problems import BrokenLine

LIST: dict[str, Any] = {
    "query": "How are bridges kept?",
    "qid": "t1",
    "nuggets": [
        {"text": "Stones are checked.", "importance": "vital"},
        {"text": "Ropes are wetted.", "importance": "failed", "confidence": 0.5},
        {"text": "Stones are checked.", "importance": "okay"},
    ],
    "note": {"by": ["x"]},
}
RAG25: dict[str, Any] = {
    "qid": 12,
    "nuggets": [
        {"text": "A", "mapped_sub_narrative": '"cost"', "importance": "okay", "source": "post-edit"},
        {"text": "B", "mapped_sub_narrative": None, "importance": "vital", "source": "original"},
    ],
}
RESEARCH: dict[str, Any] = {
    "sample_id": "s1",
    "prompt": "Plan a bridge.",
    "rubrics": [
        {"criterion": "Names a cost", "weight": 4.5, "axis": "Explicit"},
        {"criterion": "Invents a law", "weight": -3, "axis": "Safety"},
    ],
}
HEALTH: dict[str, Any] = {
    "prompt_id": "h1",
    "prompt": [{"role": "user", "content": "It hurts."}, {"role": "assistant", "content": "Where?"}],
    "rubrics": [{"criterion": "Asks where", "points": 5, "tags": ["level:example", "axis:completeness"]}],
    "canary": "c",
}
CREATOR = [{"is_human": False, "llm_model": "m", "llm_prompt": ["p"]}]
V3: dict[str, Any] = {
    "query_id": "t1",
    "title_query": "Bridges",
    "full_query": "How are bridges kept?",
    "test_collection": "tc",
    "format_version": "v3",
    "nugget_bank": {
        "Who checks?": {
            "question": "Who checks?",
            "question_id": "q-1",
            "query_id": "t1",
            "aggregator_type": "AND",
            "answers": {
                "An engineer": {
                    "answer": "An engineer",
                    "references": [
                        {"doc_id": "p1", "text": "prüft", "quality": 3, "creator": CREATOR,
                         "offsets": {"start_offset": 11, "end_offset": 17, "encoding": "utf8", "metadata": {"a": 1}}},
                        {"doc_id": "p9", "collection": "c", "importance": 2},
                        "p3",
                    ],
                    "importance": 1,
                    "creator": CREATOR,
                },
                "other key": {"answer": "A mason", "references": None, "importance": "vital"},
            },
            "sub_nuggets": [{"claim": "Every year", "aggregator_type": "Default", "importance": "OKAY"}],
            "references": [],
            "importance": "vital",
            "metadata": {"x": None},
        }
    },
    "claim_bank": {"They sway.": {"claim": "They sway.", "claim_id": "c-1", "importance": None}},
    "metadata": None,
}  # fmt: skip
CLAIMS: dict[str, Any] = {"query_id": "t1", "nugget_bank": {"They sway.": {"claim": "They sway.", "claim_id": "c-1"}}}
SHORT: dict[str, Any] = {"Who checks?": ["OR", {"An engineer": ["p1", "p2"], "A mason": []}], "How?": ["and", {}]}
ASSIGNED: dict[str, Any] = {
    "query": "How are bridges kept?",
    "qid": "t1",
    "answer_text": "Stones are checked.",
    "response_length": 7,
    "run_id": "r1",
    "nuggets": [
        {"text": "Stones are checked.", "importance": "vital", "assignment": "support"},
        {"text": "Ropes are wetted.", "importance": "failed", "assignment": "failed"},
        {"text": "Wood is oiled.", "importance": "okay", "assignment": "partial_support"},
        {"text": "Iron rusts.", "importance": "okay", "assignment": "not_support"},
    ],
    "judge": "m",
}
ALL: dict[str, dict[str, Any]] = {
    "list": LIST,
    "rag25": RAG25,
    "research": RESEARCH,
    "health": HEALTH,
    "v3": V3,
    "claims": CLAIMS,
    "short": SHORT,
}


@pytest.mark.parametrize("name", list(ALL))
def test_what_is_read_is_written_again_equal(name: str) -> None:
    found = copy.deepcopy(ALL[name])

    topic = parse_bank_topic(found)

    assert is_nugget_bank(found)
    assert topic.form in FORMS
    assert written_topic(topic) == ALL[name] == found
    json.dumps(topic.attributes)


def test_assignments_are_written_again_equal() -> None:
    one = parse_assignment(copy.deepcopy(ASSIGNED))

    assert is_assignment(ASSIGNED)
    assert one.grades == (2.0, None, 1.0, 0.0)
    assert one.attributes == {"response_length": 7, "judge": "m"}
    assert written_assignment(one, query="How are bridges kept?") == ASSIGNED


def test_what_nuggets_are_made_of() -> None:
    listed, health, research = (parse_bank_topic(one) for one in (LIST, HEALTH, RESEARCH))
    question, part, claim = (nugget for nugget, _ in parts_of(parse_bank_topic(V3).nuggets))

    assert [one.importance for one in listed.nuggets] == ["vital", "", "okay"]
    assert (health.request, health.nuggets[0].weight, health.nuggets[0].group) == ("It hurts.", 5.0, "completeness")
    assert [(one.weight, one.group) for one in research.nuggets] == [(4.5, "Explicit"), (-3.0, "Safety")]
    assert (question.kind, question.aggregator, question.importance) == ("sub_question", "and", "vital")
    assert (part.kind, part.importance, part.aggregator) == ("nugget", "okay", "")
    assert [parent for _, parent in parts_of(parse_bank_topic(V3).nuggets)] == [None, 0, None]
    assert [(one.docno, one.start, one.end, one.encoding) for one in question.answers[0].references] == [
        ("p1", 11, 17, "utf-8"),
        ("p9", None, None, ""),
        ("p3", None, None, ""),
    ]
    assert claim.element_id == "c-1"


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({"nuggets": [{"text": "A"}]}, "does not name its topic"),
        ({"qid": "1", "nuggets": [{"text": "A"}, {"text": " "}]}, "Nugget 2: The field “text”"),
        ({"qid": "1", "rubrics": [{"criterion": "A", "points": "5"}]}, "Nugget 1: The field “points” is \"5\""),
        ({"qid": "1", "vital_score": 0.5}, "These are scores"),
        ({"qid": "1", "nugget_bank": {"A": []}}, "“A” is \\[\\], not an object"),
        ({"qid": "1", "nugget_bank": {"A": {"question": "A", "answers": {"B": {}}}}}, "“A”: The field “answer”"),
        ({"qid": "1", "nugget_bank": {"A": {"question": "A", "references": [7]}}}, "A reference is 7"),
        (
            {"qid": "1", "claim_bank": {"A": {"claim": "A", "references": [
                {"doc_id": "p", "offsets": {"start_offset": 3, "end_offset": 1, "encoding": "utf-8"}}]}}},
            "ends at 1, before it starts at 3",
        ),
        (
            {"qid": "1", "claim_bank": {"A": {"claim": "A", "references": [
                {"doc_id": "p", "offsets": {"start_offset": 3, "end_offset": 4, "encoding": "ebcdic"}}]}}},
            "The encoding \"ebcdic\" is not known",
        ),
        ({"A": ["OR", {"B": [1]}]}, "The documents of “B”"),
    ],
)  # fmt: skip
def test_what_is_broken_says_where(found: dict[str, Any], message: str) -> None:
    with pytest.raises(BrokenLine, match=message):
        parse_bank_topic(found)


def test_an_assignment_that_is_none_is_refused() -> None:
    broken = ASSIGNED | {"nuggets": [{"text": "A", "assignment": "perhaps"}]}

    with pytest.raises(BrokenLine, match='Nugget 1: the assignment is "perhaps"'):
        parse_assignment(broken)


def test_other_objects_are_none_of_these() -> None:
    others: list[dict[str, Any]] = [{}, {"id": "1", "text": "A"}, {"a": ["OR"]}, {"nuggets": []}]

    assert not any(map(is_nugget_bank, others))
    assert are_scores({"qid": "1", "strict_all_score": 0.25})
    assert not are_scores({"score": 1})


@pytest.mark.parametrize(("encoding", "start", "end"), [("", 6, 11), ("utf-8", 9, 15), ("utf-16", 7, 12)])
def test_offsets_are_counted_in_three_ways(encoding: str, start: int, end: int) -> None:
    text = "Ja, \U0001f309 prüft einer."

    assert (code_points(text, start, encoding), code_points(text, end, encoding)) == (6, 11)
    assert (counted_as(text, 6, encoding), counted_as(text, 11, encoding)) == (start, end)


def test_an_offset_within_a_character_or_outside_is_refused() -> None:
    for encoding, offset in (("utf-8", 12), ("utf-16", 5), ("utf-8", 99), ("", 99)):
        with pytest.raises(BrokenLine, match="is not a place in the text"):
            code_points("Ja, \U0001f309 prüft", offset, encoding)
    assert encoding_named("UTF-8") == "utf-8"
