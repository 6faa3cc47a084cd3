"""A file of another tool's grades becomes a judge whose origin is recorded."""

from __future__ import annotations

import gzip
import hashlib
import json
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collection.models import EarlierJudgment, Item, Judgment, Rater, RubricElement, Study
from tests.judging.world import a_lexical_judge, criterion_of

pytestmark = pytest.mark.django_db


def a_file(tmp_path: Path, lines: list[Any], name: str = "ratings.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def brought(study: Study, path: Path, file_format: str = "crux-ratings", **options: Any) -> str:
    said = StringIO()
    named: dict[str, Any] = {"judge": "llama-70b", "tool": "crux 1.0"} | options
    call_command(
        "import_grades", str(path), form=file_format, study=study.name, quiet=True, stdout=said, **named
    )  # fmt: skip
    return said.getvalue()


def test_ratings_become_the_grades_of_a_judge_with_file_hash_and_tool(study: Study, tmp_path: Path) -> None:
    path = a_file(tmp_path, [{"id": "t0", "docid": "t0-p0", "rating": [5, 0, 3]}])

    brought(study, path)

    judge = Rater.objects.get(name="llama-70b")
    assert (judge.kind, judge.origin) == ("judge", "imported")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    (file,) = judge.attributes["files"]
    assert (file["file"], file["sha256"], file["tool"], file["format"]) == (
        "ratings.jsonl", sha256, "crux 1.0", "crux-ratings"
    )  # fmt: skip
    grades = Judgment.objects.filter(rater=judge).order_by("item__element__position").values_list("grade", flat=True)
    assert list(grades) == [5.0, 0.0, 3.0]


def test_a_reply_without_a_digit_is_ungraded_and_never_a_grade(study: Study, tmp_path: Path) -> None:
    brought(study, a_file(tmp_path, [{"example_id": "t0", "pid": "t0-p0", "rating": [5, -1, 3]}]))

    assert list(Judgment.objects.filter(grade=None).values_list("ungraded", flat=True)) == ["unreadable"]


def test_ratings_of_a_report_come_under_a_criterion_of_their_own(study: Study, tmp_path: Path) -> None:
    brought(study, a_file(tmp_path, [{"id": "t1", "docid": "alpha-1", "rating": [5, 2, 3]}]))

    assert set(Judgment.objects.values_list("criterion__name", flat=True)) == {"report_rating"}


def test_masked_questions_are_left_out(study: Study, tmp_path: Path) -> None:
    RubricElement.objects.filter(element_id="t0-q1").update(masked=True)

    brought(study, a_file(tmp_path, [{"id": "t0", "docid": "t0-p0", "rating": [5, 0, 3]}]))

    assert Judgment.objects.count() == 2


def test_the_same_file_again_changes_nothing(study: Study, tmp_path: Path) -> None:
    path = a_file(tmp_path, [{"id": "t0", "docid": "t0-p0", "rating": [5, 0, 3]}])
    brought(study, path)
    before = list(Judgment.objects.values())

    said = brought(study, path)

    assert "nothing changed" in said
    assert list(Judgment.objects.values()) == before
    assert not EarlierJudgment.objects.exists()
    assert len(Rater.objects.get(name="llama-70b").attributes["files"]) == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ({"docid": "t0-p0", "rating": [1, 2, 3]}, "no “id”"),
        ({"id": "t0", "docid": "t0-p0", "rating": [1, 2]}, "3 sub-questions; the line rates 2"),
        ({"id": "t0", "docid": "t0-p0", "rating": [1, 2, 9]}, "holds 9"),
        ({"id": "t0", "docid": "t0-p9", "rating": [1, 2, 3]}, "neither a passage nor a run"),
        ({"id": "t9", "docid": "t0-p0", "rating": [1, 2, 3]}, "no topic “t9”"),
    ],
)
def test_a_bad_line_is_named_with_its_reason_and_nothing_stays(
    study: Study, tmp_path: Path, line: Any, reason: str
) -> None:
    path = a_file(tmp_path, [{"id": "t0", "docid": "t0-p0", "rating": [5, 0, 3]}, line])

    with pytest.raises(CommandError, match=f"line 2: .*{reason}"):
        brought(study, path)

    assert not Judgment.objects.exists()
    assert not Rater.objects.filter(name="llama-70b").exists()


