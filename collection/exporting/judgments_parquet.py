"""The long judgments table as a Parquet file: what the JSONL holds, in columns with types.

Only what writes such a file imports this module: PyArrow takes 50 MB of memory.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from collection.formats.judgments_reader import FLAGS
from collection.formats.judgments_writer import COLUMNS, Extras, WrittenJudgment

ROWS_IN_A_GROUP = 10_000

HIGHLIGHT = pa.struct(
    [
        ("purpose", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("quote", pa.string()),
        ("text_sha256", pa.string()),
        ("start_utf16", pa.int64()),
        ("end_utf16", pa.int64()),
        ("start_utf8", pa.int64()),
        ("end_utf8", pa.int64()),
    ]
)
ORDER = pa.struct([("swapped", pa.bool_()), ("grade", pa.float64())])
ANSWER = pa.struct([("text", pa.string()), ("confirmations", pa.list_(pa.string())), ("attributes", pa.string())])
REVISES = pa.struct([("item_id", pa.string()), ("writer", pa.string())])
SUGGESTION = pa.struct(
    [
        ("arm", pa.string()), ("probability", pa.float64()), ("judge", pa.string()), ("grade", pa.float64()),
        ("own_grade", pa.float64()),
    ]
)  # fmt: skip
# Of the usual columns, those that are not strings.
TYPES = {
    "grade": pa.float64(),
    "judged_at": pa.timestamp("us", tz="UTC"),
    "seconds": pa.float64(),
    "guideline_version": pa.int32(),
}


def written_parquet(rows: Iterable[WrittenJudgment], extras: Extras) -> Iterator[bytes]:
    """Yield a Parquet file in pieces, one for each row group and one for its end; a few megabytes are held at most."""
    schema = schema_of(extras)
    file = _Pieces()
    rows = iter(rows)
    with pq.ParquetWriter(file, schema) as writer:
        while group := list(islice(rows, ROWS_IN_A_GROUP)):
            columns = [pa.array([_value(row, column.name) for row in group], column.type) for column in schema]
            writer.write_batch(pa.record_batch(columns, schema=schema), row_group_size=ROWS_IN_A_GROUP)
            yield file.taken()
    yield file.taken()


def schema_of(extras: Extras) -> Any:
    """Return the columns of a table, by the names that the JSONL has; what a row lacks is null."""
    return pa.schema(
        [
            *((name, TYPES.get(name, pa.string())) for name in COLUMNS),
            *([("crowd_id", pa.string())] if extras.crowd_ids else []),
            ("highlights", pa.list_(HIGHLIGHT)),
            *([("orders", pa.list_(ORDER))] if extras.orders else []),
            *([("round", pa.int32()), ("answer", ANSWER), ("revises", REVISES)] if extras.answers else []),
            *([("suggestion", SUGGESTION)] if extras.suggestions else []),
            *((name, pa.bool_()) for name in FLAGS if getattr(extras, name)),
        ]
    )


def _value(row: WrittenJudgment, name: str) -> Any:
    value = getattr(row, name)
    match name:
        case "judged_at":
            return datetime.fromisoformat(value)
        case "highlights":
            return [vars(highlight) for highlight in value]
        case "orders":
            return [vars(order) for order in value] or None
        case "answer":
            return value and {**vars(value), "attributes": json.dumps(value.attributes, ensure_ascii=False)}
        case "revises" | "suggestion":
            return value and vars(value)
    return value


class _Pieces(io.RawIOBase):
    """A file that hands out what was written to it since the last time."""

    def __init__(self) -> None:
        self._written: list[bytes] = []
        self._length = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._written.append(piece)
        self._length += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._length

    def taken(self) -> bytes:
        pieces, self._written = self._written, []
        return b"".join(pieces)
