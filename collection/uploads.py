"""Uploaded files between their preview and the import: kept on the disk, known to the browser by a signed token."""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import signing
from django.core.files.uploadedfile import UploadedFile

from collection.models import Collection, User

KEPT = timedelta(days=1)
SALT = "collection.uploads"


class UploadGone(Exception):
    """The file is not there any more, or belongs to somebody else."""


@dataclass(frozen=True)
class Upload:
    """A file that waits to be imported: where it is, and what its importer chose."""

    stored_as: str
    name: str
    collection: int
    user: int
    file_format: str
    study: str = ""
    rater: str = ""
    run: str = ""
    system: str = ""
    without_texts: bool = False

    @property
    def path(self) -> Path:
        return folder() / self.stored_as

    @property
    def token(self) -> str:
        """What brings its uploader back to it."""
        return signing.dumps(asdict(self), salt=SALT, compress=True)


def folder() -> Path:
    """Return where uploads wait, made if it is not there."""
    path = Path(settings.MEDIA_ROOT) / "imports"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def keep_upload(
    *, file: UploadedFile[Any], collection: Collection, by: User, chosen: dict[str, Any], at: datetime
) -> Upload:
    """Store an uploaded file until it is imported or a day has passed. `chosen` goes into the Upload."""
    drop_stale_uploads(at=at)
    upload = Upload(
        stored_as=secrets.token_hex(16) + Path(file.name or "").suffix.lower()[:10],
        name=Path(file.name or "file").name,
        collection=collection.pk,
        user=by.pk,
        **chosen,
    )
    with upload.path.open("xb") as stored:
        for chunk in file.chunks():
            stored.write(chunk)
    return upload


def kept_upload(token: str, *, collection: Collection, user: User) -> Upload:
    """Return the upload of this token. Raises UploadGone."""
    try:
        upload = Upload(**signing.loads(token, salt=SALT, max_age=KEPT))
    except signing.BadSignature as error:
        raise UploadGone from error
    if (upload.collection, upload.user) != (collection.pk, user.pk) or not upload.path.is_file():
        raise UploadGone
    return upload


def drop_upload(upload: Upload) -> None:
    """Remove the file."""
    upload.path.unlink(missing_ok=True)


def drop_stale_uploads(*, at: datetime) -> None:
    """Remove files that nobody came back to."""
    for path in folder().iterdir():
        if path.stat().st_mtime < (at - KEPT).timestamp():
            path.unlink(missing_ok=True)
