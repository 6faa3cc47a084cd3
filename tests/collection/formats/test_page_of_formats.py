"""What docs/formats.md lists is what is read and written."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from django.conf import settings

from collection.exporting.exchanged import EXPORTS
from collection.exporting.labels import FORMS as LABELS
from collection.formats.cited_reports.tracks import TRACKS
from collection.formats.jsonl import AGGREGATORS, IMPORTANCES, KINDS, LINES
from collection.formats.judgments_reader import FLAGS, REQUIRED
from collection.formats.judgments_writer import ANSWER_COLUMNS, COLUMNS, SUGGESTION_COLUMNS
from collection.formats.nugget_banks.nuggets import FORMS as BANKS
from collection.formats.scores.tools import LABELS as SCORES
from collection.formats.scores.tools import READ
from collection.formats.topics import ID_FIELDS, REQUEST_FIELDS
from collection.models import Judgment

PAGE = (Path(settings.BASE_DIR) / "docs" / "formats.md").read_text()
# Read, and nothing is made of it.
SILENT = {"written_by"}
# Columns that are not fields of every row.
TABLE_ALONE = {"orders", "highlights", "inclusion_probability"}


def rows_under(heading: str) -> list[list[str]]:
    """The cells of the tables under a heading, row by row."""
    [section] = re.findall(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [line.strip("| ").split(" | ") for line in lines if not line.startswith("| ---")]


def named(cells: Iterable[str]) -> set[str]:
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


@pytest.mark.parametrize("name", LINES)
def test_each_field_of_a_line_is_listed_and_the_required_ones_are_bold(name: str) -> None:
    [fields] = [row[1] for row in rows_under("Assize JSONL") if row[0] == f"`{name}`"]
    shown = re.sub(r"\([^()]*\)", "", fields)

    read = {part.name: part for part in dataclasses.fields(LINES[name])}

    assert set(re.findall(r"\w+", shown)) == read.keys() - SILENT
    missing = dataclasses.MISSING
    required = {one for one, part in read.items() if part.default is part.default_factory is missing}
    assert set(re.findall(r"\*\*(\w+)\*\*", shown)) == required


def test_each_column_of_the_judgments_table_is_listed() -> None:
    rows = rows_under("The judgments table")

    listed = named(row[0] for row in rows)

    assert listed == {*COLUMNS, *FLAGS, *ANSWER_COLUMNS, *SUGGESTION_COLUMNS, *TABLE_ALONE}
    assert named(row[0] for row in rows if "**required**" in row[1]) == set(REQUIRED)
    [reasons] = [row[2] for row in rows if row[0] == "`ungraded`"]
    assert named([reasons]) == set(Judgment.Ungraded.values)


@pytest.mark.parametrize(
    ("heading", "forms"),
    [
        ("Requests, segments and candidate pools", EXPORTS),
        ("Nugget banks and rubrics", BANKS),
        ("Scores of tools for LLM applications", SCORES),
        ("Scores of tools for LLM applications", READ),
    ],
)
def test_each_form_is_listed(heading: str, forms: Iterable[str]) -> None:
    assert {name for row in rows_under(heading)[1:] for name in named([row[0]])} == set(forms)


def test_names_of_fields_and_choices_are_listed() -> None:
    [topics] = re.findall(r"^## Topics\n\n(.*?)\), optionally", PAGE, re.MULTILINE | re.DOTALL)
    tracks, *_ = rows_under("What tracks ask of reports")
    [elements] = [row[1] for row in rows_under("Assize JSONL") if row[0] == "`rubric_element`"]

    assert named([topics]) == {*ID_FIELDS, *REQUEST_FIELDS}
    assert named([elements]) == {*KINDS, *IMPORTANCES, *AGGREGATORS}
    assert named(tracks) == set(TRACKS)
    assert all(f"`{name}`" in PAGE or f"--as {name}" in PAGE or f"|{name}" in PAGE for name in LABELS)
