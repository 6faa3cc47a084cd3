"""How far the texts of a collection's documents are here, for its page, the API and the command."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from collection.documents.missing import CITED, JUDGED, RANKED, missing_texts
from collection.models import Collection, DocumentFetch, DocumentSource

DEPTH = 10


@dataclass(frozen=True)
class Status:
    """`missing`: ids without a text, with what names each first. `fetched`, `failed`: of those tried since the start.

    `left` were not tried since then.
    """

    missing: dict[str, str]
    fetched: int
    failed: int
    left: int

    @property
    def tried(self) -> int:
        return self.fetched + self.failed

    @property
    def all_of_it(self) -> int:
        return self.tried + self.left

    @property
    def by_reason(self) -> list[tuple[str, int]]:
        """How many are missing by what names them: cited, judged, ranked."""
        n = Counter(self.missing.values())
        return [(name, n[name]) for name in (CITED, JUDGED, RANKED)]

    def as_dict(self) -> dict[str, object]:
        counts = {"fetched": self.fetched, "failed": self.failed, "left": self.left}
        return {"missing": len(self.missing), "missing_by": dict(self.by_reason), **counts}


def status_of(collection: Collection, source: DocumentSource | None) -> Status:
    """Return what is missing, and how far the fetching is that was started last."""
    missing = missing_texts(collection, depth=source.depth if source else DEPTH)
    if source is None or source.started_at is None:
        return Status(missing, 0, 0, len(missing))
    since = DocumentFetch.objects.filter(collection=collection, tried_at__gte=source.started_at)
    tried = dict(since.values_list("passage_id", "problem"))
    failed = sum(bool(problem) for problem in tried.values())
    return Status(missing, len(tried) - failed, failed, len(missing.keys() - tried.keys()))
