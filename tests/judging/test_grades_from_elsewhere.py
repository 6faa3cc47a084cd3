"""A file of another tool's grades becomes a judge whose origin is recorded."""

from __future__ import annotations

import hashlib
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collection.models import EarlierJudgment, Judgment, Rater, RubricElement, Study

pytestmark = pytest.mark.django_db


def a_file(tmp_path: Path, lines: list[Any], name: str = "ratings.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def brought(study: Study, path: Path, file_format: str = "crux-ratings", **options: Any) -> str:
    said = StringIO()
    call_command(
        "import_grades", str(path), format=file_format, study=study.name, judge="llama-70b", tool="crux 1.0",
        quiet=True, stdout=said, **options,
    )  # fmt: skip
    return said.getvalue()


def test_ratings_become_the_grades_of_a_judge_with_file_hash_and_tool(study: Study, tmp_path: Path) -> None:
    path = a_file(tmp_path, [{"id": "t0", "docid": "t0-p0", "rating": [5, 0, 3]}])

    brought(study, path)

    judge = Rater.objects.get(name="llama-70b")
    assert (judge.kind, judge.origin) == ("judge", "imported")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert judge.attributes["files"] == [{"file": "ratings.jsonl", "sha256": sha256, "tool": "crux 1.0"}]
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
        ("{", "no JSON"),
        ({"docid": "t0-p0", "rating": [1, 2, 3]}, "no “id”"),
        ({"id": "t0", "docid": "t0-p0", "rating": [1, 2]}, "3 sub-questions; the line rates 2"),
        ({"id": "t0", "docid": "t0-p0", "rating": [1, 2, 9]}, "holds 9"),
        ({"id": "t0", "docid": "t0-p9", "rating": [1, 2, 3]}, "no passage and no run"),
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
    with pytest.raises(CommandError, match=r"line 1.*7 is no grade"):
        brought(study, a_file(tmp_path, ["t0 0 t0-p0 7"], "umbrela.qrels"), "qrels")
