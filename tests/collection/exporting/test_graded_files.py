"""RUBRIC's graded files go out as they came in, and with what was judged since."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.timezone import now

from collection.exporting.labels import exported_labels, label_files
from collection.formats.rubric_frames import framed, unframed, written_line
from collection.judgments.services import NewJudgment, add_judgments, record_judgment, withdraw_judgment
from collection.models import (
    Collection,
    Exclusion,
    GradedLine,
    Item,
    Judgment,
    RankedPassage,
    Rater,
    Run,
    Study,
    System,
    User,
)
from tests.collection.importing.test_rubric import a_passage, bring, graded_file

pytestmark = pytest.mark.django_db


def a_file(folder: Path) -> tuple[Path, str]:
    """Two passages with all that a file says: prompts, answers, errors, relevance by people and by a model."""
    first = a_passage(
        "p1",
        {"q1": 4, "q2": 0},
        relevance=3,
        answers=[["q1", "It is 4, a stone."], ["q2", "0"]],
        correctAnswered=["q1"],
        wrongAnswered=["q2"],
        exam_ratio=0.5,
        llm_options={"temperature": 1e-07},
    )
    first["grades"] = [
        {
            "llm": "gpt",
            "prompt_info": {"prompt_class": "Fag"},
            "correctAnswered": True,
            "answer": "3",
            "self_ratings": 3,
        }
    ]
    second = a_passage("p2", {"q1": 1}, llm_response_errors={"q2": {"response": "Müh", "failure_reason": "no digit"}})
    second["paragraph"] = {"headings": ["Stöne"]}
    second["exam_grades"].append(
        {**second["exam_grades"][0], "self_ratings": [{"question_id": "q1", "self_rating": 2}]}
    )
    return graded_file(folder, [first, second]), json.dumps(["t1", [first, second]]) + "\n"


@pytest.fixture
def came(tmp_path: Path, rosa: User) -> str:
    path, line = a_file(tmp_path)
    bring(path)
    return line


@pytest.fixture
def study(came: str) -> Study:
    assert came
    return Study.objects.get(name="stones")


def out(study: Study) -> list[dict[str, Any]]:
    (line,) = exported_labels(study, "graded")
    topic, passages = json.loads(line)
    assert topic == "t1"
    return list(passages)


def judged(passage: str, element: str) -> Judgment:
    return Judgment.objects.select_related("item", "criterion", "rater").get(
        rater__name="flan · SelfRated", item__passage__passage_id=passage, item__element__element_id=element
    )


def test_a_file_goes_out_byte_for_byte(study: Study, came: str) -> None:
    assert "".join(exported_labels(study, "graded")) == came


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_line_keeps_its_spelling_and_not_its_texts(separators: tuple[str, str], *, ascii_only: bool) -> None:
    found = ["t", [{"paragraph_id": "p", "text": "Müh und Stein", "n": 0.1}]]
    line = json.dumps(found, ensure_ascii=ascii_only, separators=separators)

    kept, exact = framed(line)
    frame = unframed(kept)

    assert exact
    assert frame.passages == [{"paragraph_id": "p", "text": None, "n": 0.1}]
    assert written_line(found, frame.spelling) == line
    assert framed(line.replace("0.1", "0.10"))[1] is False


def test_a_grade_that_changed_or_was_withdrawn_goes_out_as_it_is(study: Study) -> None:
    changed, gone = judged("p1", "q1"), judged("p2", "q1")
    record_judgment(item=changed.item, criterion=changed.criterion, rater=changed.rater, grade=2, at=now())
    withdraw_judgment(item=gone.item, criterion=gone.criterion, rater=gone.rater, at=now())

    first, second = out(study)

    grading = first["exam_grades"][0]
    assert grading["self_ratings"] == [
        {"question_id": "q1", "self_rating": 2},
        {"question_id": "q2", "self_rating": 0},
    ]
    assert grading["answers"] == [["q2", "0"]]  # what the model wrote was of another grade
    assert (grading["correctAnswered"], grading["exam_ratio"]) == ([], 0.0)
    assert grading["llm_options"] == {"temperature": 1e-07}
    assert second["exam_grades"][0]["self_ratings"] == []
    assert list(second["exam_grades"][0]["llm_response_errors"]) == ["q2"]


def test_what_came_since_stands_behind(study: Study) -> None:
    system = System.objects.create(collection=study.collection, name="beta")
    run = Run.objects.create(collection=study.collection, system=system, name="beta")
    RankedPassage.objects.create(
        run=run, topic=study.collection.topics.get(topic_id="t1"), passage_id="p2", rank=1, score=3.5
    )
    judge = Rater.objects.create(collection=study.collection, kind="judge", name="small", attributes={})
    criterion = study.criteria.get(name="rating")
    item = Item.objects.get(study=study, passage__passage_id="p1", element__element_id="q1")
    add_judgments(
        [NewJudgment(item_id=item.pk, criterion_id=criterion.pk, rater_id=judge.pk, grade=5, judged_at=now())]
    )

    first, second = out(study)

    made = first["exam_grades"][1]
    assert (made["llm"], made["self_ratings"]) == ("small", [{"question_id": "q1", "self_rating": 5}])
    assert (made["correctAnswered"], made["exam_ratio"]) == (["q1"], 1.0)
    assert second["paragraph_data"]["rankings"][1] == {
        "method": "beta",
        "paragraphId": "p2",
        "queryId": "t1",
        "rank": 1,
        "score": 3.5,
    }


def test_nobody_excluded_goes_out(study: Study, rosa: User) -> None:
    gone = Rater.objects.get(name="gpt · Fag")
    Exclusion.objects.create(study=study, rater=gone, reason="Guesses.", excluded_by=rosa, excluded_at=now())

    assert out(study)[0]["grades"] == []


def test_without_a_kept_file_it_is_made_of_judgments_and_says_so(study: Study, tmp_path: Path, rosa: User) -> None:
    GradedLine.objects.all().delete()

    first, second = out(study)
    (file,) = (one for one in label_files(study) if one.form == "graded")

    assert first["paragraph_data"]["judgments"][0]["relevance"] == 3
    assert first["text"] == "p1 is a stone."
    assert first["exam_grades"][0]["llm"] == "flan"
    assert first["exam_grades"][0]["prompt_info"]["prompt_class"] == "SelfRated"
    assert [one["self_ratings"] for one in second["exam_grades"]] == [
        [{"question_id": "q1", "self_rating": 1}],
        [{"question_id": "q1", "self_rating": 2}],
    ]
    assert "No graded file is kept" in file.remarks[0]
    again = tmp_path / "again.jsonl"
    again.write_text("".join(exported_labels(study, "graded")))
    call_command("import_rubric", str(again), study="again", owner="rosa", quiet=True, verbosity=0)
    assert Judgment.objects.of_study(Study.objects.get(name="again")).filter(grade__isnull=False).count() == (
        Judgment.objects.of_study(study).filter(grade__isnull=False).count()
    )


def test_page_api_and_command_give_the_same(study: Study, came: str, client: Client, rosa: User, mallory: User) -> None:
    printed, noted = StringIO(), StringIO()
    call_command("export_labels", study="stones", form="graded", stdout=printed, stderr=noted)
    page = f"/collections/{Collection.objects.get().name}/studies/stones/labels/"
    api = "/api/v1/studies/stones/labels/"

    client.force_login(rosa)

    assert client.get(page, {"as": "graded"}).getvalue() == came.encode()
    assert client.get(api, {"as": "graded"}).getvalue() == printed.getvalue().encode() == came.encode()
    assert "goes out as it came" in noted.getvalue()
    assert next(one for one in client.get(api).json() if one["form"] == "graded")["remarks"]
    assert "RUBRIC’s graded file" in client.get("/studies/stones/publish/").content.decode()
    assert client.get(page, {"as": "graded", "rater": "flan"}).status_code == 400
    with pytest.raises(CommandError, match="leave rater"):
        call_command("export_labels", study="stones", form="graded", rater="flan")
    client.force_login(mallory)
    assert client.get(page, {"as": "graded"}).status_code == client.get(api).status_code == 404
