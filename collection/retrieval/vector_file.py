"""Vectors of texts in a file, each known by the SHA-256 of its text: what was embedded once is not embedded again.

Two files that are only ever added to: the vectors as float32, row by row, and the hashes. A row counts when its hash is
there, so whatever a worker that died left half written is cut off by the next one. One process writes at a time.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from collection.retrieval.embeddings import Vectors
from stats.refusals import Refused

HASH_BYTES, FLOAT_BYTES = 32, 4


class BeingWritten(Refused):
    """Another retrieval adds vectors of the same model."""


class OtherLength(Refused):
    """The model's vectors have another length than those that are kept."""


def key_of(text: str) -> bytes:
    """Return the hash by which a text's vector is known."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class VectorFile:
    """The vectors of one model at one server."""

    def __init__(self, folder: Path, *, server: str, model: str) -> None:
        self.folder = folder / hashlib.sha256(f"{server}\0{model}".encode()).hexdigest()[:32]
        self.rows: dict[bytes, int] = {}
        self.length = 0

    def __enter__(self) -> VectorFile:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = (self.folder / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.close()
            raise BeingWritten("Another retrieval with this model is under way. Start this one behind it.") from error
        self._keys = (self.folder / "keys").open("a+b")
        self._vectors = (self.folder / "vectors").open("a+b")
        self._read()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for file in (self._keys, self._vectors, self._lock):
            file.close()

    def _read(self) -> None:
        named = self.folder / "length"
        self.length = int(named.read_text()) if named.exists() else 0
        row_bytes = self.length * FLOAT_BYTES
        there = os.fstat(self._vectors.fileno()).st_size // row_bytes if row_bytes else 0
        n = min(os.fstat(self._keys.fileno()).st_size // HASH_BYTES, there)
        self._keys.truncate(n * HASH_BYTES)
        self._vectors.truncate(n * row_bytes)
        self._keys.seek(0)
        self.rows = {self._keys.read(HASH_BYTES): row for row in range(n)}

    def add(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Keep these vectors. Raises OtherLength."""
        if not self.length:
            self.length = vectors.shape[1]
            (self.folder / "length").write_text(str(self.length))
        if vectors.shape[1] != self.length:
            raise OtherLength(
                f"The model gives {vectors.shape[1]:,} numbers for a text and gave {self.length:,} before: it is "
                f"another model under the same name. Who runs this site can remove {self.folder}."
            )
        self._vectors.write(vectors.tobytes())
        self._vectors.flush()  # before the hashes, which say that it is there
        self._keys.write(b"".join(keys))
        self._keys.flush()
        for key in keys:
            self.rows[key] = len(self.rows)

    def all(self) -> Vectors:
        """Return the vectors, mapped from the disk."""
        return np.memmap(self._vectors.name, dtype=np.float32, mode="r", shape=(len(self.rows), self.length))
