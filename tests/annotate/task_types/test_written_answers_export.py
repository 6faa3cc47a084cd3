"""What was written in both rounds, out as a table of judgments and into a study on another site."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.assignments.assignments import submit_assignment
from annotate.studies.layout import lay_out_tasks
from collection.exporting.collections import exported_collection
from collection.exporting.judgments import exported_judgments
from collection.formats.problems import BrokenFile, InputFile
from collection.importing.collections import import_collection
from collection.importing.judgment_table import import_judgments
from collection.importing.rows import Imported
from collection.judgments.services import record_judgment
from collection.models import AnswerToRevise, Collection, Highlight, Item, Judgment, Report, Study, User, WrittenAnswer
from tests.annotate.factories import NOON
from tests.annotate.writers import (
    ALL_CONFIRMED,
    ANSWER,
    CHANGED,
    SKIPPED,
    TOO_DIFFICULT,
    a_study_of_writing,
    answered,
    next_of,
    save,
)
from tests.factories import a_study, an_item, rater_of

ROUNDS = ("written_answer", "answer_revision")
FORMULA = "=1+1 is what\r\nit cost, “more” or less,\rI say 🔥"
Write = Callable[..., Path]


@pytest.fixture
def written(rosa: User, ada: User, ben: User) -> Study:
    """Ada answered one question and could not answer another. Ben changed the answer, with a text like a formula."""
    study = a_study_of_writing(owner=rosa, people=[ada, ben], n=2, overlap=1)
    answered(ada, study)
    too_difficult = next_of(ada, study)
    save(too_difficult, TOO_DIFFICULT, seconds=30)
    submit_assignment(assignment=too_difficult, at=NOON)
    revision = next_of(ben, study)
    save(revision, CHANGED, sentences=[0, 3], text=FORMULA, confirmed=ALL_CONFIRMED, seconds=90.5)
    submit_assignment(assignment=revision, at=NOON)
    return study


@pytest.fixture
def elsewhere(written: Study, mallory: User, tmp_path: Path) -> Study:
    """The same collection on another site, with a study that asks the same, where nobody has worked yet."""
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(exported_collection(written.collection)), encoding="utf-8", newline="")
    copy = Collection.objects.create(name="elsewhere", owner=mallory)
    import_collection(file=InputFile(path), collection=copy)
    study = a_study(copy, name="elsewhere", task_types=ROUNDS)
    lay_out_tasks(study=study, at=NOON)
    return study


def rows_of(study: Study) -> list[dict[str, Any]]:
    return [json.loads(line) for line in exported_judgments(study, table="jsonl")]


def table_of(study: Study) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(exported_judgments(study, table="csv")), newline="")))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write rows as a JSONL."""

    def file(*rows: dict[str, Any]) -> Path:
        path = tmp_path / "judgments.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8", newline="")
        return path

    return file


def bring(path: Path, study: Study) -> Imported:
    return import_judgments(file=InputFile(path), study=study, at=NOON)


def a_sub_question(study: Study) -> Item:
    report = Report.objects.filter(topic__topic_id="t0").get()
    element = report.topic.rubric_elements.get(element_id="t0-q1")
    return an_item(study, "answerability", topic=report.topic, element=element, text=report)


# --- Out ----------------------------------------------------------------------------------------


def test_a_jsonl_tells_what_was_written_in_which_round_and_whose_answer_was_read(written: Study) -> None:
    rows = {(row["criterion"], row["grade"]): row for row in rows_of(written)}

    first, none, second = rows["outcome", 5], rows["outcome", 3], rows["revision", CHANGED]
    assert (first["round"], first["answer"]["text"]) == (1, ANSWER)
    assert set(first["answer"]["confirmations"]) == set(ALL_CONFIRMED)
    assert (none["round"], none["seconds"]) == (1, 30)
    assert "answer" not in none
    assert (second["round"], second["answer"]["text"], second["seconds"]) == (2, FORMULA, 90.5)
    assert second["revises"] == {"item_id": first["item_id"], "writer": "ada"}


def test_a_csv_tells_it_in_columns_of_its_own_and_no_spreadsheet_computes_an_answer(written: Study) -> None:
    [row] = [row for row in table_of(written) if row["criterion"] == "revision"]

    assert row["answer"] == f"'{FORMULA}"
    assert (row["round"], row["revises_writer"]) == ("2", "ada")
    assert row["revises_item_id"].startswith("written_answer/")


def test_a_study_without_answers_and_pairs_has_nothing_of_it(study: Study, ada: User) -> None:
    report = Report.objects.filter(topic__topic_id="t0").get()
    item = an_item(
        study, "answerability", topic=report.topic, element=report.topic.rubric_elements.all()[0], text=report
    )
    criterion = study.criteria.get(name="answerability")
    record_judgment(item=item, criterion=criterion, rater=rater_of(ada), grade=0, at=NOON)

    [row], [columns] = rows_of(study), table_of(study)

    of_other_studies = {"answer", "confirmations", "round", "revises", "revises_item_id", "revises_writer", "orders"}
    assert not of_other_studies & row.keys()
    assert not of_other_studies & columns.keys()


