"""What every app's pages share: telling why something was refused, and downloads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

KINDS = {"csv": "text/csv", "jsonl": "application/jsonl"}


@contextmanager
def telling(request: HttpRequest, *refusals: type[Exception]) -> Iterator[None]:
    """Tell the user what these exceptions say, and go on behind the block."""
    try:
        yield
    except refusals as refusal:
        messages.error(request, str(refusal))


def download(content: str | Iterable[str], name: str) -> HttpResponseBase:
    """Return a file of this name, whose suffix says what it is: a text as a whole, lines as they come."""
    response = HttpResponse if isinstance(content, str) else StreamingHttpResponse
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return response(content, content_type=f"{KINDS[name.rpartition('.')[2]]}; charset=utf-8", headers=headers)
