"""Files into a collection, after a look at what they would do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import islice
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh

from collection.accounts.views import SignedInRequest
from collection.formats.archives import names_in
from collection.formats.problems import InputFile
from collection.importing.background import (
    Beat,
    ask_a_worker,
    outcome_of,
    requeue_stalled_uploads,
    try_waiting_again,
)
from collection.importing.files import PEOPLE, supposed_assigner, supposed_raters
from collection.importing.formats import ANSWERS, FORMATS, KINDS
from collection.importing.forms import ImportForm, QrelsRaterForm
from collection.importing.outcomes import ImportOutcome
from collection.importing.uploads import UploadGone, keep_to_look_at, kept_upload, note_outcome
from collection.models import Collection, Upload
from stats.plurals import counted

FIRST_LINES = 5
# What tells most of a file, first.
TELLING = ("judgments", "ranked passages", "reports", "passages", "rubric elements", "topics")


@require_http_methods(["GET", "POST"])
@login_required
def import_page(request: SignedInRequest, name: str) -> HttpResponse:
    """Choose a file and its format; posting keeps it and goes on to its preview."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    form = ImportForm(request.POST or None, request.FILES or None, collection=collection)

    if form.is_valid():
        file = form.chosen_file
        upload = keep_to_look_at(file=file, collection=collection, by=request.user, chosen=form.chosen, at=now())
        return redirect("collection:import_preview", collection.name, upload.pk)

    context = {"collection": collection, "form": form, "formats": FORMATS, "waiting": waiting_of(collection, request)}
    return render(request, "collection/import_page.html", context, status=422 if form.errors else 200)


