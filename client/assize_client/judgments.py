"""The long table of judgments as a DataFrame: of Parquet, or of lines of JSON."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterable
from typing import IO, Any

import pandas as pd

NUMBERS = ("grade", "seconds", "guideline_version")
NESTED = ("highlights", "orders", "answer", "revises", "suggestion")


def has_pyarrow() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


def judgments_in(file: IO[bytes]) -> pd.DataFrame:
    """Return the judgments of a Parquet file, with lists and dicts where the JSONL has them."""
    import pyarrow.parquet as pq

    table = pq.read_table(file)
    nested = [name for name in NESTED if name in table.column_names]
    frame: pd.DataFrame = table.drop_columns(nested).to_pandas()
    for name in nested:
        values = table.column(name).to_pylist()
        found = [_answer(value) for value in values] if name == "answer" else values
        frame.insert(table.column_names.index(name), name, pd.Series(found, dtype=object))
    return frame


def judgments_of(lines: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return the judgments of a JSONL."""
    frame = pd.DataFrame(lines)
    if len(frame):
        for name in NUMBERS:
            frame[name] = pd.to_numeric(frame[name])
        frame["judged_at"] = pd.to_datetime(frame["judged_at"], format="ISO8601", utc=True)
    return frame


def _answer(value: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return an answer without what it lacks, as the JSONL has it."""
    if value is None:
        return None
    whole = {**value, "attributes": json.loads(value["attributes"])}
    return {name: part for name, part in whole.items() if part or name == "text"}
