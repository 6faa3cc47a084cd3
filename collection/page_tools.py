"""What every app's pages share: telling why something was refused, and downloads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from collection.finished_files import file_response

TEXTS = {
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "jsonl": "application/jsonl",
    "run": "text/plain",
    "qrels": "text/plain",
}
KINDS = {
    **{suffix: f"{kind}; charset=utf-8" for suffix, kind in TEXTS.items()},
    "json": "application/json",
    "zip": "application/zip",
    "parquet": "application/vnd.apache.parquet",
}


@contextmanager
def telling(request: HttpRequest, *refusals: type[Exception]) -> Iterator[None]:
    """Tell the user what these exceptions say, and go on behind the block."""
    try:
        yield
    except refusals as refusal:
        messages.error(request, str(refusal))


def download(content: str | Iterable[str] | Iterable[bytes], name: str) -> HttpResponseBase:
    """Return a file of this name, whose suffix says what it is. Raises ExportFailed."""
    kind = KINDS[name.rpartition(".")[2]]
    if isinstance(content, str):
        return HttpResponse(
            content, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
        )
    return file_response(content, content_type=kind, name=name)
