"""Files that a report is computed of as they are sent: neither they nor the result are kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from django import forms
from django.core.files.uploadedfile import UploadedFile

from collection.web.options import OptionsForm
from stats.refusals import Refused

# Larger ones are for the command.
MOST_MB = 8


class Files(NamedTuple):
    """What a page calls the files, and what each is of."""

    label: str
    about: str


class FilesTooLarge(Refused):
    """They are more than a page or the API takes."""


class FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One file or several, each checked like a single one: a list of them."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[Any]]:
        """Return the files. Raises ValidationError."""
        files = data if isinstance(data, list) else [data]
        checked, refused = [], []
        for file in files or [None]:
            try:
                checked.append(super().clean(file, initial))
            except forms.ValidationError as error:
                named = f"{file.name}: " if file else ""
                refused += [f"{named}{message}" for message in error.messages]
        if refused:
            raise forms.ValidationError(refused)
        return list(filter(None, checked))


class FilesForm(OptionsForm):
    """Files with the options by which they are read."""

    use_required_attribute = False
    field_order = ("file",)

    def __init__(self, *args: Any, files: Files, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"] = FilesField(label=files.label, help_text=files.about)
        self.order_fields(self.field_order)


@contextmanager
def paths_of(uploads: Sequence[UploadedFile[Any]], *, command: str) -> Iterator[list[tuple[str, Path]]]:
    """Have the files in a folder that goes with the block, with their names. Raises FilesTooLarge."""
    if sum(file.size or 0 for file in uploads) > MOST_MB * 1024**2:
        raise FilesTooLarge(f"Files of more than {MOST_MB} MB are for the command {command}.")
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / str(number) for number in range(len(uploads))]
        for file, path in zip(uploads, paths, strict=True):
            path.write_bytes(file.read())
        yield [(file.name or f"file {n}", path) for n, (file, path) in enumerate(zip(uploads, paths, strict=True), 1)]
