"""Zip files that come in: unpacked into a folder of their own, and refused where they mean harm or are too much."""

from __future__ import annotations

import re
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from collection.formats.problems import BrokenFile, Problem

MOST_FILES = 2_000
MOST_BYTES = 512 * 1024 * 1024
MOST_BYTES_SHOWN = "512 MB"
CHUNK = 1024 * 1024
# What systems put beside the files when they make a zip.
NOT_MEANT = re.compile(r"(^|/)(__MACOSX/|\.[^./]|Thumbs\.db$|desktop\.ini$)")
IS_ENCRYPTED = 0x1
ANOTHER_WAY = "Create the zip again, from the folder only."


@contextmanager
def unpacked(path: Path, *, name: str) -> Iterator[Path]:
    """Yield a folder with the zip's files, gone afterwards. `name` is what messages call the zip.

    Raises BrokenFile where it is no zip, holds more than is taken, or names what is no plain file inside it.
    What a zip says about its sizes is not believed: bytes are counted while they are read.
    """
    with tempfile.TemporaryDirectory(prefix="assize-zip-") as folder:
        try:
            with zipfile.ZipFile(path) as archive:
                entries = files_in(archive, name)
                left = MOST_BYTES
                for entry in entries:
                    left -= _extract(archive, entry, Path(folder), left, name)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise _refused(name, f"This zip cannot be read: {error}.", ANOTHER_WAY) from error
        yield Path(folder)


def files_in(archive: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    """Return the entries that are meant, all of them plain files. Raises BrokenFile."""
    entries = [entry for entry in archive.infolist() if not entry.is_dir() and not NOT_MEANT.search(entry.filename)]
    if len(entries) > MOST_FILES:
        raise _refused(name, f"The zip contains {len(entries):,} files.", f"The limit is {MOST_FILES:,}.")
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise _too_much(name)
    seen: set[str] = set()
    for entry in entries:
        if reason := _harm(entry):
            raise _refused(name, f"“{entry.filename}” {reason}.", ANOTHER_WAY)
        if entry.filename in seen:
            raise _refused(name, f"“{entry.filename}” is in the zip twice.", ANOTHER_WAY)
        seen.add(entry.filename)
    return entries


def names_in(path: Path) -> Sequence[tuple[str, int]]:
    """Return the names of the files that are meant, with their sizes; none where it is no zip."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [(entry.filename, entry.file_size) for entry in files_in(archive, path.name)]
    except (zipfile.BadZipFile, BrokenFile):
        return []


def _harm(entry: zipfile.ZipInfo) -> str:
    """Return what is wrong with the entry, empty if nothing is."""
    # `orig_filename`: zipfile cuts `filename` at a NUL, and turns this system's separators into "/".
    parts = PurePosixPath(entry.filename).parts
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if "\\" in entry.orig_filename or "\x00" in entry.orig_filename or ":" in entry.filename:
        return "has a name that is not the name of a file in a folder"
    if entry.filename.startswith("/") or ".." in parts or not parts:
        return "would lie outside the folder"
    if kind and kind != stat.S_IFREG:
        return "is not a plain file but a link or a device"
    if entry.flag_bits & IS_ENCRYPTED:
        return "is password-protected"
    return ""


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path, left: int, name: str) -> int:
    """Write the entry into the folder, and return its bytes. Raises BrokenFile if there are more than `left`."""
    target = folder / entry.filename
    read = 0
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(entry) as packed, target.open("xb") as file:
            while chunk := packed.read(CHUNK):
                read += len(chunk)
                if read > left:
                    raise _too_much(name)
                file.write(chunk)
    except OSError as error:
        raise _refused(name, f"“{entry.filename}” cannot be unpacked ({error.strerror}).", ANOTHER_WAY) from error
    return read


def _too_much(name: str) -> BrokenFile:
    return _refused(
        name,
        f"Unpacked, the zip is larger than {MOST_BYTES_SHOWN}.",
        "Remove what is not needed, or import the folder with manage.py.",
    )


def _refused(name: str, reason: str, remedy: str) -> BrokenFile:
    return BrokenFile(name, [Problem(None, reason, remedy)])
