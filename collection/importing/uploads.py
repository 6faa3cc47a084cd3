"""Uploaded files are kept on the disk, each with its row, until they are imported or a day has passed."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import Any
from zipfile import ZipFile

from django.core.exceptions import ValidationError
from django.core.files import File
from django.core.files.uploadedfile import UploadedFile

from collection.formats.archives import names_in
from collection.formats.problems import GZIP
from collection.importing.background import ask_a_worker, outcome_of
from collection.importing.outcomes import ImportOutcome
from collection.models import Collection, Upload, User
from collection.models.uploads import uploads_folder

KEPT = timedelta(days=1)


class UploadGone(Exception):
    """The file is not there any more, or belongs to somebody else."""


def folder() -> Path:
    """Return where uploads wait, made if it is not there."""
    return uploads_folder()


def at_most(megabytes: float, *, command: str = "") -> Callable[[File[Any]], None]:
    """Return a validator for file fields, of forms and of serializers. `command` does the same without a limit."""

    def refuse_larger(file: File[Any]) -> None:
        if (file.size or 0) > megabytes * 1024**2:
            instead = f"Use manage.py {command}, or split the file." if command else "Check that it is the right file."
            raise ValidationError(f"The file is larger than {megabytes:g} MB. {instead}")

    return refuse_larger


@contextmanager
def on_disk(file: UploadedFile[Any]) -> Iterator[Path]:
    """Yield where an uploaded file lies while it is read; it is gone afterwards."""
    with NamedTemporaryFile(prefix="assize-", suffix=Path(file.name or "").suffix[:10]) as copy:
        for chunk in file.chunks():
            copy.write(chunk)
        copy.flush()
        yield Path(copy.name)


def keep_upload(
    *,
    file: File[Any],
    collection: Collection,
    by: User,
    chosen: dict[str, Any],
    at: datetime,
    ask: Upload.State = Upload.State.TRYING,
) -> Upload:
    """Store an uploaded file until it is imported or a day has passed. `chosen` goes into the Upload.

    A worker is asked to try a large one out, or to import it.
    """
    drop_stale_uploads(at=at)
    name = Path(file.name or "file").name
    is_gzipped = file.read(len(GZIP)) == GZIP
    file.seek(0)
    stored_as = secrets.token_hex(16) + (".gz" if is_gzipped else Path(name).suffix.lower()[:10])
    with (folder() / stored_as).open("xb") as stored:
        for chunk in file.chunks():
            stored.write(chunk)
    upload = Upload.objects.create(
        collection=collection,
        user=by,
        stored_as=stored_as,
        name=name,
        size=bytes_to_read(folder() / stored_as),
        uploaded_at=at,
        **chosen,
    )
    if upload.is_for_a_worker:
        ask_a_worker(upload, ask, at=at)
    return upload


def in_one(files: Sequence[UploadedFile[Any]]) -> File[Any]:
    """Return the file, or several packed as they are into one zip."""
    if len(files) == 1:
        return files[0]
    packed = TemporaryFile(prefix="assize-")  # noqa: SIM115  # closed when nobody holds it any more
    with ZipFile(packed, "w") as archive:
        for file in files:
            with archive.open(file.name or "file", "w", force_zip64=True) as target:
                for chunk in file.chunks():
                    target.write(chunk)
    packed.seek(0)
    return File(packed, name=f"{files[0].name} and {len(files) - 1} more.zip")


def keep_to_look_at(
    *, file: File[Any], collection: Collection, by: User, chosen: dict[str, Any], at: datetime
) -> Upload:
    """Store an uploaded file with what it would bring, or what is wrong with it; of a large one a worker finds out."""
    upload = keep_upload(file=file, collection=collection, by=by, chosen=chosen, at=at)
    if not upload.is_at_work:
        note_outcome(upload, outcome_of(upload, really=False, at=at))
    return upload


def look_again(upload: Upload, *, at: datetime) -> None:
    """Find out once more what the file would bring, with what was said since; of a large one a worker does."""
    if upload.is_for_a_worker:
        ask_a_worker(upload, Upload.State.TRYING, at=at)
    else:
        note_outcome(upload, outcome_of(upload, really=False, at=at))


def note_outcome(upload: Upload, outcome: ImportOutcome) -> None:
    """Keep what the file would bring, or what is wrong with it."""
    upload.state, upload.outcome = Upload.State.TRIED, outcome.as_json()
    upload.save(update_fields=["state", "outcome"])


def bytes_to_read(path: Path) -> int:
    """Return the size of the file; of a zip, that of its files as far as it tells."""
    packed = path.stat().st_size
    return max(packed, sum(size for _, size in names_in(path))) if path.suffix == ".zip" else packed


def kept_upload(pk: int, *, collection: Collection, user: User) -> Upload:
    """Return what this person uploaded to the collection and can look at. Raises UploadGone."""
    theirs = Upload.objects.filter(collection=collection, user=user).select_related("collection__owner")
    upload = theirs.filter(pk=pk).first()
    if upload is None or upload.state == Upload.State.KEPT:  # one that broke off before it was looked at
        raise UploadGone
    if not (upload.path.is_file() or upload.state == Upload.State.IMPORTED):
        raise UploadGone
    return upload


def drop_stale_uploads(*, at: datetime) -> None:
    """Remove files that nobody came back to, and what is left of earlier ones."""
    for upload in Upload.objects.filter(uploaded_at__lt=at - KEPT).exclude(state__in=Upload.AT_WORK):
        upload.delete()
    stored = set(Upload.objects.values_list("stored_as", flat=True))
    for path in folder().iterdir():
        if path.name not in stored and path.stat().st_mtime < (at - KEPT).timestamp():
            path.unlink(missing_ok=True)
