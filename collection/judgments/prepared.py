"""Statements that PostgreSQL plans once a connection: those behind every answer of every assessor.

Planning them takes the server longer than running them, and so does writing their values into the text here. Both are
saved where a statement is always the same but for its values, as those of `compiled_sql` and `inserting` are.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper


def cursor_of(connection: BaseDatabaseWrapper) -> Any:
    """Return a cursor that prepares what it executes; Django's own on SQLite, and where that is switched off.

    Whoever logs queries wants to read them with their values, which stand in no prepared one.
    """
    is_off = not connection.settings_dict["OPTIONS"].get("prepare_threshold") or connection.queries_logged
    if connection.vendor != "postgresql" or is_off:
        return connection.cursor()
    connection.ensure_connection()
    with connection.wrap_database_errors:
        return connection._prepare_cursor(_prepared_cursor()(connection.connection))  # type: ignore[attr-defined]


@cache
def _prepared_cursor() -> Any:
    from django.db.backends.postgresql.base import ServerBindingCursor

    class PreparedCursor(ServerBindingCursor):
        def execute(self, query: Any, params: Any = None) -> Any:
            return super().execute(query, params, prepare=True)  # type: ignore[misc]

    return PreparedCursor
