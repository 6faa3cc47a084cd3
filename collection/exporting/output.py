"""Files that are no text, on a command's standard output."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.management.base import CommandError, OutputWrapper


def write_bytes(stdout: OutputWrapper, pieces: Iterable[bytes], *, advice: str) -> None:
    """Write the pieces. Raises CommandError with the advice where they would go to a terminal."""
    file = getattr(stdout._out, "buffer", None)
    if file is None or stdout.isatty():
        raise CommandError(advice)
    for piece in pieces:
        file.write(piece)
    file.flush()
