"""Downloads of a collection, and of a study’s judgments and answers."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.auth.decorators import login_required
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.exporting.clapnq import exported_clapnq
from collection.exporting.collections import exported_collection
from collection.exporting.judgments import exported_judgments
from collection.formats.judgments_reader import Format
from collection.models import Collection


@require_safe
@login_required
def export(request: SignedInRequest, name: str) -> StreamingHttpResponse:
    """The whole collection as Assize JSONL."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    return _download(exported_collection(collection), f"{collection.name}.jsonl")


@require_safe
@login_required
def export_judgments(request: SignedInRequest, name: str, study: str, table: Format) -> StreamingHttpResponse:
    """A study's judgments as a long table."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    found = get_object_or_404(collection.studies, name=study)
    return _download(exported_judgments(found, table=table), f"{found.name}-judgments.{table}")


@require_safe
@login_required
def export_answers(request: SignedInRequest, name: str, study: str) -> StreamingHttpResponse:
    """A study's written answers in CLAPNQ's format."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    found = get_object_or_404(collection.studies, name=study)
    return _download(exported_clapnq(found), f"{found.name}-clapnq.jsonl")


def _download(lines: Iterator[str], name: str) -> StreamingHttpResponse:
    kind = "text/csv" if name.endswith(".csv") else "application/jsonl"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines, content_type=f"{kind}; charset=utf-8", headers=headers)