def waiting_of(collection: Collection, request: SignedInRequest) -> list[Upload]:
    """Return this person's files that are kept and not imported yet."""
    theirs = Upload.objects.filter(collection=collection, user=request.user, file_format__in=FORMATS)
    return list(theirs.exclude(state__in=(Upload.State.KEPT, Upload.State.IMPORTED)))


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def import_preview(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """What an uploaded file would bring, or what is wrong with it; posting brings it."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    try:
        upload = kept_upload(pk, collection=collection, user=request.user)
    except UploadGone:
        messages.error(request, "That file is no longer available. Choose it again.")
        return redirect("collection:import_page", collection.name)

    if upload.state == Upload.State.IMPORTED:
        return go_to_what_came_in(request, upload, ImportOutcome.read(upload.outcome))
    if upload.is_at_work:
        return import_progress(request, upload)
    if request.htmx:  # the worker has finished while the page looked on
        return HttpResponseClientRefresh()
    outcome = ImportOutcome.read(upload.outcome)
    raters = rater_forms(upload, outcome, request.POST or None)
    if request.method == "POST" and outcome.changed and all(form.is_valid() for _, form in raters):
        note_raters(upload, raters)
        if upload.is_for_a_worker:
            ask_a_worker(upload, Upload.State.IMPORTING, at=now())
            return redirect("collection:import_preview", collection.name, upload.pk)
        outcome = outcome_of(upload, really=True, at=now())
        if not outcome.problems:
            upload.delete()
            try_waiting_again(collection, at=now())
            return go_to_what_came_in(request, upload, outcome)
        note_outcome(upload, outcome)

    one_by_one = outcome.problems or len(outcome.details.get("files", [])) > 1
    lines = [] if one_by_one else first_lines(upload)
    files = file_rows(outcome, dict(raters))
    context = {**about(upload), "outcome": outcome, "lines": lines, "raters": raters, "files": files}
    context |= {"details": "collection/import_files.html"} if files else {}
    status = 422 if request.method == "POST" else 200
    return render(request, "collection/import_preview.html", context, status=status)


def rater_forms(upload: Upload, outcome: ImportOutcome, sent: Any) -> list[tuple[str, QrelsRaterForm]]:
    """Return for each file that does not say whose its judgments are, by name, the form that asks it."""
    asked = [(file["name"], file["format"]) for file in outcome.details.get("files", []) if file["asks_for_rater"]]
    names = [name for name, _ in asked]
    said = upload.said.get("raters", {})
    often_judges = ("assignments", "scores")
    raters = {name: supposed_assigner(name) if file_format in often_judges else PEOPLE for name, file_format in asked}
    raters |= supposed_raters([name for name, file_format in asked if file_format == "qrels"])
    supposed = {name: asdict(rater) for name, rater in raters.items()}
    if upload.rater and len(names) == 1:
        supposed[names[0]]["name"] = upload.rater
    return [
        (name, QrelsRaterForm(sent, file=name, prefix=f"rater-{number}", initial=said.get(name, supposed[name])))
        for number, name in enumerate(names)
    ]


def file_rows(outcome: ImportOutcome, raters: Mapping[str, QrelsRaterForm]) -> list[dict[str, Any]]:
    """Return each of several files with its format in words, the count that tells most of it, and the others."""
    rows = []
    for file in outcome.details.get("files", []):
        new = {name: counted(new, name) for name, new, _ in file["counts"] if new}
        first = next((name for name in TELLING if name in new), next(iter(new), ""))
        most = new.pop(first, "nothing new")
        label = FORMATS[file["format"]][0]
        row = {"name": file["name"], "label": label, "waits": file["waits"], "most": most, "rest": list(new.values())}
        rows.append({**row, "form": raters.get(file["name"])})
    return rows


def note_raters(upload: Upload, raters: list[tuple[str, QrelsRaterForm]]) -> None:
    """Keep whose judgments the files hold."""
    if raters:
        upload.said = upload.said | {"raters": {name: form.cleaned_data for name, form in raters}}
        upload.save(update_fields=["said"])


def import_progress(request: SignedInRequest, upload: Upload) -> HttpResponse:
    """How far the worker is. htmx asks for the changing part alone, and for the whole page when that has ended."""
    requeue_stalled_uploads(at=now(), among=[upload])
    read = Beat.of(upload).bytes_read()
    percent = None if read is None else min(100, 100 * read // max(upload.size, 1))
    template = "collection/import_progress.html" if request.htmx else "collection/import_waiting.html"
    return render(request, template, {**about(upload), "percent": percent})


def go_to_what_came_in(request: SignedInRequest, upload: Upload, outcome: ImportOutcome) -> HttpResponse:
    told = outcome.told(upload.name)
    waiting = messages.get_messages(request)
    if told not in map(str, waiting):  # the page may ask again before the next one is there
        messages.success(request, told)
    waiting.used = False  # type: ignore[union-attr]
    kind = KINDS.get(upload.file_format)
    address = kind.leads_to(upload, outcome) if kind else page_of_the_answer(upload, outcome)
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)


def page_of_the_answer(upload: Upload, outcome: ImportOutcome) -> str:
    """Return where to go on: what an app shows of the only study that judgments went into, or the collection."""
    names = outcome.details.get("studies", [])
    study = upload.collection.studies.filter(name=names[0]).first() if len(names) == 1 else None
    found = next(filter(None, (answer(study) for answer in ANSWERS)), "") if study else ""
    return found or reverse("collection:collection", args=[upload.collection.name])


@require_POST
@login_required
def import_cancel(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Remove an uploaded file. A worker that is at it takes back what it did."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    try:
        upload = kept_upload(pk, collection=collection, user=request.user)
    except UploadGone as gone:
        raise Http404 from gone
    if upload.state == Upload.State.IMPORTED:
        return go_to_what_came_in(request, upload, ImportOutcome.read(upload.outcome))

    upload.delete()

    messages.info(request, "The file is removed; nothing was imported.")
    return redirect(about(upload)["chosen_at"])


def about(upload: Upload) -> dict[str, Any]:
    context: dict[str, Any] = {"collection": upload.collection, "upload": upload}
    if kind := KINDS.get(upload.file_format):
        return context | {"format": kind.label(upload), "details": kind.details, "chosen_at": kind.chosen_at(upload)}
    address = reverse("collection:import_page", args=[upload.collection.name])
    label = "Recognised by content" if upload.file_format == "files" else FORMATS[upload.file_format][0]
    return context | {"format": label, "chosen_at": address}


def first_lines(upload: Upload) -> list[tuple[int, str]]:
    """Return the first lines of the file as they are; of a zip, the names and sizes of its files."""
    if upload.path.suffix == ".zip":
        files = enumerate(names_in(upload.path), start=1)
        return [(number, f"{name} ({size:,} bytes)") for number, (name, size) in files]
    return list(islice(InputFile(upload.path).lines(), FIRST_LINES))
