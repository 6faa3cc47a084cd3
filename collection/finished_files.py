"""Files that are sent only when they are finished, each of one state of the database.

A file that is sent while it is written arrives as complete where it broke off. Here it is written to a temporary file
first, within one read transaction; a row that cannot be written, or a disk that is full, is an error and no file.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError, OutputWrapper
from django.db import connection, transaction
from django.http import FileResponse
from rest_framework.exceptions import APIException

from collection.extras import missing_for

MOST_BYTES = 8 * 1024**3
# So much of the disk is left to the database and to what people save.
LEFT_FREE = 200 * 1024**2
LOOK_EVERY = 16 * 1024**2


class CannotBeWritten(ValueError):
    """What is stored does not fit what a file says of it."""


class ExportFailed(APIException):
    """The file cannot be made: why, and what to do."""

    status_code = 500
    default_code = "export_failed"


class NoRoom(ExportFailed):
    """The disk, or the limit, has no room for the file."""

    status_code = 507


@contextmanager
def snapshot() -> Iterator[None]:
    """Read one state of the database, whatever is stored meanwhile; nobody waits for it, and nothing can be stored."""
    if connection.in_atomic_block:
        yield
        return
    mode = getattr(connection, "transaction_mode", None)
    if connection.vendor == "sqlite":
        # A transaction that takes the lock for writing would stop everybody else.
        connection.transaction_mode = "DEFERRED"  # type: ignore[attr-defined]
    try:
        with transaction.atomic():
            if connection.vendor == "postgresql":
                connection.cursor().execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    finally:
        if connection.vendor == "sqlite":
            connection.transaction_mode = mode  # type: ignore[attr-defined]


def finished(pieces: Iterable[str] | Iterable[bytes]) -> IO[bytes]:
    """Return a file with all the pieces, at its beginning, which nobody else can read and nothing leaves behind.

    Raises ExportFailed, and NoRoom.
    """
    file = tempfile.TemporaryFile(prefix="assize-export-")  # noqa: SIM115  # closed with the response
    written = looked_at = 0
    try:
        with snapshot():
            for piece in pieces:
                written += file.write(piece.encode() if isinstance(piece, str) else piece)
                if written - looked_at > LOOK_EVERY:
                    looked_at = written
                    _refuse_without_room(written)
    except CannotBeWritten as misplaced:
        file.close()
        raise ExportFailed(
            f"{misplaced} Nothing was exported. Mark these words again, then export again."
        ) from misplaced
    except OSError as full:
        file.close()
        raise NoRoom(f"The file cannot be written: {full.strerror}. Nothing was exported.") from full
    except BaseException as failed:
        file.close()
        if reason := missing_for(failed):
            raise ExportFailed(reason) from failed
        raise
    file.seek(0)
    return file


def _refuse_without_room(written: int) -> None:
    if written > MOST_BYTES:
        raise NoRoom(f"The file is larger than {MOST_BYTES // 1024**3} GB. Nothing was exported. Export parts of it.")
    if shutil.disk_usage(tempfile.gettempdir()).free < LEFT_FREE:
        raise NoRoom("The server’s disk has no room for the file. Nothing was exported. Ask who runs the site.")


def file_response(pieces: Iterable[str] | Iterable[bytes], *, content_type: str, name: str = "") -> FileResponse:
    """Return the response that sends all the pieces, with their length. Raises ExportFailed."""
    return FileResponse(finished(pieces), content_type=content_type, as_attachment=bool(name), filename=name)


def write_text(stdout: OutputWrapper, lines: Iterable[str]) -> None:
    """Write the lines to a command's standard output, once all are there. Raises CommandError."""
    try:
        with finished(lines) as file:
            for line in file:
                stdout.write(line.decode(), ending="")
    except ExportFailed as failed:
        raise CommandError(str(failed.detail)) from failed


def write_bytes(stdout: OutputWrapper, pieces: Iterable[bytes], *, advice: str) -> None:
    """Write a file that is not text to a command's standard output, once it is there.

    Raises CommandError, with the advice where it would go to a terminal.
    """
    out: Any = getattr(stdout._out, "buffer", None)
    if out is None or stdout.isatty():
        raise CommandError(advice)
    try:
        with finished(pieces) as file:
            shutil.copyfileobj(file, out)
    except ExportFailed as failed:
        raise CommandError(str(failed.detail)) from failed
    out.flush()


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give a place for a folder's files: they come into it, over those of their names, once the block has ended.

    If the block fails nothing of it stays. Raises OSError.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as beside:
        yield Path(beside)
        folder.mkdir(exist_ok=True)
        for path in Path(beside).iterdir():
            path.replace(folder / path.name)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all: beside its place, and then there. Raises CommandError."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content.encode() if isinstance(content, str) else content)
        beside.replace(path)
    except OSError as full:
        raise CommandError(f"{path} cannot be written: {full.strerror}. Nothing was written.") from full
    finally:
        beside.unlink(missing_ok=True)
