"""Files that wait for what they refer to: kept as an upload of their own when the others of their import came in."""

from __future__ import annotations

import secrets
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from collection.formats.archives import CHUNK
from collection.importing.outcomes import ImportOutcome
from collection.importing.raters import is_called
from collection.models import Upload
from collection.models.uploads import uploads_folder


def keep_waiting(upload: Upload, outcome: ImportOutcome, *, at: datetime) -> Upload | None:
    """Keep the files of a zip that were left out of its import as an upload that was tried; None if there are none."""
    waiting = [file for file in outcome.details.get("files", []) if file["waits"]]
    if not waiting:
        return None
    stored_as = f"{secrets.token_hex(16)}.zip"
    with ZipFile(upload.path) as before, ZipFile(uploads_folder() / stored_as, "x") as kept:
        for file in waiting:
            with before.open(file["name"]) as source, kept.open(file["name"], "w", force_zip64=True) as target:
                while chunk := source.read(CHUNK):
                    target.write(chunk)
        size = sum(entry.file_size for entry in kept.infolist())
    return Upload.objects.create(
        collection=upload.collection,
        user=upload.user,
        stored_as=stored_as,
        name=", ".join(Path(file["name"]).name for file in waiting)[:255],
        size=size,
        file_format=upload.file_format,
        study=upload.study,
        without_texts=upload.without_texts,
        said=upload.said | _said_of(waiting, upload.said),
        state=Upload.State.TRIED,
        outcome=ImportOutcome(details={"files": waiting}).as_json(),
        uploaded_at=at,
    )


def _said_of(files: list[dict[str, Any]], said: dict[str, Any]) -> dict[str, Any]:
    """Return what was said of these files among others."""
    return {
        part: {name: one for name, one in said[part].items() if any(is_called(file["name"], name) for file in files)}
        for part in ("raters", "formats")
        if part in said
    }
