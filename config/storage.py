"""How static files are named and compressed."""

from __future__ import annotations

import re
from typing import Any

from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

# Comments that begin a line, and indentation: a sixth of what goes over the wire. Nothing within a line is touched, so
# no string is; therefore our modules hold no text of several lines (tests/design/test_static_files.py).
FOR_READERS = re.compile(rb"^[ \t]*(?:/\*.*?\*/[ \t]*\n|//[^\n]*\n|\n|(?=[^ \t\n]))", re.MULTILINE | re.DOTALL)


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Names by content hash, so browsers keep files for ever: inside the imports of our own modules too.

    Of our own alone: what packages bring has imports in its comments, which name no file. Our own are stripped of what
    stands in them for readers.
    """

    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("js/*.js", CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1]),
    )

    # One for each module in the longest chain of imports.
    max_post_process_passes = 20

    def _save(self, name: str, content: Any) -> str:
        if name.startswith(("js/", "css/")) and name.endswith((".js", ".css")):
            content = ContentFile(FOR_READERS.sub(b"", b"".join(content.chunks())))
        return str(super()._save(name, content))
