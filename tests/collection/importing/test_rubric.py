from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from collection.models import Collection, Item, Judgment, RankedPassage, Rater, RubricElement, Study, User

RUBRIC = Path(settings.BASE_DIR).parent / "shared" / "data" / "rubric"
GRADED = RUBRIC / "DL19-graded-t5-rating-genq-exam-qrels-runs-with-text.jsonl.gz"
needs_rubric = pytest.mark.skipif(not RUBRIC.is_dir(), reason=f"the graded TREC DL 2019 passages are not at {RUBRIC}")


def a_passage(name: str, grades: dict[str, int], *, relevance: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "paragraph_id": name,
        "text": f"{name} is a stone.",
        "paragraph_data": {
            "judgments": [{"relevance": relevance}],
            "rankings": [{"method": "alpha", "rank": 0, "score": 2.5}],
        },
        "exam_grades": [
            {
                "llm": "flan",
                "prompt_info": {"prompt_class": "SelfRated"},
                "self_ratings": [{"question_id": key, "self_rating": grade} for key, grade in grades.items()],
                **more,
            }
        ],
    }


def graded_file(folder: Path, passages: list[dict[str, Any]]) -> Path:
    path = folder / "graded.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(["t1", passages]).encode()))
    return path


def bank_file(folder: Path, questions: dict[str, str]) -> Path:
    items = [{"question_id": key, "question_text": text} for key, text in questions.items()]
    path = folder / "bank.jsonl"
    path.write_text(json.dumps({"query_id": "t1", "query_text": "Why stones?", "items": items}))
    return path


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    return graded_file(
        tmp_path,
        [
            a_passage("p1", {"q1": 4, "q2": 0}, relevance=3),
            a_passage("p2", {"q1": 1}, llm_response_errors={"q2": {"message": "no grade"}}),
        ],
    )


def bring(path: Path, **options: Any) -> None:
    call_command("import_rubric", str(path), study="stones", owner="rosa", quiet=True, verbosity=0, **options)


def test_brings_texts_rankings_grades_and_relevance(graded: Path, rosa: User) -> None:
    bring(graded)

    study = Study.objects.get(name="stones")
    judge, people = Rater.objects.order_by("kind").reverse()
    assert (judge.kind, judge.name, judge.attributes["model"]) == ("judge", "flan · SelfRated", "flan")
    assert (people.kind, people.name, people.origin) == ("assessor", "NIST", "imported")
    assert study.collection.passages.get(passage_id="p1").text == "p1 is a stone."
    assert list(RankedPassage.objects.values_list("run__name", "rank", "score")) == [("alpha", 0, 2.5)] * 2
    assert set(Item.objects.values_list("item_id", flat=True)) == {
        "rating/t1/p1/q1",
        "rating/t1/p1/q2",
        "rating/t1/p2/q1",
        "rating/t1/p2/q2",
        "relevance/t1/p1",
        "relevance/t1/p2",
    }
    assert judge.judgments.get(item__item_id="rating/t1/p1/q1").grade == 4
    assert people.judgments.get(item__item_id="relevance/t1/p1").grade == 3


def test_an_unreadable_reply_is_ungraded_and_never_a_one(graded: Path, rosa: User) -> None:
    bring(graded)

    judgment = Judgment.objects.get(item__item_id="rating/t1/p2/q2")
    assert (judgment.grade, judgment.ungraded) == (None, "unreadable")


def test_the_bank_gives_requests_and_questions_their_texts(graded: Path, tmp_path: Path, rosa: User) -> None:
    bring(graded, bank=bank_file(tmp_path, {"q1": "Which stone?", "q2": "Whose stone?"}))

    assert Collection.objects.get().topics.get().request == "Why stones?"
    assert list(RubricElement.objects.values_list("text", flat=True)) == ["Which stone?", "Whose stone?"]


def test_a_question_that_the_bank_lacks_refuses_the_whole_file(graded: Path, tmp_path: Path, rosa: User) -> None:
    with pytest.raises(CommandError, match="line 1: The question bank has no “q2” for the topic “t1”"):
        bring(graded, bank=bank_file(tmp_path, {"q1": "Which stone?"}))

    assert not Collection.objects.exists()


def test_relevance_may_come_from_qrels(graded: Path, tmp_path: Path, rosa: User) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("t1 0 p1 2\nt1 0 p9 1\n")

    bring(graded, qrels=qrels, assessors="TREC", relevant_from=2.0)

    judgments = Judgment.objects.filter(rater__name="TREC").order_by("item__item_id")
    assert list(judgments.values_list("item__item_id", "grade")) == [("relevance/t1/p1", 2), ("relevance/t1/p9", 1)]
    assert Study.objects.get().criteria.get(name="relevance").threshold == 2


def test_the_same_file_twice_changes_nothing(graded: Path, rosa: User, capsys: pytest.CaptureFixture[str]) -> None:
    bring(graded)
    bring(graded)

    assert "Everything was already there: nothing changed." in capsys.readouterr().out
    assert Judgment.objects.count() == 6


def test_another_grade_for_a_stored_judgment_is_refused(graded: Path, tmp_path: Path, rosa: User) -> None:
    bring(graded)
    graded_file(tmp_path, [a_passage("p1", {"q1": 5, "q2": 0}, relevance=3)])

    with pytest.raises(
        CommandError, match=r"“flan · SelfRated” has already judged “rating/t1/p1/q1”.* with 4; here it is 5"
    ):
        bring(graded)


def test_a_grade_off_the_scale_is_refused(tmp_path: Path, rosa: User) -> None:
    path = graded_file(tmp_path, [a_passage("p1", {"q1": 7})])

    with pytest.raises(CommandError, match=r"7 is not a grade of “rating”. Its grades are 0, 1, 2, 3, 4, 5"):
        bring(path)

    assert not Study.objects.exists()


def test_an_unknown_owner_is_refused(graded: Path, db: None) -> None:
    with pytest.raises(CommandError, match="There is no user “rosa”"):
        bring(graded)


@needs_rubric
@pytest.mark.slow
def test_trec_dl_2019_gives_the_published_leaderboard(rosa: User, capsys: pytest.CaptureFixture[str]) -> None:
    published: dict[str, float] = {}
    with (RUBRIC / "exam-cover-leaderboard.tsv").open(encoding="utf-8") as file:
        rows: dict[str, float] = {}
        for row in csv.reader(file, delimiter="\t"):
            if row and row[0] == "method":
                rows = {}
            elif len(row) > 7 and row[2] == "+/-" and row[0] != "_overall_":
                rows[row[0]] = float(row[1])
            elif row and row[:2] == ["min_rating", "3"]:
                published = rows

    bring(GRADED, bank=RUBRIC / "dl19-genq.jsonl.gz", relevant_from=2.0)
    capsys.readouterr()
    call_command("leaderboard", study="stones", measure="Cover@20>=3", json=True)

    [source] = json.loads(capsys.readouterr().out)["sources"]
    ours = {system["system"]: system["value"] for system in source["systems"]}
    assert Judgment.objects.filter(criterion__name="rating").count() == 92_600
    assert Judgment.objects.filter(criterion__name="relevance").count() == 9_260
    assert len(published) == 37
    assert ours.keys() == published.keys()
    assert max(abs(ours[system] - score) for system, score in published.items()) < 0.012
    assert source["systems"][0]["system"] == "TUW19-p3-f"
