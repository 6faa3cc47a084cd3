"""What was said of answers, out as a table and in again."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from annotate.assignments.assignments import submit_assignment
from annotate.studies.layout import lay_out_tasks
from collection.exporting.judgments import exported_judgments
from collection.formats.judgments_reader import Format
from collection.formats.problems import BrokenFile, InputFile
from collection.importing.judgment_table import import_judgments
from collection.models import Judgment, PairOrder, Study, User
from tests.annotate.evaluated_answers import (
    ITEM_TYPES,
    NOON,
    a_study_of_answers,
    in_hands,
    judge_the_rest,
    see_the_passages,
)
from tests.factories import a_study


@pytest.fixture
def judged(rosa: User, ada: User) -> Study:
    """A study of three answers with retrieved passages, all of which Ada judged."""
    study = a_study_of_answers(rosa, retrieved=True)
    assignment = in_hands(ada, study)
    see_the_passages(assignment)
    judge_the_rest(assignment)
    submit_assignment(assignment=assignment, at=NOON)
    return study


def lines_of(study: Study) -> list[dict[str, Any]]:
    return [json.loads(line) for line in exported_judgments(study, table="jsonl")]


def test_a_table_tells_both_answers_of_a_pair_and_the_passage_of_a_use(judged: Study) -> None:
    rows = list(csv.DictReader(io.StringIO("".join(exported_judgments(judged, table="csv")))))

    pairs = [(row["run"], row["other_run"]) for row in rows if row["criterion"] == "preference"]
    uses = {(row["run"], row["passage_id"]) for row in rows if row["criterion"] == "passage_for_answer"}
    assert {frozenset(pair) for pair in pairs} == {
        frozenset({"alder-run", "birch-run"}),
        frozenset({"alder-run", "cedar-run"}),
        frozenset({"birch-run", "cedar-run"}),
    }
    assert len(uses) == 9
    assert len(rows) == Judgment.objects.count()


def test_a_jsonl_tells_on_which_side_each_answer_stood(judged: Study) -> None:
    told = {line["item_id"]: line["orders"] for line in lines_of(judged) if "orders" in line}

    stored = PairOrder.objects.select_related("judgment__item")
    assert told == {order.judgment.item.item_id: [{"swapped": order.swapped, "grade": order.grade}] for order in stored}
    assert len(told) == 3


@pytest.mark.parametrize("table", ["csv", "jsonl"])
def test_what_goes_out_comes_in_again(judged: Study, tmp_path: Path, table: Format) -> None:
    copy = a_study(judged.collection, name="copy", task_types=ITEM_TYPES)
    lay_out_tasks(study=copy, at=NOON)
    path = tmp_path / f"judgments.{table}"
    path.write_text("".join(exported_judgments(judged, table=table)), encoding="utf-8")

    imported = import_judgments(file=InputFile(path), study=copy, at=NOON)
    import_judgments(file=InputFile(path), study=copy, at=NOON)

    def without_origin(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{key: value for key, value in line.items() if key != "rater_origin"} for line in lines]

    assert imported.new["judgments"] == len(lines_of(judged))
    assert without_origin(lines_of(copy)) == without_origin(lines_of(judged))
    assert PairOrder.objects.count() == 6


@pytest.mark.parametrize(
    ("criterion", "orders", "problem"),
    [
        ("faithful", [{"swapped": True, "grade": 1}], "is not a pair"),
        ("preference", [{"swapped": "yes", "grade": 1}], "needs “swapped”"),
        ("preference", [{"swapped": True, "grade": 7}], "is not a grade of"),
        ("preference", "left", "not a list"),
    ],
)
def test_an_order_that_cannot_be_is_refused(
    judged: Study, tmp_path: Path, criterion: str, orders: Any, problem: str
) -> None:
    line = next(line for line in lines_of(judged) if line["criterion"] == criterion)
    path = tmp_path / "judgments.jsonl"
    path.write_text(json.dumps(line | {"rater": "somebody", "orders": orders}) + "\n", encoding="utf-8")

    with pytest.raises(BrokenFile, match=problem):
        import_judgments(file=InputFile(path), study=judged, at=NOON)

    assert not Judgment.objects.filter(rater__name="somebody").exists()
