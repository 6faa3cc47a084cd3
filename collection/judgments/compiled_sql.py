"""Queries that are compiled once a process: the few that stand behind every answer of every assessor.

Django builds the SQL of a query anew at each call. That takes 0.2 to 4 ms of processor time, and running it 0.02 ms:
more than half of what saving an answer cost. A compiled query is written with the ORM as any other; its SQL is kept
when it is first asked, and later calls only put other values in. `docs/performance.md` says what that is worth.

A query of such a kind gives its iterator a compiler that knows its SQL already; both are Django's own but for that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import QuerySet, Value
from django.db.models.sql import Query
from django.db.models.sql.compiler import SQLCompiler, cursor_iter
from django.db.models.sql.constants import GET_ITERATOR_CHUNK_SIZE, MULTI
from django.db.transaction import TransactionManagementError

from collection.judgments.prepared import cursor_of

P = ParamSpec("P")
Row = TypeVar("Row")


@dataclass(frozen=True)
class _Slot:
    """Where a value of each call goes in the kept SQL's parameters."""

    name: str


class _KeptCompiler(SQLCompiler):
    """Gives the SQL that it compiled once; what it learnt of the columns on the way makes the rows."""

    sql: str
    slots: tuple[Any, ...]

    def keep(self) -> None:
        self.sql, self.slots = super().as_sql()

    def with_values(self, values: dict[str, Any]) -> _KeptCompiler:
        """Return a compiler for one call, on this thread's connection."""
        ready = _KeptCompiler(self.query, connections[DEFAULT_DB_ALIAS], DEFAULT_DB_ALIAS)
        ready.__dict__ |= self.__dict__ | {"connection": ready.connection}
        ready.slots = tuple(
            _adapted(values[slot.name], ready.connection) if isinstance(slot, _Slot) else slot for slot in self.slots
        )
        return ready

    def execute_sql(self, result_type: Any = MULTI, *args: Any, **kwargs: Any) -> Any:
        if result_type != MULTI:
            return super().execute_sql(result_type, *args, **kwargs)
        cursor = cursor_of(self.connection)
        cursor.execute(*self.as_sql())
        return cursor_iter(cursor, self.connection.features.empty_fetchmany_value, None, GET_ITERATOR_CHUNK_SIZE)

    def as_sql(self, *_: Any, **__: Any) -> tuple[str, tuple[Any, ...]]:
        # Django asks this while it compiles, which is not now.
        if self.query.select_for_update and self.connection.get_autocommit():
            raise TransactionManagementError("A query that locks rows is run inside of a transaction.")
        return self.sql, self.slots


class _KeptQuery(Query):
    """A query whose compiler is there already."""

    kept_compiler: SQLCompiler

    def get_compiler(self, *_: Any, **__: Any) -> SQLCompiler:
        return self.kept_compiler


def compiled(query: Callable[P, QuerySet[Any, Row]]) -> Callable[P, list[Row]]:
    """Make a function that returns a queryset into one that returns its rows, by SQL that is compiled once.

    The function gets keyword arguments and is called once, with placeholders, so it may use them in lookups only.
    They are numbers, texts and times; None and lists would compile to other SQL (TypeError). One that locks rows
    raises TransactionManagementError outside of a transaction, on every database.
    """
    names = list(signature(query).parameters)

    @cache
    def once() -> tuple[QuerySet[Any, Row], _KeptCompiler]:
        queryset = query(**{name: Value(_Slot(name)) for name in names})  # type: ignore[arg-type, call-arg]
        compiler = _KeptCompiler(queryset.query, connections[DEFAULT_DB_ALIAS], DEFAULT_DB_ALIAS)
        compiler.keep()
        queryset.query.__class__ = _KeptQuery  # as Django's own clones get theirs
        return queryset, compiler

    @wraps(query)
    def run(*_: P.args, **values: P.kwargs) -> list[Row]:
        queryset, compiler = once()
        rows = queryset.all()
        rows.query.kept_compiler = compiler.with_values(values)  # type: ignore[attr-defined]
        return list(rows)

    return run


def _adapted(value: Any, connection: Any) -> Any:
    """Return the value as the driver takes it."""
    if value is None or isinstance(value, (list, tuple, set, frozenset)):
        raise TypeError(f"A compiled query takes one value for each of its arguments, not {value!r}.")
    return connection.ops.adapt_unknown_value(value)
