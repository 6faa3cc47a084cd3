"""Files into a collection, after a look at what they would do."""

from __future__ import annotations

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
    ask_a_worker,
    beat_of,
    outcome_of,
    requeue_stalled_uploads,
    try_waiting_again,
)
from collection.importing.formats import ANSWERS, FORMATS, KINDS
from collection.importing.forms import AgainForm, ImportForm, WhoseForm
from collection.importing.outcomes import ImportOutcome
from collection.importing.raters import people_among, stem_of
from collection.importing.stray_grades import CHOICES
from collection.importing.uploads import UploadGone, keep_to_look_at, kept_upload, look_again, note_outcome
from collection.models import Collection, Rater, Upload
from stats.plurals import counted

FIRST_LINES = 5
# What tells most of a file, first.
TELLING = ("judgments", "ranked passages", "reports", "passages", "rubric elements", "topics")


@require_http_methods(["GET", "POST"])
@login_required
def import_page(request: SignedInRequest, name: str) -> HttpResponse:
    """Choose a file and its format; posting keeps it and goes on to its preview."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    form = ImportForm(request.POST or None, request.FILES or None, collection=collection, user=request.user)

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
    again = again_form(upload, outcome, request.POST if "again" in request.POST else None)
    if again and again.is_valid():
        upload.said = upload.said | again.said
        upload.save(update_fields=["said"])
        look_again(upload, at=now())
        return redirect("collection:import_preview", collection.name, upload.pk)
    is_import = request.method == "POST" and "again" not in request.POST
    whose = whose_form(upload, outcome, request.POST if is_import else None)
    if is_import and outcome.changed and (whose is None or whose.is_valid()):
        if whose:
            upload.said = upload.said | {"raters": whose.raters}
            upload.save(update_fields=["said"])
        if upload.is_for_a_worker:
            ask_a_worker(upload, Upload.State.IMPORTING, at=now())
            return redirect("collection:import_preview", collection.name, upload.pk)
        outcome = outcome_of(upload, really=True, at=now())
        if not outcome.problems:
            upload.delete()
            try_waiting_again(collection, at=now())
            return go_to_what_came_in(request, upload, outcome)
        note_outcome(upload, outcome)

    files = file_rows(outcome, whose)
    lines = [] if outcome.problems or files else first_lines(upload)
    context = {**about(upload), "outcome": outcome, "lines": lines, "whose": whose, "files": files, "again": again}
    context |= {"details": "collection/import_files.html"} if files else {}
    status = 422 if request.method == "POST" else 200
    return render(request, "collection/import_preview.html", context, status=status)


def whose_form(upload: Upload, outcome: ImportOutcome, sent: Any) -> WhoseForm | None:
    """Return the form that asks whose judgments the files hold that do not say it; None where all do."""
    asked = [file["name"] for file in outcome.details.get("files", []) if file["asks_for_rater"]]
    if not asked:
        return None
    said = upload.said.get("raters", {})
    names = {name: said.get(name, {}).get("name") or stem_of(name) for name in asked}
    if upload.rater and len(names) == 1:
        names[asked[0]] = upload.rater
    is_said = all(name in said for name in asked)
    people = [name for name in asked if said[name]["kind"] == Rater.Kind.ASSESSOR] if is_said else people_among(asked)
    return WhoseForm(sent, names=names, people=people, is_said=is_said)


def again_form(upload: Upload, outcome: ImportOutcome, sent: Any) -> AgainForm | None:
    """Return the form of a second look, with what only a person can say; None where nothing is to be said."""
    formats, has_strays = outcome.details.get("formats", {}), outcome.details.get("has_strays", False)
    if not formats and not has_strays:
        return None
    stray_grades = (upload.said.get("stray_grades") or CHOICES[0]) if has_strays else ""
    return AgainForm(sent, formats=formats, stray_grades=stray_grades)


def file_rows(outcome: ImportOutcome, whose: WhoseForm | None) -> list[dict[str, Any]]:
    """Return each of the files with its format in words, what it brings, and its first records as they were read."""
    rows = []
    for file in outcome.details.get("files", []):
        new = {name: counted(new, name) for name, new, _ in file["counts"] if new}
        first = next((name for name in TELLING if name in new), next(iter(new), ""))
        most = new.pop(first, "nothing new")
        label = FORMATS[file["format"]][0]
        row = {"name": file["name"], "label": label, "waits": file["waits"], "most": most, "rest": list(new.values())}
        name_field = whose.name_field(file["name"]) if whose else None
        rows.append({**row, "records": file.get("records", []), "name_field": name_field})
    return rows


def import_progress(request: SignedInRequest, upload: Upload) -> HttpResponse:
    """How far the worker is. htmx asks for the changing part alone, and for the whole page when that has ended."""
    requeue_stalled_uploads(at=now(), among=[upload])
    read = beat_of(upload).bytes_read()
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
