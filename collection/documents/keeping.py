"""Fetched texts become passages, once each: what is here stays as it is, and another text is reported."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from collection.documents.found import Found
from collection.models import Collection, DocumentFetch, DocumentSource, Passage
from collection.models.texts import text_hash

OTHER = "The source now has another text (SHA-256 {}). The text that is here stays."


@transaction.atomic
def keep_document(*, collection: Collection, source: DocumentSource, docno: str, found: Found, at: datetime) -> bool:
    """Keep a fetched text as a passage unless its passage has one. Returns whether it was kept now.

    Of two that fetch the same document at the same time, one keeps it. Where the text here is another, that is noted.
    """
    sha256 = text_hash(found.text)
    filled = {"text": found.text, "text_sha256": sha256}
    passage, kept = Passage.objects.get_or_create(
        collection=collection, passage_id=docno, defaults={"text": found.text, "title": found.title}
    )
    if not kept:
        if found.title and not passage.title:
            filled["title"] = found.title
        kept = bool(Passage.objects.filter(pk=passage.pk, text_sha256="").update(**filled))
    if kept:
        note = {"source": str(source), "sha256": found.sha256, "fetched_at": at, "problem": ""}
    else:
        stored = Passage.objects.values_list("text_sha256", flat=True).get(pk=passage.pk)
        note = {"problem": "" if stored == sha256 else OTHER.format(sha256)}
    _note(collection, docno, at, note)
    return kept


def note_failure(*, collection: Collection, docno: str, reason: str, at: datetime) -> None:
    """Keep why a document could not be had. What is known of a text that came earlier stays."""
    _note(collection, docno, at, {"problem": reason})


def _note(collection: Collection, docno: str, at: datetime, note: dict[str, object]) -> None:
    DocumentFetch.objects.update_or_create(collection=collection, passage_id=docno, defaults={"tried_at": at, **note})
