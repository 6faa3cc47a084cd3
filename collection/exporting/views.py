"""Downloads of a collection, and of a study’s judgments and answers."""

from __future__ import annotations

import re
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponseBadRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from collection.accounts.access import study_of
from collection.accounts.views import SignedInRequest
from collection.exporting.cited_reports import exported_cited_reports
from collection.exporting.clapnq import exported_clapnq
from collection.exporting.collections import exported_collection
from collection.exporting.exchanged import EXPORTS, exchanged_file
from collection.exporting.judgments import exported_judgments, exported_parquet
from collection.exporting.labels import FORMS as LABEL_FORMS
from collection.exporting.labels import LabelsRefused, exported_labels, labels_file
from collection.exporting.nugget_banks import NeedsOneTopic, assigning_raters, exported_assignments, exported_bank
from collection.exporting.runs import NoSuchRun
from collection.exporting.scores import exported_scores, score_file
from collection.formats.judgments_reader import Format
from collection.formats.nugget_banks import FORMS
from collection.formats.scores.tools import LABELS, SeveralCriteria
from collection.models import BankVersion, Collection, Study
from collection.models.studies import TaskType
from collection.page_tools import download


@require_safe
@login_required
def export(request: SignedInRequest, name: str) -> HttpResponseBase:
    """The whole collection as Assize JSONL."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    return download(exported_collection(collection), f"{collection.name}.jsonl")


@require_safe
@login_required
def export_reports(request: SignedInRequest, name: str) -> HttpResponseBase:
    """The reports that have sentences, as the tracks exchange them."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    return download(exported_cited_reports(collection), f"{collection.name}-reports.jsonl")


@require_safe
@login_required
def export_texts(request: SignedInRequest, name: str) -> HttpResponseBase:
    """Topics, passages or a run's rankings as the field exchanges them: `as` says which, `run` of which run."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    export = EXPORTS.get(request.GET.get("as", ""))
    if export is None:
        raise Http404
    try:
        lines = export(collection, request.GET.get("run", ""))
    except NoSuchRun as refused:
        messages.error(request, str(refused))
        return redirect("collection:collection", collection.name)
    return download(lines, exchanged_file(collection, request.GET["as"]))


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


@require_safe
@login_required
def export_answers(request: SignedInRequest, name: str, study: str) -> HttpResponseBase:
    """A study's written answers in CLAPNQ's format."""
    found = study_of_collection(request, name, study)
    return download(exported_clapnq(found), f"{found.name}-clapnq.jsonl")


@require_safe
@login_required
def export_scores(request: SignedInRequest, name: str, study: str) -> HttpResponseBase:
    """A study's judgments as scores of another tool: `as` says of which, `criterion` of which criterion."""
    found = study_of_collection(request, name, study)
    form = request.GET.get("as", "")
    if form not in LABELS:
        raise Http404
    try:
        lines = exported_scores(found, form, criterion=request.GET.get("criterion", ""))
    except SeveralCriteria as refused:
        return HttpResponseBadRequest(str(refused), content_type="text/plain; charset=utf-8")
    return download(lines, score_file(found, form))


@require_safe
@login_required
def export_labels(request: SignedInRequest, name: str, study: str) -> HttpResponseBase:
    """A study's labels as a paper's tool writes them: `as` says which, `rater` and `criterion` whose and which."""
    found = study_of_collection(request, name, study)
    form, rater, criterion = (request.GET.get(one, "") for one in ("as", "rater", "criterion"))
    if form not in LABEL_FORMS:
        raise Http404
    try:
        lines = exported_labels(found, form, rater=rater, criterion=criterion)
    except LabelsRefused as refused:
        return HttpResponseBadRequest(str(refused), content_type="text/plain; charset=utf-8")
    return download(lines, labels_file(found, form))