def test_answers_are_read_in_a_fixed_number_of_queries(written: Study, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(9):
        list(exported_judgments(written, table="jsonl"))


# --- And in -------------------------------------------------------------------------------------


def without_origin(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what an import changes on purpose, and what stands in another study's guidelines."""
    return [{name: value for name, value in row.items() if name != "rater_origin"} for row in rows]


def test_a_jsonl_brings_the_same_judgments_to_another_site(written: Study, elsewhere: Study, write: Write) -> None:
    path = write(*rows_of(written))

    imported = bring(path, elsewhere)
    again = bring(path, elsewhere)

    assert without_origin(rows_of(elsewhere)) == without_origin(rows_of(written))
    assert (imported.new["judgments"], imported.new["written answers"]) == (3, 2)
    assert not again.changed


def test_the_spans_of_an_answer_stay_exact_on_the_other_site(written: Study, elsewhere: Study, write: Write) -> None:
    bring(write(*rows_of(written)), elsewhere)

    highlights = Highlight.objects.filter(judgment__item__study=elsewhere).select_related("judgment__item__passage")
    assert highlights.count() == 4
    for highlight in highlights:
        text = highlight.judgment.item.judged_text.text or ""
        assert text[highlight.start : highlight.end] == highlight.quote


def test_a_csv_brings_the_same_answers_to_another_site(written: Study, elsewhere: Study, tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text("".join(exported_judgments(written, table="csv")), encoding="utf-8", newline="")

    bring(path, elsewhere)

    def told(study: Study) -> list[dict[str, str]]:
        return [{name: value for name, value in row.items() if name != "rater_origin"} for row in table_of(study)]

    assert told(elsewhere) == told(written)
    assert WrittenAnswer.objects.get(judgment__item__study=elsewhere, judgment__grade=CHANGED).text == FORMULA


def test_round_2_is_read_whatever_the_order_of_the_rows(written: Study, elsewhere: Study, write: Write) -> None:
    bring(write(*sorted(rows_of(written), key=lambda row: -row["round"])), elsewhere)

    handed_on = AnswerToRevise.objects.get(answered__study=elsewhere)
    assert (handed_on.text, handed_on.writer.name, handed_on.writer.origin) == (ANSWER, "ada", "imported")


def test_what_is_exported_comes_back_into_its_own_study_without_a_change(written: Study, write: Write) -> None:
    imported = bring(write(*rows_of(written)), written)

    assert not imported.changed


def revision_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return next(row for row in rows if row["round"] == 2)


def test_a_second_round_without_its_first_is_refused(written: Study, elsewhere: Study, write: Write) -> None:
    with pytest.raises(BrokenFile, match="“ada” has written no answer to"):
        bring(write(revision_of(rows_of(written))), elsewhere)

    assert not Judgment.objects.of_study(elsewhere).exists()


def test_another_writer_of_the_same_item_is_refused(written: Study, write: Write) -> None:
    row = revision_of(rows_of(written)) | {"rater": "somebody"}
    row["revises"] = row["revises"] | {"writer": "ben"}

    with pytest.raises(BrokenFile, match="is here the answer of “ada”"):
        bring(write(row), written)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"answer": {"text": "Another answer."}}, "already written another answer"),
        ({"answer": "text"}, "not an object"),
        ({"answer": {"text": 5}}, "not a text"),
        ({"answer": {"text": "x", "confirmations": "all"}}, "not a list of names"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(
    written: Study, write: Write, fields: dict[str, Any], problem: str
) -> None:
    first = next(row for row in rows_of(written) if row["round"] == 1 and "answer" in row)

    with pytest.raises(BrokenFile, match=problem):
        bring(write(first | fields), written)


def test_nothing_is_written_about_what_takes_no_answer(study: Study, write: Write) -> None:
    report = Report.objects.filter(topic__topic_id="t0").get()
    item = an_item(
        study, "answerability", topic=report.topic, element=report.topic.rubric_elements.all()[0], text=report
    )
    row = {"item_id": item.item_id, "criterion": "answerability", "rater": "x", "grade": 1, "answer": {"text": "No."}}

    with pytest.raises(BrokenFile, match="No answers are written for"):
        bring(write(row), study)


def test_a_skipped_revision_goes_out_and_in_without_an_answer(rosa: User, ada: User, ben: User, write: Write) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben])
    answered(ada, study)
    revision = next_of(ben, study)
    save(revision, SKIPPED)
    submit_assignment(assignment=revision, at=NOON)

    [row] = [row for row in rows_of(study) if row["round"] == 2]

    assert "answer" not in row
    assert not bring(write(*rows_of(study)), study).changed
