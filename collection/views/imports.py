"""Files into a collection, after a look at what they would do; and files out of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from collection.exporting.clapnq import exported_clapnq
from collection.exporting.collections import exported_collection
from collection.exporting.judgments import exported_judgments
from collection.formats.files import BrokenFile, InputFile, Problem
from collection.formats.judgments import Format
from collection.forms import ImportForm
from collection.importing.rows import Imported
from collection.importing.uploads import FORMATS, import_upload, try_upload
from collection.models import Collection
from collection.uploads import Upload, UploadGone, drop_upload, keep_upload, kept_upload
from collection.views.account import SignedInRequest

FIRST_LINES = 5


@require_http_methods(["GET", "POST"])
@login_required
def import_page(request: SignedInRequest, name: str) -> HttpResponse:
    """Choose a file and its format; posting keeps it and goes on to its preview."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    form = ImportForm(request.POST or None, request.FILES or None, collection=collection)

    if form.is_valid():
        upload = keep_upload(
            file=form.cleaned_data["file"], collection=collection, by=request.user, chosen=form.chosen, at=now()
        )
        return redirect("collection:import_preview", collection.name, upload.token)

    context = {"collection": collection, "form": form, "formats": FORMATS}
    return render(request, "collection/import_page.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def import_preview(request: SignedInRequest, name: str, token: str) -> HttpResponse:
    """What an uploaded file would bring, or what is wrong with it; posting brings it."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    try:
        upload = kept_upload(token, collection=collection, user=request.user)
    except UploadGone:
        messages.error(request, "That file is not waiting any more. Choose it again.")
        return redirect("collection:import_page", collection.name)

    if request.method == "POST":
        imported, problems = _outcome(upload, collection, really=True)
        if imported:
            drop_upload(upload)
            messages.success(request, _told(upload, imported))
            return redirect("collection:collection", collection.name)
    else:
        imported, problems = _outcome(upload, collection, really=False)

    context = {
        "collection": collection,
        "upload": upload,
        "format": FORMATS[upload.file_format][0],
        "imported": imported,
        "problems": problems,
        "lines": [] if problems else first_lines(upload),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "collection/import_preview.html", context, status=status)


@require_POST
@login_required
def import_cancel(request: SignedInRequest, name: str, token: str) -> HttpResponse:
    """Remove an uploaded file."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    try:
        drop_upload(kept_upload(token, collection=collection, user=request.user))
    except UploadGone as gone:
        raise Http404 from gone

    messages.info(request, "The file is removed; nothing was imported.")
    return redirect("collection:import_page", collection.name)


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


def first_lines(upload: Upload) -> list[tuple[int, str]]:
    """Return the first lines of the file as they are, cut where they are long."""
    return list(islice(InputFile(upload.path).lines(), FIRST_LINES))


@require_safe
@login_required
def export_answers(request: SignedInRequest, name: str, study: str) -> StreamingHttpResponse:
    """A study's written answers in CLAPNQ's format."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    found = get_object_or_404(collection.studies, name=study)
    return _download(exported_clapnq(found), f"{found.name}-clapnq.jsonl")


def _outcome(upload: Upload, collection: Collection, *, really: bool) -> tuple[Imported | None, list[Problem]]:
    """Import the file, really or as a trial. Returns what it brought, or its problems."""
    bring = import_upload if really else try_upload
    try:
        return bring(upload=upload, collection=collection, at=now()), []
    except BrokenFile as broken:
        return None, broken.problems
    except ValidationError as invalid:
        return None, [Problem(None, " ".join(invalid.messages))]


def _told(upload: Upload, imported: Imported) -> str:
    if not imported.changed:
        return f"All of “{upload.name}” was already there: nothing changed."
    new = ", ".join(f"{count:,} {name}" for name, count, _ in imported.counts() if count)
    return f"“{upload.name}” is imported: {new}."


def _download(lines: Iterator[str], name: str) -> StreamingHttpResponse:
    kind = "text/csv" if name.endswith(".csv") else "application/jsonl"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines, content_type=f"{kind}; charset=utf-8", headers=headers)
