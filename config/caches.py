"""A cache in files, for what web servers and workers on one `DATA_DIR` share."""

from __future__ import annotations

import hmac
import logging
import os
import pickle
import struct
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.filebased import FileBasedCache

logger = logging.getLogger(__name__)

SIGNATURE_BYTES = 32
# How often a process looks whether the folder is over its limit: at each so-manieth file it writes.
LOOK_EVERY = 20


class SignedFileCache(FileBasedCache):
    """Values in files of `LOCATION`, `OPTIONS["MAX_MB"]` at most; those that were not read for longest go first.

    A value is a pickle, and whoever writes a pickle runs code where it is read. So each is signed, together with its
    key, by SECRET_KEY; what is not is no value.
    """

    # Django's own, which its stubs leave out.
    _dir: str
    _createdir: Callable[[], None]
    _delete: Callable[[str], bool]
    _key_to_file: Callable[[Any, int | None], str]

    def __init__(self, folder: str | Path, params: dict[str, Any]) -> None:
        super().__init__(str(folder), params)
        self._max_bytes = int(params.get("OPTIONS", {}).get("MAX_MB", 512)) * 1024**2
        self._written = 0

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        path = Path(self._key_to_file(key, version))
        body = self._read(path)
        if body is None:
            return default
        with suppress(OSError):
            os.utime(path)
        try:
            return pickle.loads(zlib.decompress(body))  # noqa: S301  # signed
        except Exception:  # written by other code than this: whatever its classes raise
            logger.warning("The cached value in %s can no longer be read.", path.name, exc_info=True)
            return default

    def set(self, key: Any, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        self._createdir()
        path = Path(self._key_to_file(key, version))
        expires = self.get_backend_timeout(timeout)
        packed = zlib.compress(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), 1)
        body = struct.pack("<d", float("inf") if expires is None else expires) + packed
        with tempfile.NamedTemporaryFile(dir=self._dir, delete=False) as file:
            file.write(self._signature(path, body) + body)
        Path(file.name).replace(path)
        self._written += 1
        if self._written % LOOK_EVERY == 1:
            self._cull()

    def touch(self, key: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        missing = object()
        value = self.get(key, missing, version)
        if value is missing:
            return False
        self.set(key, value, timeout, version)
        return True

    def has_key(self, key: Any, version: int | None = None) -> bool:
        return self._read(Path(self._key_to_file(key, version))) is not None

    def _read(self, path: Path) -> bytes | None:
        """Return the packed value that the file holds; None if there is none that is signed and has time left."""
        try:
            stored = path.read_bytes()
        except FileNotFoundError:
            return None
        signature, body = stored[:SIGNATURE_BYTES], stored[SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, self._signature(path, body)):
            logger.warning("%s was not written by this site.", path)
            return None
        if struct.unpack("<d", body[:8])[0] <= time.time():
            self._delete(str(path))
            return None
        return body[8:]

    def _signature(self, path: Path, body: bytes) -> bytes:
        key = b"config.caches" + settings.SECRET_KEY.encode()
        return hmac.digest(key, path.name.encode() + body, "sha256")

    def _cull(self) -> None:
        """Remove what was not read for longest, until what is left fits."""
        found = sorted(self._sizes(), reverse=True)
        total = 0
        for _, size, path in found:
            total += size
            if total > self._max_bytes:
                self._delete(path)

    def _sizes(self) -> Iterator[tuple[float, int, str]]:
        with os.scandir(self._dir) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    found = entry.stat()
                    yield found.st_mtime, found.st_size, entry.path
