"""Which documents a collection names without having their texts: cited, judged, or high in a run's ranking."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from collection.models import Citation, Collection, DocumentFetch, Passage, RankedPassage
from collection.rankings import read_rankings

CITED, JUDGED, RANKED = "cited", "judged", "ranked"


def missing_texts(collection: Collection, *, depth: int) -> dict[str, str]:
    """Return the ids of documents without a text, each with what names it first: a citation, qrels, or a ranking.

    Of every ranking the first `depth` passages count. A passage that came with its id alone is one that qrels name.
    """
    held = dict(collection.passages.values_list("passage_id", "text_sha256"))
    cited = Citation.objects.filter(sentence__report__run__collection=collection).order_by("passage_id")
    missing = {docno: CITED for docno in cited.values_list("passage_id", flat=True).distinct() if not held.get(docno)}
    for docno in sorted(docno for docno, sha256 in held.items() if not sha256):
        missing.setdefault(docno, JUDGED)
    for docno in _ranked(collection, depth):
        if not held.get(docno):
            missing.setdefault(docno, RANKED)
    return missing


def _ranked(collection: Collection, depth: int) -> Iterator[str]:
    if depth:
        for ranking in read_rankings(collection, depth=depth):
            yield from ranking.docnos


def is_named(collection: Collection, docno: str) -> bool:
    """Whether a citation, a ranking or a passage of the collection names this document."""
    return (
        Passage.objects.filter(collection=collection, passage_id=docno).exists()
        or Citation.objects.filter(sentence__report__run__collection=collection, passage_id=docno).exists()
        or RankedPassage.objects.filter(run__collection=collection, passage_id=docno).exists()
    )


def tried_since(collection: Collection, since: datetime) -> set[str]:
    """Return the ids of documents that somebody tried to fetch since then."""
    tried = DocumentFetch.objects.filter(collection=collection, tried_at__gte=since)
    return set(tried.values_list("passage_id", flat=True))
