"""The source that a collection names: set, shown without its key, and opened for fetching."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from django.core.exceptions import ValidationError
from django.db import transaction

from collection.accounts.sealing import KEY, SealBroken, is_key, sealed, unsealed
from collection.documents.folder_source import FolderDocuments, folder_named
from collection.documents.found import Found, SourceFailed
from collection.documents.http_source import HttpDocuments, check_template
from collection.documents.ir_dataset_source import DatasetDocuments
from collection.models import Collection, DocumentSource

SALT = "collection.documents.key"
Kind = DocumentSource.Kind


class NoSource(Exception):
    """The collection names no source of documents."""


class Documents(Protocol):
    """What every kind of source can do."""

    def fetch(self, docno: str) -> Found: ...
    def close(self) -> None: ...


def source_of(collection: Collection) -> DocumentSource | None:
    """Return the collection's source, if it names one."""
    return DocumentSource.objects.filter(collection=collection).first()


@transaction.atomic
def set_source(
    *,
    collection: Collection,
    kind: str,
    address: str,
    text_field: str = "",
    title_field: str = "",
    key: str = "",
    depth: int = 10,
) -> DocumentSource:
    """Name where the collection's missing texts come from, in the place of any earlier source.

    Without a `key` that of an earlier source is kept as long as the address is the same. What is being fetched stops.
    Raises ValidationError.
    """
    check(kind, address, text_field=text_field, key=key)
    former = DocumentSource.objects.select_for_update().filter(collection=collection).first()
    same = former is not None and (former.kind, former.address) == (kind, address)
    kept = former.sealed if former and same else ""
    source = former or DocumentSource(collection=collection)
    source.kind, source.address, source.depth = kind, address, depth
    source.text_field, source.title_field = text_field, title_field
    source.sealed = sealed(key, salt=SALT) if key else kept
    source.state, source.problem, source.generation = DocumentSource.State.IDLE, "", source.generation + 1
    source.full_clean()
    source.save()
    return source


def remove_source(*, collection: Collection) -> None:
    """Name no source any more. Texts that were fetched are kept."""
    DocumentSource.objects.filter(collection=collection).delete()


def check(kind: str, address: str, *, text_field: str = "", key: str = "") -> None:
    """Raise ValidationError, by field, for what cannot be a source."""
    if kind not in Kind.values:
        raise ValidationError({"kind": f"Choose one of {', '.join(Kind.values)}."})
    try:
        if kind == Kind.HTTP:
            check_template(address)
        elif kind == Kind.FOLDER:
            folder_named(address)
    except ValidationError as invalid:
        raise ValidationError({"address": invalid.messages}) from invalid
    if kind == Kind.IR_DATASETS and text_field:
        raise ValidationError({"text_field": "The package says itself which field is the text."})
    if key and kind != Kind.HTTP:
        raise ValidationError({"key": "Only HTTP servers take a key."})
    if key and not is_key(key):
        raise ValidationError({"key": KEY})


@contextmanager
def opened(source: DocumentSource) -> Iterator[Documents]:
    """Open the source. Raises SourceFailed."""
    documents = _open(source)
    try:
        yield documents
    finally:
        documents.close()


def _open(source: DocumentSource) -> Documents:
    fields = {"text_field": source.text_field, "title_field": source.title_field}
    if source.kind == Kind.FOLDER:
        return FolderDocuments(source.address, **fields)
    if source.kind == Kind.IR_DATASETS:
        return DatasetDocuments(source.address)
    try:
        key = unsealed(source.sealed, salt=SALT) if source.sealed else ""
    except SealBroken as broken:
        raise SourceFailed(f"The key of the source is lost. {broken}") from broken
    return HttpDocuments(source.address, key=key, **fields)
