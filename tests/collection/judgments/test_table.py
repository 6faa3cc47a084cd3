"""The long judgments table, out and in."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collection.exporting.judgments import exported_judgments
from collection.importing import judgment_table, judgments
from collection.judgments.services import Span, record_judgment
from collection.models import Highlight, Item, Judgment, Rater, Report, Study
from collection.models.texts import text_hash
from tests.collection.files import everything, refused, run_command
from tests.factories import a_judge_rater, an_item

AT = datetime(2025, 3, 1, 14, 30, tzinfo=UTC)


@pytest.fixture
def item(study: Study) -> Item:
    """Rosa's first report with its first sub-question."""
    report = Report.objects.filter(topic__topic_id="t0").get()
    element = report.topic.rubric_elements.get(element_id="t0-q1")
    return an_item(study, "answerability", topic=report.topic, element=element, text=report)


@pytest.fixture
def judged(study: Study, item: Item, ada_as_rater: Rater) -> Judgment:
    """Ada answered it, and marked a span after an emoji."""
    assert item.report is not None
    start = item.report.text.index("Fact 1")
    span = Span(start, start + 6, "Fact 1")
    criterion = study.criteria.get(name="answerability")
    return record_judgment(
        item=item,
        criterion=criterion,
        rater=ada_as_rater,
        grade=1,
        spans=[span],
        seconds=12.5,
        guideline=study.guidelines.get(),
        at=AT,
    )


