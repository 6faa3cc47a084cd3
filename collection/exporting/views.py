"""Downloads of a collection, and of a study’s judgments and answers."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.exporting.clapnq import exported_clapnq
from collection.exporting.collections import exported_collection
from collection.exporting.judgments import exported_judgments
from collection.formats.judgments_reader import Format
from collection.models import Collection
from collection.page_tools import download


@require_safe
@login_required
def export(request: SignedInRequest, name: str) -> HttpResponseBase:
    """The whole collection as Assize JSONL."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    return download(exported_collection(collection), f"{collection.name}.jsonl")


@require_safe
@login_required
def export_judgments(request: SignedInRequest, name: str, study: str, table: Format) -> HttpResponseBase:
    """A study's judgments as a long table."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    found = get_object_or_404(collection.studies, name=study)
    return download(exported_judgments(found, table=table), f"{found.name}-judgments.{table}")


@require_safe
@login_required
def export_answers(request: SignedInRequest, name: str, study: str) -> HttpResponseBase:
    """A study's written answers in CLAPNQ's format."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    found = get_object_or_404(collection.studies, name=study)
    return download(exported_clapnq(found), f"{found.name}-clapnq.jsonl")
