"""Zip files: written the same each time, and read without trusting them.

Nothing is ever unpacked to disk. Knows no Django.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO

from stats.refusals import Refused

# Zip's first day: a file's own time would make every archive another.
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
LARGEST = 4 * 2**30
MOST_FILES = 10_000


class ArchiveRefused(Refused):
    """This is no zip that may be read; the message says why."""


def write_archive(files: Mapping[str, bytes], out: IO[bytes]) -> None:
    """Write the files in the order of their names. The same files give the same bytes."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, FIRST_DAY)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])


def archive_bytes(files: Mapping[str, bytes]) -> bytes:
    """Return the archive of the files."""
    out = io.BytesIO()
    write_archive(files, out)
    return out.getvalue()


def read_archive(path: Path) -> dict[str, bytes]:
    """Return the files of an archive by name. Raises ArchiveRefused, and OSError where the path cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _check(entries)
            return {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise ArchiveRefused(f"This is not a readable zip file: {error}") from error


def _check(entries: list[zipfile.ZipInfo]) -> None:
    """Raise ArchiveRefused for names that lead elsewhere or come twice, and for what would fill the memory."""
    if len(entries) > MOST_FILES or sum(entry.file_size for entry in entries) > LARGEST:
        raise ArchiveRefused("The archive contains more than a bundle may.")
    seen: set[str] = set()
    for entry in entries:
        name = entry.orig_filename
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or "\0" in name or entry.is_dir():
            raise ArchiveRefused(f"The archive contains a file named {name!r}, which points outside it.")
        if name in seen:
            raise ArchiveRefused(f"The archive contains two files named {name!r}.")
        seen.add(name)
