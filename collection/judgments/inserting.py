"""Rows past the models' `save` and `bulk_create`, for what is written with every answer.

Django compiles each INSERT and UPDATE anew; here the SQL is put together from the columns' names. No signals are sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, models

from collection.judgments.prepared import cursor_of

FEW = 5


def insert_unless_there(row: models.Model, *, unique: Sequence[str]) -> bool:
    """Insert the row unless there is one with the same values in the `unique` fields. Returns whether it was inserted.

    One statement, and no race: whoever comes second waits for the first and is told. `get_or_create` takes four
    (SELECT, SAVEPOINT, INSERT, RELEASE).
    """
    quoted = connection.ops.quote_name
    meta: Any = row._meta
    known_by = ", ".join(quoted(meta.get_field(name).column) for name in unique)
    with cursor_of(connection) as cursor:
        cursor.execute(
            f"{_insert_into(type(row), 1)} ON CONFLICT ({known_by}) DO NOTHING RETURNING {quoted(meta.pk.column)}",
            _values(row),
        )
        inserted = cursor.fetchone()
    if inserted is None:
        return False
    row.pk = inserted[0]
    row._state.adding = False
    row._state.db = connection.alias
    return True


def insert_together(rows: Sequence[models.Model]) -> None:
    """Insert a few rows of one model by one statement. Their keys stay unknown; for many rows there is `bulk`."""
    if rows:
        # Statements of few rows come again and again.
        with cursor_of(connection) if len(rows) < FEW else connection.cursor() as cursor:
            cursor.execute(_insert_into(type(rows[0]), len(rows)), [value for row in rows for value in _values(row)])


def update_row(model: type[models.Model], pk: int, values: Mapping[str, Any], **among: Sequence[Any]) -> bool:
    """Set these fields of a row, if the fields in `among` hold one of their values. Returns whether it was set."""
    quoted = connection.ops.quote_name
    meta: Any = model._meta
    to_set = ", ".join(f"{quoted(meta.get_field(name).column)} = %s" for name in values)
    conditions = "".join(
        f" AND {quoted(meta.get_field(name).column)} IN ({', '.join(['%s'] * len(held))})"
        for name, held in among.items()
    )
    new = [meta.get_field(name).get_db_prep_save(value, connection) for name, value in values.items()]
    with cursor_of(connection) as cursor:
        cursor.execute(
            f"UPDATE {quoted(meta.db_table)} SET {to_set} WHERE {quoted(meta.pk.column)} = %s{conditions}",  # noqa: S608  # our names
            [*new, pk, *(value for held in among.values() for value in held)],
        )
        return bool(cursor.rowcount)


def _columns(model: type[models.Model]) -> list[Any]:
    return [field for field in model._meta.local_concrete_fields if not field.primary_key]


def _insert_into(model: type[models.Model], n: int) -> str:
    quoted = connection.ops.quote_name
    columns = _columns(model)
    places = f"({', '.join(['%s'] * len(columns))})"
    names = ", ".join(quoted(field.column) for field in columns)
    return f"INSERT INTO {quoted(model._meta.db_table)} ({names}) VALUES {', '.join([places] * n)}"  # noqa: S608  # our names


def _values(row: models.Model) -> list[Any]:
    return [field.get_db_prep_save(field.pre_save(row, True), connection) for field in _columns(type(row))]  # noqa: FBT003