def test_another_grade_for_a_pair_is_refused(study: Study, tmp_path: Path) -> None:
    brought(study, a_file(tmp_path, [{"id": "t0", "docid": "t0-p0", "rating": [5, 0, 3]}]))

    with pytest.raises(CommandError, match="has already judged"):
        brought(study, a_file(tmp_path, [{"id": "t0", "docid": "t0-p0", "rating": [5, 0, 4]}], "other.jsonl"))


def test_qrels_of_a_model_are_a_judge_s_grades_of_relevance(study: Study, tmp_path: Path) -> None:
    path = a_file(tmp_path, ["t0 0 t0-p0 3", "t0 0 t0-p1 0", "t1 0 t1-p0 2"], "umbrela.qrels")

    brought(study, path, "qrels")

    judge = Rater.objects.get(name="llama-70b")
    assert (judge.kind, judge.attributes["files"][0]["file"]) == ("judge", "umbrela.qrels")
    assert set(Judgment.objects.filter(rater=judge).values_list("grade", flat=True)) == {0.0, 2.0, 3.0}
    assert set(Judgment.objects.values_list("criterion__name", flat=True)) == {"relevance"}


def test_qrels_with_a_grade_off_the_scale_are_refused(study: Study, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"line 1.*7 is not a grade"):
        brought(study, a_file(tmp_path, ["t0 0 t0-p0 7"], "umbrela.qrels"), "qrels")


def test_what_qrels_mark_as_no_grade_is_ungraded_and_what_they_leave_out_is_missing(
    study: Study, tmp_path: Path
) -> None:
    brought(
        study, a_file(tmp_path, ["t0 0 t0-p0 3", "t0 0 t0-p1 0", "t1 0 t1-p0 2", "t1 0 t1-p1 1"]), "qrels", judge="all"
    )

    said = brought(study, a_file(tmp_path, ["t0 0 t0-p0 3", "t0 0 t0-p1 -1"], "umbrela.qrels"), "qrels")

    assert list(Judgment.objects.filter(grade=None).values_list("rater__name", "ungraded")) == [
        ("llama-70b", "unreadable")
    ]
    assert "llama-70b on relevance: 2 pairs, 1 of them ungraded; not in its files: 2 pairs of the study" in said


def test_another_number_may_stand_for_no_grade(study: Study, tmp_path: Path) -> None:
    brought(study, a_file(tmp_path, ["t0 0 t0-p0 -2", "t0 0 t0-p1 -9"]), "qrels", no_grade=(-2.0, -9.0))

    assert Judgment.objects.filter(grade=None).count() == 2


def test_a_preview_tells_what_a_file_would_bring_and_changes_nothing(study: Study, tmp_path: Path) -> None:
    said = brought(study, a_file(tmp_path, [{"id": "t0", "docid": "t0-p0", "rating": [5, 0, -1]}]), preview=True)

    assert "llama-70b on rating: 3 pairs, 1 of them ungraded" in said
    assert not Judgment.objects.exists()
    assert not Item.objects.exists()
    assert not Rater.objects.filter(name="llama-70b").exists()


def test_pairs_that_are_no_items_are_left_out_and_counted_if_so_wished(judged_study: Study, tmp_path: Path) -> None:
    Item.objects.filter(passage__passage_id="t0-p1").delete()
    lines = [
        {"id": topic, "docid": passage, "rating": [5, 0, 3]}
        for topic, passage in (("t0", "t0-p0"), ("t0", "t0-p1"), ("t0", "t0-p9"), ("t9", "t0-p0"))
    ]

    said = brought(judged_study, a_file(tmp_path, lines), only_items=True)

    assert Judgment.objects.count() == 3
    assert Item.objects.filter(passage__passage_id="t0-p1").count() == 0
    assert "3 pairs left out: texts of the collection that are not items of the study: line 2: t0, t0-p1, 0" in said
    assert "3 pairs left out: texts that are not in the collection" in said
    assert "3 pairs left out: topics that are not in the collection" in said


def test_grades_join_the_items_that_the_study_has_whatever_their_names(judged_study: Study, tmp_path: Path) -> None:
    before = set(Item.objects.values_list("pk", flat=True))

    brought(judged_study, a_file(tmp_path, [{"id": "t0", "docid": "t0-p0", "rating": [5, 0, 3]}]))

    assert set(Item.objects.values_list("pk", flat=True)) == before
    assert set(Judgment.objects.values_list("item", flat=True)) <= before


