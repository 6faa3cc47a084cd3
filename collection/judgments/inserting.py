"""Rows past the models' `save` and `bulk_create`, for what is written with every answer.

Django compiles each INSERT and UPDATE anew; here the SQL is put together from the columns' names. No signals are sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

from collection.judgments.prepared import executed

FEW = 5
# What the driver takes as it is, by the kind of field; what else a field holds, it prepares itself.
PLAIN: dict[type[models.Field[Any, Any]], type] = {
    models.BigAutoField: int,
    models.BooleanField: bool,
    models.CharField: str,
    models.FloatField: float,
    models.PositiveIntegerField: int,
    models.PositiveSmallIntegerField: int,
    models.TextField: str,
}


def insert_unless_there(row: models.Model, *, unique: tuple[str, ...]) -> bool:
    """Insert the row unless there is one with the same values in the `unique` fields. Returns whether it was inserted.

    One statement, and no race: whoever comes second waits for the first and is told. `get_or_create` takes four
    (SELECT, SAVEPOINT, INSERT, RELEASE).
    """
    own = connections[DEFAULT_DB_ALIAS]
    inserted, _ = executed(own, _insert_unless(type(row), unique), _values(row, own))
    if not inserted:
        return False
    ((row.pk,),) = inserted
    row._state.adding = False
    row._state.db = own.alias
    return True


def insert_together(rows: Sequence[models.Model]) -> None:
    """Insert a few rows of one model by one statement. Their keys stay unknown; for many rows there is `bulk`."""
    if rows:
        own = connections[DEFAULT_DB_ALIAS]
        insert, values = _insert_into(type(rows[0]), len(rows)), [value for row in rows for value in _values(row, own)]
        if len(rows) < FEW:  # these come again and again
            executed(own, insert, values, returns=False)
            return
        with own.cursor() as cursor:
            cursor.execute(insert, values)


def update_row(model: type[models.Model], pk: int, values: Mapping[str, Any], **among: Sequence[Any]) -> bool:
    """Set these fields of a row, if the fields in `among` hold one of their values. Returns whether it was set."""
    own = connections[DEFAULT_DB_ALIAS]
    update = _update(model, tuple(values), tuple((name, len(held)) for name, held in among.items()))
    new = [_value(model._meta.get_field(name), value, own) for name, value in values.items()]
    wanted = [pk, *(value for held in among.values() for value in held)]
    _, n_set = executed(own, update, [*new, *wanted], returns=False)
    return bool(n_set)


# --- The statements -------------------------------------------------------------------------------


@cache
def _insert_unless(model: type[models.Model], unique: tuple[str, ...]) -> str:
    quoted = connection.ops.quote_name
    meta: Any = model._meta
    known_by = ", ".join(quoted(meta.get_field(name).column) for name in unique)
    return f"{_insert_into(model, 1)} ON CONFLICT ({known_by}) DO NOTHING RETURNING {quoted(meta.pk.column)}"


@cache
def _update(model: type[models.Model], names: tuple[str, ...], among: tuple[tuple[str, int], ...]) -> str:
    quoted = connection.ops.quote_name
    meta: Any = model._meta
    to_set = ", ".join(f"{quoted(meta.get_field(name).column)} = %s" for name in names)
    conditions = "".join(
        f" AND {quoted(meta.get_field(name).column)} IN ({', '.join(['%s'] * n)})" for name, n in among
    )
    return f"UPDATE {quoted(meta.db_table)} SET {to_set} WHERE {quoted(meta.pk.column)} = %s{conditions}"  # noqa: S608  # our names


@cache
def _columns(model: type[models.Model]) -> list[Any]:
    return [field for field in model._meta.local_concrete_fields if not field.primary_key]


@lru_cache(maxsize=500)
def _insert_into(model: type[models.Model], n: int) -> str:
    quoted = connection.ops.quote_name
    columns = _columns(model)
    places = f"({', '.join(['%s'] * len(columns))})"
    names = ", ".join(quoted(field.column) for field in columns)
    return f"INSERT INTO {quoted(model._meta.db_table)} ({names}) VALUES {', '.join([places] * n)}"  # noqa: S608  # our names


def _values(row: models.Model, own: BaseDatabaseWrapper) -> list[Any]:
    return [_value(field, field.pre_save(row, True), own) for field in _columns(type(row))]  # noqa: FBT003


def _value(field: Any, value: Any, own: BaseDatabaseWrapper) -> Any:
    """Return the value as the driver takes it."""
    if value is None and not isinstance(field, models.JSONField):
        return None
    target = field.target_field if field.remote_field else field
    if type(value) is PLAIN.get(type(target)):
        return value
    return field.get_db_prep_save(value, own)
