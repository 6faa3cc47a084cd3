"""The long judgments table as Parquet: the same as the JSONL, with types, in row groups."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from assize_client.judgments import judgments_in, judgments_of
from django.conf import settings
from django.core.management import CommandError, call_command
from django.http import FileResponse
from django.test import Client

from collection.exporting import judgments_parquet
from collection.exporting.judgments import exported_judgments, exported_parquet
from collection.exporting.judgments_parquet import written_parquet
from collection.formats.judgments_reader import AnswerLine, OrderLine, RevisesLine
from collection.formats.judgments_writer import (
    Extras,
    SuggestionLine,
    WrittenHighlight,
    WrittenJudgment,
    written_jsonl,
)
from collection.judgments.services import Span, record_judgment
from collection.models import Judgment, Rater, Report, Study, User
from tests.factories import an_item

ALL = Extras(answers=True, orders=True, crowd_ids=True, suggestions=True, unsure=True)
MARK = WrittenHighlight("support", 3, 9, "Fact 🌉", "ab", 3, 10, 3, 12)


def a_row(number: int, **changes: Any) -> WrittenJudgment:
    fields: dict[str, Any] = {
        "topic_id": "t0", "item_id": f"i{number}", "criterion": "rating", "rater": "Adá", "rater_kind": "assessor",
        "rater_origin": "here", "grade": 2.5, "ungraded": "", "judged_at": "2025-03-01T14:30:00.000125+00:00",
        "seconds": 12.5, "guideline_version": 1, "task_type": "rating", "run": "", "passage_id": "p1",
        "element_id": "q1", "other_run": "",
    }  # fmt: skip
    return WrittenJudgment(**{**fields, **changes})


ROWS = [
    a_row(0, highlights=(MARK,), crowd_id="W1", unsure=True),
    a_row(1, grade=None, ungraded="refused", seconds=None, guideline_version=None),
    a_row(2, grade=-1.0, orders=(OrderLine(swapped=False, grade=-1.0), OrderLine(swapped=True, grade=None))),
    a_row(3, round=2, answer=AnswerLine("Ja.", ("concise",), {"a": [1]}), revises=RevisesLine("i0", "Ben")),
    a_row(4, round=1, answer=AnswerLine("")),
    a_row(5, suggestion=SuggestionLine("shown", 0.5, "llm", 3.0, None)),
]


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    """Assert that two tables hold the same, whichever way a value that is not there is written."""
    assert sorted(one.columns) == sorted(other.columns)
    for name in one.columns:
        left, right = (
            [None if not isinstance(value, list | dict) and pd.isna(value) else value for value in frame[name]]
            for frame in (one, other)
        )
        assert left == right, name


def frames(rows: list[WrittenJudgment], extras: Extras) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what the client makes of the Parquet file and of the JSONL."""
    lines = map(json.loads, written_jsonl(rows, extras))
    return judgments_in(io.BytesIO(b"".join(written_parquet(rows, extras)))), judgments_of(lines)


def test_the_table_is_that_of_the_jsonl_whatever_it_holds() -> None:
    parquet, jsonl = frames(ROWS, ALL)

    parquet["orders"] = [value or None for value in parquet["orders"]]
    same(parquet, jsonl)
    assert parquet.loc[0, "judged_at"] == pd.Timestamp("2025-03-01T14:30:00.000125Z")


def test_columns_have_types() -> None:
    schema = pq.read_schema(io.BytesIO(b"".join(written_parquet(ROWS, ALL))))

    kinds = {name: str(schema.field(name).type) for name in ("grade", "seconds", "judged_at", "rater", "unsure")}
    assert kinds == {
        "grade": "double", "seconds": "double", "judged_at": "timestamp[us, tz=UTC]", "rater": "string",
        "unsure": "bool",
    }  # fmt: skip
    assert str(schema.field("guideline_version").type) == str(schema.field("round").type) == "int32"