def test_a_file_of_which_nothing_is_in_the_study_is_refused_with_the_reason(study: Study, tmp_path: Path) -> None:
    path = a_file(tmp_path, [{"id": "t0", "docid": "t0-p0", "rating": [5, 0, 3]}])

    with pytest.raises(CommandError, match="None of its 3 pairs is in the study: 3 are about texts of the collection"):
        brought(study, path, only_items=True)

    assert not Rater.objects.filter(name="llama-70b").exists()


def test_the_origin_is_kept_and_a_judge_never_changes(study: Study, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Rate {passage}.")
    path = a_file(tmp_path, [{"id": "t0", "docid": "t0-p0", "rating": [5, 0, 3]}])
    brought(study, path, model="llama-3-70b", tool_version="1.0", prompt_file=prompt, graded_on=date(2025, 5, 31))

    with pytest.raises(CommandError, match="model of “llama-70b” is “llama-3-70b”, not “qwen”"):
        brought(study, a_file(tmp_path, [{"id": "t1", "docid": "t1-p0", "rating": [1, 1, 1]}], "b.jsonl"), model="qwen")

    about = Rater.objects.get(name="llama-70b").attributes
    assert (about["model"], about["version"], about["prompt"]) == ("llama-3-70b", "1.0", "Rate {passage}.")
    assert about["files"][0]["graded_on"] == "2025-05-31"
    assert Judgment.objects.count() == 3


def test_a_file_does_not_speak_for_a_judge_of_this_installation(judged_study: Study, tmp_path: Path) -> None:
    judge = a_lexical_judge(criterion_of(judged_study, "rating"))
    path = a_file(tmp_path, [{"id": "t0", "docid": "t0-p0", "rating": [5, 0, 3]}])

    with pytest.raises(CommandError, match="is a judge of this installation"):
        brought(judged_study, path, judge=judge.name)


def test_a_graded_file_of_rubric_joins_a_study_with_a_name_for_each_of_its_models(
    judged_study: Study, tmp_path: Path
) -> None:
    grading = {
        "llm": "flan", "prompt_info": {"prompt_class": "SelfRated"},
        "self_ratings": [{"question_id": "t0-q0", "self_rating": 4}],
        "llm_response_errors": {"t0-q1": {"response": "hm"}},
    }  # fmt: skip
    passage = {
        "paragraph_id": "t0-p0",
        "text": "",
        "paragraph_data": {},
        "exam_grades": [grading, grading | {"llm": "t5"}],
    }
    path = tmp_path / "graded.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(["t0", [passage]]).encode()))

    brought(judged_study, path, "rubric", judge="rubric")

    judgments = Judgment.objects.order_by("rater__name", "item").values_list("rater__name", "grade", "ungraded")
    assert list(judgments) == [
        ("rubric · flan · SelfRated", 4.0, ""),
        ("rubric · flan · SelfRated", None, "unreadable"),
        ("rubric · t5 · SelfRated", 4.0, ""),
        ("rubric · t5 · SelfRated", None, "unreadable"),
    ]


def batch_line(custom_id: str, text: str, **changes: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    body = {"model": "gpt-x", "choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 1}}
    return {"custom_id": custom_id, "response": {"status_code": 200, "body": body}, "error": None} | changes


def test_replies_of_a_batch_are_read_by_the_strict_rule(judged_study: Study, tmp_path: Path) -> None:
    lines = [
        batch_line("t0::t0-p0::0", "4"),
        batch_line("t0::t0-p0::1", "I would say 4."),
        batch_line("t0::t0-p0::2", "", response=None, error={"message": "expired"}),
    ]

    brought(judged_study, a_file(tmp_path, lines), "batch")

    judgments = Judgment.objects.order_by("item__element__position").values_list("grade", "ungraded")
    assert list(judgments) == [(4.0, ""), (None, "unreadable"), (None, "engine_error")]


def test_a_batch_of_our_own_is_sent_to_its_job_s_page(judged_study: Study, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"line 1.*job 12 .*job’s page"):
        brought(judged_study, a_file(tmp_path, [batch_line("assize-12-7", "1")]), "batch")


def test_a_pair_that_stands_twice_with_two_grades_is_refused(study: Study, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"line 2.*has already judged"):
        brought(study, a_file(tmp_path, ["t0 0 t0-p0 3", "t0 0 t0-p0 1"]), "qrels")

    assert not Judgment.objects.exists()
