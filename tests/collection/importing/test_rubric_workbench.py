from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from collection.formats.problems import BrokenFile, InputFile
from collection.formats.rubric_workbench import (
    BankTopic,
    Ranked,
    WorkbenchTopic,
    read_graded,
    read_question_bank,
)

RUBRIC = Path(settings.BASE_DIR).parent / "shared" / "data" / "rubric"
needs_rubric = pytest.mark.skipif(not RUBRIC.is_dir(), reason=f"the graded TREC DL 2019 passages are not at {RUBRIC}")


def a_passage(passage_id: str = "p1", **more: Any) -> dict[str, Any]:
    return {
        "paragraph_id": passage_id,
        "text": "Stones  last.\r\n",
        "paragraph": {},
        "paragraph_data": {
            "judgments": [{"paragraphId": passage_id, "query": "t1", "relevance": 2, "titleQuery": "t1"}],
            "rankings": [{"method": "alpha", "paragraphId": passage_id, "queryId": "t1", "rank": 0, "score": -1.5}],
        },
        "exam_grades": [a_grading()],
        **more,
    }


def a_grading(**more: Any) -> dict[str, Any]:
    return {
        "correctAnswered": ["t1/q1"],
        "wrongAnswered": ["t1/q2"],
        "answers": [["t1/q1", "4"], ["t1/q2", "0"]],
        "llm": "flan",
        "llm_options": {"temperature": 0},
        "exam_ratio": 0.5,
        "prompt_info": {"prompt_class": "SelfRated", "is_self_rated": True},
        "self_ratings": [{"question_id": "t1/q1", "self_rating": 4}, {"question_id": "t1/q2", "self_rating": 0}],
        **more,
    }


def a_file(folder: Path, *lines: Any, packed: bool = True) -> Path:
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines).encode()
    path = folder / ("graded.jsonl.gz" if packed else "graded.jsonl")
    path.write_bytes(gzip.compress(text) if packed else text)
    return path


def graded(path: Path) -> list[WorkbenchTopic]:
    with InputFile(path) as file:
        return [topic for _, topic in read_graded(file)]


def bank(path: Path) -> list[BankTopic]:
    with InputFile(path) as file:
        return [topic for _, topic in read_question_bank(file)]


def refused(path: Path) -> str:
    with pytest.raises(BrokenFile) as broken:
        graded(path)
    return str(broken.value)


@pytest.mark.parametrize("packed", [True, False])
def test_reads_grades_labels_and_rankings(tmp_path: Path, packed: bool) -> None:
    path = a_file(tmp_path, ["t1", [a_passage("p1"), a_passage("p2")]], packed=packed)

    [topic] = graded(path)

    first = topic.passages[0]
    assert (topic.topic_id, [passage.passage_id for passage in topic.passages]) == ("t1", ["p1", "p2"])
    assert first.text == "Stones  last.\r\n"
    assert first.relevance == (2,)
    assert first.rankings == (Ranked("alpha", 0, -1.5),)
    assert first.gradings[0].grades == {"t1/q1": 4, "t1/q2": 0}
    assert (first.gradings[0].llm, first.gradings[0].prompt_class) == ("flan", "SelfRated")
    assert first.gradings[0].correct == ("t1/q1",)
    assert first.gradings[0].attributes["llm_options"] == {"temperature": 0}


def test_an_unreadable_reply_is_ungraded_and_kept(tmp_path: Path) -> None:
    reply = {"response": "well …", "prompt": "Grade!", "failure_reason": "no digit", "caught_exception": None}
    errors = {"t1/q2": reply, "t1/q3": reply}
    path = a_file(tmp_path, ["t1", [a_passage(exam_grades=[a_grading(llm_response_errors=errors)])]])

    grading = graded(path)[0].passages[0].gradings[0]

    assert grading.grades == {"t1/q1": 4, "t1/q2": None, "t1/q3": None}
    assert grading.unreadable["t1/q2"]["response"] == "well …"


def test_reads_nuggets_several_judges_and_relevance_labels(tmp_path: Path) -> None:
    by_nugget = a_grading(prompt_type="nugget", self_ratings=[{"nugget_id": "t1/n1", "self_rating": 3}], llm="other")
    direct = {"correctAnswered": True, "answer": "Yes, 2", "llm": "flan", "llm_options": {}, "self_ratings": 2}
    unrated = {"correctAnswered": False, "answer": "No", "llm": "flan", "prompt_info": None}
    path = a_file(tmp_path, ["t1", [a_passage(exam_grades=[a_grading(), by_nugget], grades=[direct, unrated])]])

    passage = graded(path)[0].passages[0]

    assert [(grading.llm, grading.prompt_type) for grading in passage.gradings] == [("flan", ""), ("other", "nugget")]
    assert passage.gradings[1].grades == {"t1/n1": 3}
    assert [(label.grade, label.relevant) for label in passage.relevance_gradings] == [(2, True), (None, False)]
    assert passage.relevance_gradings[0].reply == "Yes, 2"


