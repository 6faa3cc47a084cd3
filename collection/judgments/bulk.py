"""Many rows at once, past the models: the one place that knows how each database takes them fastest.

Constraints, foreign keys and defaults are the database's own, so what must not be is refused here too.
What models do in Python (checks, signals, defaults) does not happen: callers give every column.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from django.db import IntegrityError, connection, models, transaction

# Rows after which a table's statistics are no longer true.
MUCH = 50_000
# How many rows came into each table since the last transaction that was stored.
_grown: Counter[str] = Counter()
Converter = Callable[[Any], Any]
Row = Sequence[Any]


class AskedWhileInserting(RuntimeError):
    """Rows on their way in asked the database, which PostgreSQL cannot answer then."""


def insert_rows(model: type[models.Model], fields: Sequence[str], rows: Iterable[Row]) -> None:
    """Insert rows whose values stand in the order of `fields`, in the caller's transaction.

    PostgreSQL takes them by COPY, others by one prepared statement. Raises IntegrityError for a row
    that breaks a constraint; nothing of the transaction holds then. Texts must be without NUL. Raises
    AskedWhileInserting where `rows` ask the database while they are taken: PostgreSQL's connection would wait for
    itself for ever.
    """
    columns: list[Any] = [model._meta.get_field(name) for name in fields]
    converters = [(place, converter) for place, field in enumerate(columns) if (converter := _converter(field))]
    names = ", ".join(connection.ops.quote_name(field.column) for field in columns)
    table = connection.ops.quote_name(model._meta.db_table)
    # An iterator: SQLite takes one row after the other, and so does COPY.
    ready: Any = _converted(rows, converters)

    def refuse(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if params is ready:
            return execute(sql, params, many, context)
        raise AskedWhileInserting(f"Read this before the rows of {model.__name__} are inserted: {sql}")

    with connection.execute_wrapper(refuse), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # The wrapped cursor is psycopg's: Django's wrapper has no COPY, and does not see its errors.
            with connection.wrap_database_errors, cursor.cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                count = 0
                for row in ready:
                    copy.write_row(row)
                    count += 1
            _grown[table] += count
            transaction.on_commit(_refresh_statistics)
        else:
            values = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({values})", ready)  # noqa: S608  # our names


def _refresh_statistics() -> None:
    """Let PostgreSQL look at tables that grew by much: until it does so itself, it plans as if they were small."""
    large = [table for table, count in _grown.items() if count >= MUCH]
    _grown.clear()
    with connection.cursor() as cursor:
        for table in large:
            cursor.execute(f"ANALYZE {table}")


def inserted_unless_known(model: type[models.Model], fields: Sequence[str], rows: Iterable[Row]) -> bool:
    """Insert rows as `insert_rows` does. Returns False, and has then inserted none, where one breaks a constraint.

    Whoever expects all of them to be new saves the question which are there already.
    """
    try:
        with transaction.atomic():
            insert_rows(model, fields, rows)
    except IntegrityError:
        return False
    return True


def storable(text: str) -> str:
    """Return the text without what a database cannot hold: NUL and lone surrogates."""
    if text.isascii() and "\x00" not in text:
        return text
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def _converter(field: Any) -> Converter | None:
    """Return what makes a column's value one that the driver takes; None where it takes it as it is."""
    if isinstance(field, models.DateTimeField) and connection.vendor != "postgresql":
        return lru_cache(maxsize=8)(connection.ops.adapt_datetimefield_value)
    if isinstance(field, models.JSONField):
        return _json
    return None


def _json(value: Any) -> str | None:
    if value == {}:
        return "{}"
    return None if value is None else json.dumps(value, ensure_ascii=False, allow_nan=False)


def _converted(rows: Iterable[Row], converters: Sequence[tuple[int, Converter]]) -> Iterator[Any]:
    for row in rows:
        if not converters:
            yield row
            continue
        ready = list(row)
        for place, converter in converters:
            ready[place] = converter(ready[place])
        yield ready
