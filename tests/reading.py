"""How every test asks for pages: by GET and HEAD it only reads, and where a template breaks its lines is no matter.

On SQLite a transaction that a page begins takes the one write lock of the site, and whoever labels waits for it. So
what a request by GET writes or locks fails there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase

# One that begins DEFERRED takes no lock before it writes.
READS = re.compile(r"[\s(]*(SELECT|WITH|EXPLAIN|PRAGMA|DECLARE|FETCH|CLOSE|SET|BEGIN DEFERRED)\b", re.IGNORECASE)
LOCKS = re.compile(r"\bFOR (NO KEY )?UPDATE\b")
# What a request that reads may write all the same: one row, whatever the number of requests, and why.
MAY_WRITE = {
    # When a token was last used, every ten minutes at most: most of the API's clients only ever read.
    'UPDATE "collection_apitoken" SET "last_used_at" = ',
    # Whose password was changed, or whose account was closed, is signed out with their next request.
    'DELETE FROM "django_session" ',
    # Where a worker is gone, whoever waits for it asks another.
    'UPDATE "collection_upload" SET "generation" = ',
    'UPDATE "collection_retrieval" SET "generation" = ',
    'UPDATE "judging_gullibilityaudit" SET "heard_of_at" = ',
}
# Where browsers keep white space, and what is no text.
KEPT = re.compile(
    r"(<(pre|textarea|script|svg)\b.*?</\2>|<(\w+)[^<>]*\bverbatim\b[^<>]*>.*?</\3>)", re.DOTALL | re.IGNORECASE
)
BLOCKS = (
    "address|article|aside|blockquote|body|br|caption|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure|footer|form|"
    "h[1-6]|head|header|hr|html|legend|li|link|main|meta|nav|ol|optgroup|option|p|pre|progress|script|section|select|"
    "summary|table|tbody|td|tfoot|th|thead|title|tr|ul"
)
BREAK_AT_BLOCK = re.compile(rf"(</?(?:{BLOCKS})\b[^<>]*>)\s*\n\s*|\s*\n\s*(?=</?(?:{BLOCKS})\b)", re.IGNORECASE)
TAG = re.compile(r"<[^<>]+>")
BREAK = re.compile(r"\s*\n\s*")


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


class WithoutLineBreaks:
    """Middleware of the tests: in what their client gets, no line break that browsers show as a space."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        asked_by_client = request.META.get("SERVER_NAME") == "testserver"
        if asked_by_client and isinstance(response, HttpResponse) and is_html(response):
            response.content = without_line_breaks(response.content.decode())
            if response.has_header("Content-Length"):
                response["Content-Length"] = len(response.content)
        return response


def is_html(response: HttpResponse) -> bool:
    return response.get("Content-Type", "").startswith("text/html") and not response.has_header("Content-Encoding")


def without_line_breaks(html: str) -> str:
    """Return a page with a space for each line break, none beside a block; as it was where white space is kept."""
    parts, at = [], 0
    for kept in KEPT.finditer(html):
        parts += [_on_one_line(html[at : kept.start()]), TAG.sub(lambda tag: BREAK.sub(" ", tag[0]), kept[0])]
        at = kept.end()
    return "".join([*parts, _on_one_line(html[at:])])


def _on_one_line(html: str) -> str:
    return BREAK.sub(" ", BREAK_AT_BLOCK.sub(lambda found: found[1] or "", html))


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
