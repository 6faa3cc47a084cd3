"""Downloads of a collection, and of a study’s judgments and answers."""

from __future__ import annotations

import re
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponseBadRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from collection.accounts.access import study_of
from collection.accounts.views import SignedInRequest
from collection.exporting.exports import EXPORTS
from collection.exporting.judgments import exported_judgments, exported_parquet
from collection.exporting.nugget_banks import NeedsOneTopic, assigning_raters, exported_assignments, exported_bank
from collection.formats.judgments_reader import Format
from collection.formats.nugget_banks import FORMS
from collection.models import BankVersion, Collection, Study
from collection.models.studies import TaskType
from collection.page_tools import download


@require_safe
@login_required
def export(request: SignedInRequest, name: str, study: str = "", *, what: str) -> HttpResponseBase:
    """A collection, or one of its studies, as one of EXPORTS: `as` is its form, the options are called as there."""
    declared, of = EXPORTS[what], request.user
    subject: Collection | Study = (
        study_of_collection(request, name, study) if study else get_object_or_404(Collection.objects.of(of), name=name)
    )
    asked: dict[str, Any] = declared.asked(request.GET)
    form = request.GET.get("as", "")
    if declared.forms:
        if form not in declared.forms:
            raise Http404
        asked["form"] = form
    try:
        return download(declared.pieces(subject, lambda _: None, **asked), declared.file(subject, form))
    except declared.refusals as refused:
        if study:
            return HttpResponseBadRequest(str(refused), content_type="text/plain; charset=utf-8")
        messages.error(request, str(refused))
        return redirect("collection:collection", name)


@require_safe
@login_required
def export_bank(request: SignedInRequest, name: str, bank: str) -> HttpResponseBase:
    """A nugget bank: its newest version, or `version`, in the form that it came in, or in `form`; of one `topic`."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    number, form, topic = (request.GET.get(one, "") for one in ("version", "form", "topic"))
    versions = BankVersion.objects.filter(bank__collection=collection, bank__name=bank)
    if number:
        versions = versions.filter(number=number) if re.fullmatch("[0-9]{1,9}", number) else versions.none()
    version = versions.order_by("number").last()
    if version is None or (form and form not in FORMS):
        raise Http404
    try:
        lines = exported_bank(version, form=form or None, topic=topic)
    except NeedsOneTopic as refused:
        messages.error(request, str(refused))
        return redirect("collection:bank", collection.name, bank)
    return download(lines, f"{bank}-{version.number}.jsonl")


def study_of_collection(request: SignedInRequest, collection: str, name: str) -> Study:
    """Return the study if its judgments may be read by who asks. Raises StillAssesses; else 404."""
    found = study_of(request.user, name)
    if found.collection.name != collection:
        raise Http404
    return found


@require_safe
@login_required
def export_assignments(request: SignedInRequest, name: str, study: str) -> HttpResponseBase:
    """Which nuggets answers support by one `rater`, as AutoNuggetizer writes it; of one `run`."""
    found = study_of_collection(request, name, study)
    criterion = get_object_or_404(found.criteria, task_type=TaskType.NUGGET, name="support")
    rater = assigning_raters(criterion, request.GET.get("rater", ""), kind=request.GET.get("kind", "")).first()
    if rater is None:
        raise Http404
    lines = exported_assignments(criterion, rater, run=request.GET.get("run", ""))
    return download(lines, f"{found.name}-assignments.jsonl")


@require_safe
@login_required
def export_judgments(request: SignedInRequest, name: str, study: str, table: str) -> HttpResponseBase:
    """A study's judgments as a long table: CSV, JSONL or Parquet."""
    found = study_of_collection(request, name, study)
    written = exported_parquet(found) if table == "parquet" else exported_judgments(found, table=cast("Format", table))
    return download(written, f"{found.name}-judgments.{table}")
