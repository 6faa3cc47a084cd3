"""Documents in a folder on the server, one file each. Only folders below the operator's DOCUMENTS_FOLDER are read."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.core.exceptions import ValidationError

from collection.documents.found import FetchFailed, Found, SourceFailed, text_in

MOST_BYTES = 5 * 1024**2
OFF = "Folders are switched off here. Ask who runs this site to set DOCUMENTS_FOLDER."
# Of what is there: nothing is followed out of the folder, and nothing is waited for, as a pipe would be.
HOW = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def folder_named(written: str) -> Path:
    """Return the folder of this name below DOCUMENTS_FOLDER. Raises ValidationError."""
    if not settings.DOCUMENTS_FOLDER:
        raise ValidationError(OFF)
    root = Path(settings.DOCUMENTS_FOLDER).resolve()
    try:
        found = (root / written).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        found = None
    # What is outside and what is not there get one answer: nobody learns which folders the server has.
    if found is None or not found.is_relative_to(root) or not found.is_dir():
        raise ValidationError(f"There is no folder “{written}” below the folder of documents.")
    return found


class FolderDocuments:
    """The documents of a folder: `<id>.txt`, or `<id>.json` where a text field is named.

    What a file name cannot hold is percent-encoded there: `a/b` is `a%2Fb.txt`.
    """

    def __init__(self, written: str, *, text_field: str = "", title_field: str = "") -> None:
        try:
            self.folder = folder_named(written)
        except ValidationError as invalid:
            raise SourceFailed(" ".join(invalid.messages)) from invalid
        self.text_field, self.title_field = text_field, title_field

    def close(self) -> None:
        """Nothing is open."""

    def fetch(self, docno: str) -> Found:
        """Return the document. Raises FetchFailed."""
        suffix = ".json" if self.text_field else ".txt"
        kept = "".join(char if char.isalnum() else quote(char, safe=" !#$&'()+,;=@[]{}~^-_.:") for char in docno)
        content = self._read(f"{kept}{suffix}")
        title, text = text_in(content, text_field=self.text_field, title_field=self.title_field)
        return Found(text, title, hashlib.sha256(content).hexdigest())

    def _read(self, name: str) -> bytes:
        try:
            file = os.open(self.folder / name, HOW)
        except (OSError, ValueError) as error:
            raise FetchFailed(f"There is no file “{name}” that can be read.") from error
        with os.fdopen(file, "rb") as opened:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise FetchFailed(f"“{name}” is not a file.")
            content = opened.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise FetchFailed(f"The document has more than {MOST_BYTES // 1024**2} MB.")
        return content