def test_a_passage_may_lack_grades_and_keeps_unknown_fields(tmp_path: Path) -> None:
    path = a_file(tmp_path, ["t1", [a_passage(exam_grades=None, grades=None, note={"a": 1})]])

    passage = graded(path)[0].passages[0]

    assert (passage.gradings, passage.relevance_gradings) == ((), ())
    assert passage.attributes == {"note": {"a": 1}}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[", "line 1: This is not JSON"),
        ('{"t1": []}', "line 1: The line is not a pair of a topic’s id and its passages."),
        ('["t1", {}]', "line 1: The second part of the line is {}, not a list of objects."),
        (["t1", [{"paragraph_id": "p"}]], "line 1: passage 1: The field “paragraph_data” is missing."),
        (["t1", [a_passage("p"), a_passage("p")]], "line 1: passage 2: “p” is already in this topic."),
        (
            ["t1", [a_passage(exam_grades=[a_grading(self_ratings=[{"question_id": "q", "self_rating": "3"}])])]],
            'line 1: passage 1: exam_grades: “self_rating” is "3", not a whole number.',
        ),
        (
            ["t1", [a_passage(exam_grades=[a_grading(self_ratings=[{"self_rating": 3}])])]],
            "line 1: passage 1: exam_grades: The field “nugget_id” is missing.",
        ),
        (
            ["t1", [a_passage(exam_grades=[a_grading(answers=[["q"]])])]],
            'exam_grades: “answers” is [["q"]], not a list of pairs',
        ),
        (["t1", [a_passage(text="NUL \x00")]], "U+0000"),
        ('["t1", [{"score": NaN}]]', "NaN is not a number in JSON"),
    ],
)
def test_a_broken_line_is_named_with_the_place_in_it(tmp_path: Path, line: Any, reason: str) -> None:
    assert reason in refused(a_file(tmp_path, line))


def test_a_topic_stands_in_one_line(tmp_path: Path) -> None:
    path = a_file(tmp_path, ["t1", []], ["t2", []], ["t1", []])

    assert "line 3: Topic “t1” is already in line 1." in refused(path)


def test_a_file_that_breaks_off_is_refused(tmp_path: Path) -> None:
    whole = a_file(tmp_path, ["t1", [a_passage(str(number)) for number in range(50)]]).read_bytes()
    path = tmp_path / "half.jsonl.gz"
    path.write_bytes(whole[: len(whole) // 2])

    assert "is incomplete or damaged" in refused(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "cannot be read" in refused(tmp_path / "nowhere.jsonl.gz")


def test_progress_counts_the_bytes_on_disk(tmp_path: Path) -> None:
    path = a_file(tmp_path, ["t1", [a_passage()]], ["t2", []])
    advanced: list[int] = []

    with InputFile(path, advance=advanced.append) as file:
        list(read_graded(file))

    assert sum(advanced) == path.stat().st_size


@pytest.mark.parametrize("name", ["items", "questions"])
def test_reads_question_banks_new_and_old(tmp_path: Path, name: str) -> None:
    items = [
        {"question_id": "t1/q1", "question_text": "Why?", "query_id": "t1", "facet_id": None},
        {"nugget_id": "t1/n1", "nugget_text": "Because."},
    ]
    line = {"query_id": "t1", "query_text": "reasons", "test_collection": "DL", "info": None, name: items}

    [topic] = bank(a_file(tmp_path, line))

    assert (topic.topic_id, topic.request, topic.attributes) == ("t1", "reasons", {"test_collection": "DL"})
    assert [(item.element_id, item.kind, item.text) for item in topic.items] == [
        ("t1/q1", "question", "Why?"),
        ("t1/n1", "nugget", "Because."),
    ]


@needs_rubric
def test_reads_the_published_file_and_its_question_bank() -> None:
    [path] = RUBRIC.glob("DL19-graded-*.jsonl.gz")
    topics = {topic.topic_id: topic for topic in bank(RUBRIC / "dl19-genq.jsonl.gz")}

    with InputFile(path) as file:
        _, first = next(read_graded(file))

    questions = {item.element_id for item in topics[first.topic_id].items}
    assert len(topics) == 43
    assert len(questions) == 10
    assert all(passage.gradings[0].grades.keys() == questions for passage in first.passages)
