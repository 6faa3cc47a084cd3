"""Statements that PostgreSQL plans once a connection: those behind every answer of every assessor.

Planning them takes the server longer than running them, and so does writing their values into the text here. Both are
saved where a statement is always the same but for its values, as those of `compiled_sql` and `inserting` are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import count
from typing import Any

PLACE = re.compile(r"(?<!%)%s")
# libpq's numbers: of a connection without a transaction, of one that stands, and of results that are no errors.
IDLE = 0
CONNECTED = 0
WENT_WELL = frozenset({1, 2})


def executed(
    connection: Any, sql: str, values: list[Any], *, returns: bool = True
) -> tuple[list[tuple[Any, ...]], int]:
    """Run the statement. Returns its rows, as the driver gives them, and how many it changed.

    One that changes rows without RETURNING any is told by `returns=False`.

    Whoever logs queries, or wraps them, gets them from a cursor of Django's: they want to read them with their values,
    which stand in no prepared one. The others do without that cursor, which takes longer than the driver itself.
    """
    if connection.queries_logged or connection.execute_wrappers:
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            return _rows_of(cursor, returns=returns)
    if connection.connection is None or (connection.health_check_enabled and not connection.health_check_done):
        connection.close_if_health_check_failed()
        connection.ensure_connection()
    if connection.needs_rollback:
        connection.validate_no_broken_transaction()
    with connection.wrap_database_errors:
        driver: Any = connection.connection
        if connection.vendor == "sqlite":
            return _rows_of(driver.execute(_as_sqlite_takes_it(sql), values), returns=returns)
        is_prepared = bool(connection.settings_dict["OPTIONS"].get("prepare_threshold"))
        if is_prepared and (driver.autocommit or driver.pgconn.transaction_status != IDLE):
            return _statements_of(driver).run(sql, values)
        # Also the first of a transaction: the driver begins it.
        cursor = _cursor_of(driver)
        cursor.execute(sql, values, prepare=is_prepared)
        return _rows_of(cursor, returns=returns)


def _rows_of(cursor: Any, *, returns: bool) -> tuple[list[tuple[Any, ...]], int]:
    return cursor.fetchall() if returns else [], cursor.rowcount


def _cursor_of(driver: Any) -> Any:
    """The connection's one cursor for these statements, which binds their values in the server."""
    try:
        return driver.cursor_of_statements
    except AttributeError:
        from psycopg import Cursor

        driver.cursor_of_statements = Cursor(driver)
        return driver.cursor_of_statements


class _Statements:
    """The statements that a connection has prepared, run by libpq itself, which waits for the server at one go.

    The driver's cursor takes three times the processor's time, and asks for the interpreter four times while other
    threads want it too.
    """

    def __init__(self, driver: Any) -> None:
        from psycopg.adapt import PyFormat, Transformer

        self.pgconn = driver.pgconn
        self.transformer = Transformer.from_context(driver)
        self.automatic = PyFormat.AUTO
        self.names: dict[tuple[str, tuple[int, ...]], bytes] = {}

    def run(self, sql: str, values: list[Any]) -> tuple[list[tuple[Any, ...]], int]:
        """Run the statement, prepared once for each kinds of values. Returns its rows, and how many it changed."""
        transformer = self.transformer
        sent = transformer.dump_sequence(values, [self.automatic] * len(values))
        types = tuple(transformer.types or ())
        name = self.names.get((sql, types)) or self._prepared(sql, types)
        result = self._done(self.pgconn.exec_prepared(name, sent, transformer.formats))
        transformer.set_pgresult(result)
        return transformer.load_rows(0, result.ntuples, tuple), result.command_tuples or 0

    def _prepared(self, sql: str, types: tuple[int, ...]) -> bytes:
        name = b"assize_%d" % len(self.names)
        self._done(self.pgconn.prepare(name, _as_postgresql_takes_it(sql), types))
        self.names[sql, types] = name
        return name

    def _done(self, result: Any) -> Any:
        from psycopg import OperationalError
        from psycopg.errors import error_from_result

        if result.status in WENT_WELL:
            return result
        if self.pgconn.status != CONNECTED:
            raise OperationalError(result.get_error_message())
        raise error_from_result(result)


def _statements_of(driver: Any) -> _Statements:
    try:
        return driver.statements  # type: ignore[no-any-return]
    except AttributeError:
        driver.statements = _Statements(driver)
        return driver.statements  # type: ignore[no-any-return]


@lru_cache(maxsize=500)
def _as_postgresql_takes_it(sql: str) -> bytes:
    numbers = count(1)
    return PLACE.sub(lambda _: f"${next(numbers)}", sql).replace("%%", "%").encode()


@lru_cache(maxsize=500)
def _as_sqlite_takes_it(sql: str) -> str:
    return PLACE.sub("?", sql).replace("%%", "%")
