"""Whose imported judgments are, and where a judge's come from: the file's name, its hash, and the tool that graded."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from collection.judgments.recording import imported_rater
from collection.models import Collection, Rater


@dataclass(frozen=True)
class QrelsRater:
    """Whose judgments qrels, or the relevance in a graded file, are."""

    name: str
    kind: str = Rater.Kind.ASSESSOR

    def stored(self, collection: Collection, *, source: str) -> Rater:
        """Return the collection's rater, made if new. Raises ValidationError."""
        return imported_rater(collection, kind=self.kind, name=self.name, source=source)


def judge_of_a_file(collection: Collection, *, name: str, tool: str, path: Path, file_name: str = "") -> Rater:
    """Return the collection's judge of this name, made if new, with this file among those its grades come from."""
    file_name = file_name or path.name
    rater = imported_rater(collection, kind=Rater.Kind.JUDGE, name=name, source=f"{tool}: {file_name}")
    origin = {"file": file_name, "sha256": sha256_of(path), "tool": tool}
    files = rater.attributes.get("files", [])
    if origin not in files:
        rater.attributes = {**rater.attributes, "files": [*files, origin]}
        rater.save(update_fields=["attributes"])
    return rater


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of the file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