def test_rows_come_group_by_group_and_none_is_read_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judgments_parquet, "ROWS_IN_A_GROUP", 10)
    asked: list[int] = []
    rows = (asked.append(number) or a_row(number) for number in range(35))  # type: ignore[func-returns-value]

    pieces = written_parquet(rows, Extras())
    first = next(pieces)
    read_by_then = len(asked)
    file = pq.ParquetFile(io.BytesIO(first + b"".join(pieces)))

    assert read_by_then == 10
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [10, 10, 10, 5]


def test_a_study_without_judgments_has_a_table_without_rows() -> None:
    parquet = judgments_in(io.BytesIO(b"".join(written_parquet([], Extras()))))

    assert len(parquet) == 0
    assert list(parquet.columns)[:3] == ["topic_id", "item_id", "criterion"]


# --- Of a study -----------------------------------------------------------------------------------


@pytest.fixture
def judged(study: Study, ada_as_rater: Rater) -> Judgment:
    report = Report.objects.filter(topic__topic_id="t0").get()
    element = report.topic.rubric_elements.get(element_id="t0-q1")
    start = report.text.index("Fact 1")
    return record_judgment(
        item=an_item(study, "answerability", topic=report.topic, element=element, text=report),
        criterion=study.criteria.get(name="answerability"), rater=ada_as_rater, grade=1,
        spans=[Span(start, start + 6, "Fact 1")], seconds=12.5, guideline=study.guidelines.get(),
        at=datetime(2025, 3, 1, 14, 30, tzinfo=UTC),
    )  # fmt: skip


@pytest.mark.django_db
def test_api_page_and_export_give_the_same_file(client: Client, rosa: User, judged: Judgment) -> None:
    study = judged.criterion.study
    client.force_login(rosa)
    api = f"/api/v1/studies/{study.name}/judgments/"

    streamed = client.get(api, {"format": "parquet"})
    accepted = client.get(api, headers={"accept": "application/vnd.apache.parquet"})
    page = client.get(f"/collections/{study.collection.name}/studies/{study.name}/judgments.parquet")
    none = client.get(api, {"format": "parquet", "rater": "nobody"})

    whole = b"".join(exported_parquet(study))
    for response in (streamed, accepted, page):
        assert isinstance(response, FileResponse)
        assert response["Content-Type"] == "application/vnd.apache.parquet"
        assert response.getvalue() == whole
    assert page["Content-Disposition"] == f'attachment; filename="{study.name}-judgments.parquet"'
    assert isinstance(none, FileResponse)
    assert len(judgments_in(io.BytesIO(none.getvalue()))) == 0
    lines = map(json.loads, exported_judgments(study, table="jsonl"))
    same(judgments_in(io.BytesIO(whole)), judgments_of(lines))


@pytest.mark.django_db
def test_a_stranger_gets_no_parquet_but_a_reason_in_json(client: Client, mallory: User, study: Study) -> None:
    client.force_login(mallory)

    response = client.get(f"/api/v1/studies/{study.name}/judgments/", {"format": "parquet"})

    assert (response.status_code, response["Content-Type"]) == (404, "application/json")
    assert response.json()["detail"]


@pytest.mark.django_db
def test_the_command_writes_a_file_and_refuses_a_terminal(
    judged: Judgment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "judgments.parquet"
    asked = {"study": judged.criterion.study.name, "form": "parquet"}

    with path.open("w") as file:
        call_command("export_judgments", stdout=file, **asked)

    with path.open("rb") as written:
        assert judgments_in(written)["rater"].tolist() == [judged.rater.name]
    with pytest.raises(CommandError, match="Parquet is not text"):
        call_command("export_judgments", stdout=io.StringIO(), **asked)


def test_who_writes_no_parquet_does_not_pay_for_it() -> None:
    statement = (
        "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'\n"
        "import django; django.setup(); import collection.urls, collection.api, sys\n"
        "print('pyarrow' in sys.modules)"
    )

    said = subprocess.run(
        [sys.executable, "-c", statement], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )

    assert said.stdout.strip() == "False"