def table(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    """Write rows as a CSV with the columns of the first."""
    path = tmp_path / "table.csv"
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def row(item: Item, **fields: Any) -> dict[str, Any]:
    return {"item_id": item.item_id, "criterion": "answerability", "rater": "nist", "grade": 1} | fields


def test_a_csv_tells_who_judged_what_when(judged: Judgment) -> None:
    [found] = csv.DictReader(io.StringIO("".join(exported_judgments(judged.criterion.study, table="csv"))))

    assert found == {
        "topic_id": "t0",
        "item_id": judged.item.item_id,
        "criterion": "answerability",
        "rater": "ada",
        "rater_kind": "assessor",
        "rater_origin": "here",
        "grade": "1",
        "ungraded": "",
        "judged_at": "2025-03-01T14:30:00+00:00",
        "seconds": "12.5",
        "guideline_version": "1",
        "task_type": "answerability",
        "run": "alpha-1",
        "passage_id": "",
        "element_id": "t0-q1",
        "other_run": "",
    }


def test_a_grade_marked_as_not_sure_says_so_and_is_read_back(judged: Judgment, tmp_path: Path) -> None:
    study = judged.criterion.study
    sure = "".join(exported_judgments(study, table="jsonl"))
    Judgment.objects.update(unsure=True)
    [found] = csv.DictReader(io.StringIO("".join(exported_judgments(study, table="csv"))))
    line = json.loads("".join(exported_judgments(study, table="jsonl")))
    path = table(tmp_path, found | {"rater": "nist", "rater_origin": "", "guideline_version": ""})

    call_command("import_judgments", path, "--study", study.name)

    assert "unsure" not in sure
    assert (found["unsure"], line["unsure"]) == ("true", True)
    assert Judgment.objects.get(rater__name="nist").unsure


@pytest.mark.parametrize(
    ("fields", "why"),
    [({"unsure": "1"}, "neither true nor false"), ({"unsure": "true", "grade": "", "ungraded": "refused"}, "no grade")],
)
def test_what_is_no_flag_is_refused(item: Item, tmp_path: Path, fields: dict[str, str], why: str) -> None:
    path = table(tmp_path, row(item, **fields))

    with pytest.raises(CommandError, match=why):
        call_command("import_judgments", path, "--study", item.study.name)


def test_a_jsonl_counts_highlights_in_three_ways(judged: Judgment) -> None:
    [line] = exported_judgments(judged.criterion.study, table="jsonl")

    [highlight] = json.loads(line)["highlights"]
    text = judged.item.judged_text.text or ""
    assert text[highlight["start"] : highlight["end"]] == "Fact 1"
    assert text.encode()[highlight["start_utf8"] : highlight["end_utf8"]].decode() == "Fact 1"
    utf16 = text.encode("utf-16-le")[2 * highlight["start_utf16"] : 2 * highlight["end_utf16"]]
    assert utf16.decode("utf-16-le") == "Fact 1"
    assert len({highlight["start"], highlight["start_utf16"], highlight["start_utf8"]}) == 3
    assert highlight["text_sha256"] == text_hash(text)


def test_a_highlight_that_does_not_fit_its_text_stops_the_export(judged: Judgment) -> None:
    Highlight.objects.update(quote="Fact 2")

    with pytest.raises(CommandError, match="is not at"):
        call_command("export_judgments", "--study", judged.criterion.study.name, "--format", "jsonl")


def test_a_quote_without_a_place_is_exported_without_offsets(judged: Judgment) -> None:
    Highlight.objects.update(start=None, end=None, quote="nowhere", text_sha256="")

    [line] = exported_judgments(judged.criterion.study, table="jsonl")

    assert json.loads(line)["highlights"] == [
        {"purpose": "support", "quote": "nowhere", "text_sha256": ""}
        | dict.fromkeys(["start", "end", "start_utf16", "end_utf16", "start_utf8", "end_utf8"])
    ]


def test_exports_need_the_same_few_queries_for_any_number_of_rows(
    judged: Judgment, django_assert_num_queries: Any
) -> None:
    study = judged.criterion.study
    with django_assert_num_queries(6):
        list(exported_judgments(study, table="jsonl"))
    for number in range(50):
        rater = a_judge_rater(study.collection, f"judge {number}")
        record_judgment(item=judged.item, criterion=judged.criterion, rater=rater, grade=0, at=AT)

    with django_assert_num_queries(6):
        lines = list(exported_judgments(study, table="jsonl"))

    assert len(lines) == 51


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_an_export_read_back_changes_nothing(
    judged: Judgment, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    study = judged.criterion.study
    path = tmp_path / f"table.{kind}"
    path.write_text(run_command(capsys, "export_judgments", "--study", study.name, "--format", kind))
    before = everything()

    told = run_command(capsys, "import_judgments", path, "--study", study.name)

    assert "nothing changed" in told
    assert everything() == before


def test_a_table_brings_an_imported_rater(item: Item, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path, row(item, judged_at="2025-03-01T15:30:00+01:00", seconds=3.5, mood="calm"))

    told = run_command(capsys, "import_judgments", path, "--study", item.study.name)

    judgment = Judgment.objects.get()
    assert (judgment.rater.name, judgment.rater.origin, judgment.rater.source) == ("nist", "imported", "table.csv")
    assert (judgment.grade, judgment.judged_at, judgment.seconds) == (1, AT, 3.5)
    assert "are ignored: mood" in told


@pytest.mark.parametrize("most_items", [0, 100])
def test_a_table_of_several_batches_keeps_what_is_there(
    item: Item, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_items: int
) -> None:
    monkeypatch.setattr(judgment_table, "BATCH", 3)
    monkeypatch.setattr(judgment_table, "MOST_ITEMS", most_items)
    monkeypatch.setattr(judgments, "JUDGMENTS_BATCH", 2)
    rows = [row(item, rater=f"judge {number}") for number in range(11)]
    call_command("import_judgments", str(table(tmp_path, *rows[:5], *rows[:2])), study="bridges-study")
    first = set(Judgment.objects.values_list("pk", flat=True))
    # The third batch holds one that is there and one that is not.
    later = [*rows[5:9], rows[3], *rows[9:], rows[0]]

    call_command("import_judgments", str(table(tmp_path, *later)), study="bridges-study")
    changed = row(item, rater="judge 0", grade=0)
    with pytest.raises(CommandError, match=r"line 12: “judge 0” has already judged .* with 1; here it is 0"):
        call_command("import_judgments", str(table(tmp_path, *rows[1:], changed)), study="bridges-study")

    assert len(first) == 5
    assert first < set(Judgment.objects.values_list("pk", flat=True))
    assert set(Judgment.objects.values_list("rater__name", flat=True)) == {f"judge {number}" for number in range(11)}


def test_a_simulated_rater_stays_simulated(item: Item, tmp_path: Path) -> None:
    path = table(tmp_path, row(item, rater_origin="simulated"))

    call_command("import_judgments", str(path), "--study", item.study.name)

    assert Rater.objects.get(name="nist").simulated


def test_a_reply_without_a_grade_comes_in_as_ungraded(item: Item, tmp_path: Path) -> None:
    path = table(tmp_path, row(item, grade="", ungraded="unreadable", rater_kind="judge"))

    call_command("import_judgments", str(path), "--study", item.study.name)

    judgment = Judgment.objects.get()
    assert (judgment.grade, judgment.ungraded, judgment.rater.kind) == (None, "unreadable", "judge")


def test_highlights_come_in_checked_against_the_text(item: Item, tmp_path: Path) -> None:
    assert item.report is not None
    start = item.report.text.index("🌉")
    path = tmp_path / "table.jsonl"
    path.write_text(json.dumps(row(item, highlights=[{"start": start, "end": start + 1, "quote": "🌉"}])))

    call_command("import_judgments", str(path), "--study", item.study.name)

    highlight = Highlight.objects.get()
    assert (highlight.start, highlight.end, highlight.quote) == (start, start + 1, "🌉")
    assert highlight.text_sha256 == item.report.text_sha256


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"item_id": "nowhere"}, "no item “nowhere”"),
        ({"criterion": "beauty"}, "no criterion “beauty”"),
        ({"criterion": "rating"}, "is not judged under “rating”"),
        ({"grade": 2}, "2 is not a grade"),
        ({"grade": "", "ungraded": "tired"}, "not a reason for being ungraded"),
        ({"topic_id": "t1"}, "belongs to the topic “t0”"),
        ({"guideline_version": 9}, "no guideline version 9"),
        ({"rater": "ada", "grade": 0}, "has already judged"),
        ({"rater": "x" * 201}, "201 characters"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_and_nothing_is_kept(
    judged: Judgment, item: Item, tmp_path: Path, fields: dict[str, Any], reason: str
) -> None:
    blank = dict.fromkeys(["ungraded", "topic_id", "guideline_version"], "")
    path = table(tmp_path, row(item, **blank), row(item, **blank) | fields)
    before = everything()

    message = refused("import_judgments", path, "--study", item.study.name)

    assert "line 3: " in message
    assert reason in message
    assert everything() == before


def test_a_misplaced_highlight_is_refused(item: Item, tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    path.write_text(json.dumps(row(item, highlights=[{"start": 0, "end": 4, "quote": "here"}])))

    assert "line 1: A quote is not" in refused("import_judgments", path, "--study", item.study.name)


def test_a_file_does_not_judge_in_the_name_of_a_person_who_judges_here(
    study: Study, judged: Judgment, tmp_path: Path
) -> None:
    report = Report.objects.get(topic__topic_id="t1")
    element = report.topic.rubric_elements.get(element_id="t1-q0")
    other = an_item(study, "answerability", topic=report.topic, element=element, text=report)
    path = table(tmp_path, row(other, rater="ada"))

    assert "cannot add judgments under that name" in refused("import_judgments", path, "--study", study.name)


FORMULA = "=cmd|' /C calc'!A0"


def test_no_text_of_a_csv_is_a_formula_and_each_comes_back_as_it_was(judged: Judgment, tmp_path: Path) -> None:
    study = judged.criterion.study
    Item.objects.filter(pk=judged.item_id).update(item_id=FORMULA)
    nist = Rater.objects.create(kind="assessor", name="+nist", collection=study.collection)
    Judgment.objects.update(rater=nist)

    text = "".join(exported_judgments(study, table="csv"))
    Judgment.objects.all().delete()
    path = tmp_path / "table.csv"
    path.write_text(text, newline="")
    call_command("import_judgments", str(path), "--study", study.name, verbosity=0)

    [cells] = csv.DictReader(io.StringIO(text))
    assert (cells["item_id"], cells["rater"]) == (f"'{FORMULA}", "'+nist")
    again = Judgment.objects.get()
    assert (again.item.item_id, again.rater) == (FORMULA, nist)
