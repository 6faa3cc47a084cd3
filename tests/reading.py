"""In every test, requests by GET and HEAD only read: what one of them writes or locks fails there.

On SQLite a transaction that a page begins takes the one write lock of the site, and whoever labels waits for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from django.db import connection
from django.http import HttpRequest, HttpResponseBase

READS = re.compile(r"[\s(]*(SELECT|WITH|EXPLAIN|PRAGMA|DECLARE|FETCH|CLOSE|SET)\b", re.IGNORECASE)
LOCKS = re.compile(r"\bFOR (NO KEY )?UPDATE\b")
# What a request that reads may write all the same: one row, whatever the number of requests, and why.
MAY_WRITE = {
    # When a token was last used, every ten minutes at most: most of the API's clients only ever read.
    'UPDATE "collection_apitoken" SET "last_used_at" = ',
    # Whose password was changed, or whose account was closed, is signed out with their next request.
    'DELETE FROM "django_session" ',
    # Where a worker is gone, whoever waits for it asks another.
    'UPDATE "collection_upload" SET "generation" = ',
    'UPDATE "judging_gullibilityaudit" SET "heard_of_at" = ',
}


class WrittenByGet(AssertionError):
    """A request by GET or HEAD wrote, locked rows or began a transaction."""


class GetsOnlyRead:
    """Middleware of the tests, before all others."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.method not in {"GET", "HEAD"}:
            return self.get_response(request)
        with connection.execute_wrapper(refuse_writes):
            response = self.get_response(request)
        if response.streaming and not response.is_async:  # type: ignore[attr-defined]
            response.streaming_content = _reading(response.streaming_content)  # type: ignore[attr-defined]
        return response


def refuse_writes(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Pass a statement on if it reads. Raises WrittenByGet."""
    reads = READS.match(sql) and not LOCKS.search(sql)
    if not reads and not any(map(str(sql).startswith, MAY_WRITE)):
        raise WrittenByGet(f"A page that is only looked at sent: {sql[:200]}")
    return execute(sql, params, many, context)


def _reading(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the parts of a streamed response; each is made under the same eyes."""
    parts = iter(parts)
    while True:
        with connection.execute_wrapper(refuse_writes):
            try:
                part = next(parts)
            except StopIteration:
                return
        yield part
