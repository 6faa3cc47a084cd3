"""A small reader of the CRUX labelling data for tests, where the folder is at hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

CRUX = Path(settings.BASE_DIR).parent / "shared" / "data" / "crux"

needs_crux = pytest.mark.skipif(not CRUX.is_dir(), reason=f"the CRUX labels are not at {CRUX}")

MASKED, UNJUDGED = -2, -1


def records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file)


def write_people(folder: Path) -> Path:
    """Write the three annotators' answerability as a long table; the topic is the report."""
    path = folder / "people.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for annotator in (1, 2, 3):
            for record in records(CRUX / f"annotator{annotator}" / "qlabels.jsonl"):
                for number, grade in enumerate(record["answerability"]):
                    if grade not in (MASKED, UNJUDGED):
                        row = {"item": f"{record['id']}/{number}", "topic": record["id"]}
                        file.write(json.dumps({**row, "rater": f"annotator{annotator}", "grade": grade}) + "\n")
    return path


def write_ratings(folder: Path) -> Path:
    """Write the annotators' 0–5 ratings of passages as a long table."""
    path = folder / "ratings.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write("item,rater,grade\n")
        for annotator in (1, 2, 3):
            for record in records(CRUX / f"annotator{annotator}" / "qrels.jsonl"):
                for number, grade in record["relevances"].items():
                    if grade >= 0:
                        file.write(f"{record['id']}/{record['document']}/{number},annotator{annotator},{grade}\n")
    return path


def write_model(folder: Path) -> Path:
    """Write the model's 0–5 grades of eleven reports as a long table."""
    path = folder / "model.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for record in records(CRUX / "llm_t1_grades_llama3.1-70b_11_reports.jsonl"):
            for number, grade in enumerate(record["rating"]):
                row = {"item": f"{record['id']}/{number}", "topic": record["id"], "rater": "llama", "grade": grade}
                file.write(json.dumps(row) + "\n")
    return path
