"""Queries that are compiled once a process: the few that stand behind every answer of every assessor.

Django builds the SQL of a query anew at each call, and works out anew what its columns become. That takes 0.2 to 4 ms
of processor time, and running it 0.02 ms: more than half of what saving an answer cost. A compiled query is written
with the ORM as any other; its SQL, and how its rows are read, are kept when it is first asked, and later calls only put
other values in. `docs/performance.md` says what that is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model, QuerySet, Value
from django.db.models.base import ModelState
from django.db.models.query import FlatValuesListIterable, ModelIterable, ValuesIterable, get_related_populators
from django.db.models.sql.compiler import SQLCompiler
from django.db.transaction import TransactionManagementError

from collection.judgments.prepared import executed

P = ParamSpec("P")
Row = TypeVar("Row")
Reader = Callable[[Sequence[Any]], Any]
AS_THEY_ARE = (int, str, float, bool)


@dataclass(frozen=True)
class _Slot:
    """Where a value of each call goes in the kept SQL's parameters."""

    name: str


def compiled(query: Callable[P, QuerySet[Any, Row]]) -> Callable[P, list[Row]]:
    """Make a function that returns a queryset into one that returns its rows, by SQL that is compiled once.

    The function gets keyword arguments and is called once, with placeholders, so it may use them in lookups only.
    They are numbers, texts and times; None and lists would compile to other SQL (TypeError). One that locks rows
    raises TransactionManagementError outside of a transaction, on every database.
    """
    names = list(signature(query).parameters)

    @cache
    def once() -> _Kept:
        return _Kept(query(**{name: Value(_Slot(name)) for name in names}))  # type: ignore[arg-type, call-arg]

    @wraps(query)
    def run(*_: P.args, **values: P.kwargs) -> list[Row]:
        return once().rows(values)

    return run


class _Kept:
    """What is known of a query once it is compiled: its SQL, where values go, and what becomes of a row."""

    def __init__(self, queryset: QuerySet[Any, Any]) -> None:
        compiler = queryset.query.get_compiler(DEFAULT_DB_ALIAS)
        self.locks = queryset.query.select_for_update
        self.sql, self.slots = compiler.as_sql()
        columns = [column for column, *_ in compiler.select[: compiler.col_count]]
        self.converters = list(compiler.get_converters(columns).items())
        self.read = _reader(queryset, compiler)

    def rows(self, values: dict[str, Any]) -> list[Any]:
        connection = connections[DEFAULT_DB_ALIAS]
        if self.locks and connection.get_autocommit():
            raise TransactionManagementError("A query that locks rows is run inside of a transaction.")
        ready = [_adapted(values[slot.name], connection) if type(slot) is _Slot else slot for slot in self.slots]
        found: list[Sequence[Any]] = _found(connection, self.sql, ready)
        if self.converters:
            found = [self._converted(row, connection) for row in found]
        return [self.read(row) for row in found]

    def _converted(self, row: Sequence[Any], connection: BaseDatabaseWrapper) -> Sequence[Any]:
        """Return the row with the values that Django makes of what the driver gives."""
        values = list(row)
        for place, (converters, expression) in self.converters:
            for convert in converters:
                values[place] = convert(values[place], expression, connection)
        return values


def _found(connection: Any, sql: str, values: list[Any]) -> list[Any]:
    """Run a query. The first of a request tells whether its connection still stands, and opens another if not.

    Django asks the server for nothing else first, at every request (`CONN_HEALTH_CHECKS`).
    """
    is_first = connection.health_check_enabled and not connection.health_check_done and not connection.in_atomic_block
    if not is_first or connection.connection is None:
        return executed(connection, sql, values)[0]
    connection.health_check_done = True
    try:
        return executed(connection, sql, values)[0]
    except OperationalError:
        if connection.is_usable():
            raise
        connection.close()
        return executed(connection, sql, values)[0]


def _adapted(value: Any, connection: BaseDatabaseWrapper) -> Any:
    """Return the value as the driver takes it."""
    if type(value) in AS_THEY_ARE:
        return value
    if value is None or isinstance(value, (list, tuple, set, frozenset)):
        raise TypeError(f"A compiled query takes one value for each of its arguments, not {value!r}.")
    return connection.ops.adapt_unknown_value(value)


# --- What becomes of a row ----------------------------------------------------------------------


def _reader(queryset: QuerySet[Any, Any], compiler: SQLCompiler) -> Reader:
    kind: Any = queryset._iterable_class
    if kind is ModelIterable:
        return _reader_of_models(compiler)
    if kind is ValuesIterable:
        names = compiler.query.selected or [*compiler.query.values_select, *compiler.query.annotation_select]
        return lambda row: dict(zip(names, row, strict=True))
    return (lambda row: row[0]) if kind is FlatValuesListIterable else tuple


def _reader_of_models(compiler: SQLCompiler) -> Reader:
    """Return what makes a model of a row, with what belongs to it (`select_related`) and what is annotated."""
    found: Any = compiler.klass_info
    start, end = found["select_fields"][0], found["select_fields"][-1] + 1
    names = [column.target.attname for column, *_ in compiler.select[start:end]]
    maker = _Maker(found["model"])
    related = get_related_populators(found, compiler.select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]  # new in Django 6
    _make_soon(related)
    annotations = list((compiler.annotation_col_map or {}).items())

    def read(row: Sequence[Any]) -> Model:
        made = maker.from_db(DEFAULT_DB_ALIAS, names, row[start:end])
        for one in related:
            one.populate(row, made)
        for name, place in annotations:
            setattr(made, name, row[place])
        return made

    return read


class _Maker:
    """Makes models of rows as Django's `from_db` does, but sends no signals and asks no field for its default."""

    def __init__(self, model: type[Model]) -> None:
        self.model = model

    def from_db(self, alias: str, names: Sequence[str], values: Sequence[Any]) -> Model:
        made = self.model.__new__(self.model)
        made._state = ModelState()
        made._state.adding, made._state.db = False, alias
        made.__dict__.update(zip(names, values, strict=True))
        return made


def _make_soon(populators: Sequence[Any]) -> None:
    """Let Django's populators, too, make models this way."""
    for populator in populators:
        populator.model_cls = _Maker(populator.model_cls)
        _make_soon(populator.related_populators)
