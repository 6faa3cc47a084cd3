"""What is published of a study with suggestions says which labels a judge's grade came before."""

from __future__ import annotations

import csv
import json
from io import BytesIO, StringIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.utils.timezone import now

from collection.exporting.judgments import exported_judgments
from collection.models import Arm, Judgment, Study, Suggestion, User
from evaluation.publishing.audit_bundle import write_bundle
from evaluation.publishing.data_card import compile_data_card
from stats.audit_verification import verify
from tests.annotate.factories import NOON, a_report_task, the_criterion
from tests.factories import a_judge_rater, rater_of


@pytest.fixture
def suggested(study: Study, ada: User, ben: User) -> Study:
    """Ada's three labels: without a suggestion, changed after one, and filled in. Ben's are without."""
    task = a_report_task(study)
    criterion, judge = the_criterion(study, "answerability"), a_judge_rater(study.collection, "llama")
    items = list(task.items.order_by("pk"))
    drawn = ((0, Arm.NONE, None), (1, Arm.AFTER, 0), (1, Arm.POST_EDIT, None))
    for item, (grade, arm, own) in zip(items, drawn, strict=True):
        mine: dict[str, Any] = {"item": item, "criterion": criterion, "judged_at": NOON}
        label = Judgment.objects.create(rater=rater_of(ada), grade=grade, **mine)
        Judgment.objects.create(rater=rater_of(ben), grade=1, **mine)
        Suggestion.objects.create(
            item=item, criterion=criterion, rater=label.rater, arm=arm, probability=0.25, judge=judge, grade=1,
            drawn_at=NOON, shown_at=None if arm == Arm.NONE else NOON, own_grade=own,
        )  # fmt: skip
    return study


def rows_of(study: Study, rater: str) -> list[dict[str, str]]:
    rows = csv.DictReader(StringIO("".join(exported_judgments(study, table="csv"))))
    return [row for row in rows if row["rater"] == rater]


def test_the_table_names_the_arm_and_what_was_said_before(suggested: Study) -> None:
    told = [
        tuple(row[f"suggestion_{name}"] for name in ("arm", "probability", "judge", "grade", "own_grade"))
        for row in rows_of(suggested, "ada")
    ]

    assert told == [
        ("none", "0.25", "llama", "1", ""),
        ("after", "0.25", "llama", "1", "0"),
        ("post_edit", "0.25", "llama", "1", ""),
    ]
    assert {row["suggestion_arm"] for row in rows_of(suggested, "ben")} == {""}
    lines = [json.loads(line) for line in exported_judgments(suggested, table="jsonl")]
    assert {line["rater"]: "suggestion" in line for line in lines} == {"ada": True, "ben": False}


def test_the_table_of_a_study_without_suggestions_has_no_such_column(study: Study, ada: User) -> None:
    task = a_report_task(study)
    Judgment.objects.create(
        item=task.items.all()[0], criterion=the_criterion(study, "answerability"), rater=rater_of(ada), grade=1,
        judged_at=NOON,
    )  # fmt: skip

    assert "suggestion" not in "".join(exported_judgments(study, table="csv"))


def test_the_data_card_counts_the_arms(suggested: Study) -> None:
    card = compile_data_card(suggested, names=False)

    assert "## Suggestions" in card
    assert "- post-edit: 1 label, judge llama" in card


def test_the_bundle_holds_unaided_labels_and_the_others_beside_and_verifies(suggested: Study) -> None:
    file = BytesIO()
    write_bundle(suggested, file, at=now(), names=True)
    with ZipFile(file) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    tables = {
        name: list(csv.DictReader(StringIO(files[name].decode()))) for name in ("judgments.csv", "suggestions.csv")
    }

    assert [row["grade"] for row in tables["judgments.csv"] if row["rater"] == "ada"] == ["0", "0"]
    assert [(row["arm"], row["own_grade"], row["grade_now"]) for row in tables["suggestions.csv"]] == [
        ("none", "", "0"), ("after", "0", "1"), ("post_edit", "", "1")
    ]  # fmt: skip
    assert verify(files).holds
