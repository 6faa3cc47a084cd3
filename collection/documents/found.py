"""A document that a source gave, why one could not be had, and how its text is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from collection.formats.problems import BrokenLine
from collection.formats.values import UNSTORABLE, strict_json

LONGEST_TITLE = 500


@dataclass(frozen=True)
class Found:
    """A document. `sha256` is of the bytes that came."""

    text: str
    title: str
    sha256: str


class FetchFailed(Exception):
    """This document could not be had, and why."""


class SourceFailed(FetchFailed):
    """The source is at fault, not the document: others will not be had either."""


def text_in(content: bytes, *, text_field: str = "", title_field: str = "") -> tuple[str, str]:
    """Return the title, or nothing, and the text: of plain text the whole, of JSON its fields. Raises FetchFailed.

    Fields of fields are named with a dot between, as in `_source.text`.
    """
    try:
        written = content.decode()
        if not text_field:
            return "", _storable(written, "document")
        row = strict_json(written)
    except UnicodeDecodeError as error:
        raise FetchFailed(f"What came is not UTF-8 (byte {error.start + 1}).") from error
    except BrokenLine as broken:
        raise FetchFailed(f"What came cannot be read: {broken.reason}") from broken
    title = field_of(row, title_field) if title_field else ""
    text = field_of(row, text_field)
    if not isinstance(text, str):
        raise FetchFailed(f"What came has no text under “{text_field}”.")
    return UNSTORABLE.sub("", title)[:LONGEST_TITLE] if isinstance(title, str) else "", _storable(
        text, f"field “{text_field}”"
    )


def field_of(row: Any, name: str) -> Any:
    """Return what stands under this name, or under its parts from the outside in; None if nothing does."""
    if isinstance(row, dict) and name in row:
        return row[name]
    for part in name.split("."):
        row = row.get(part) if isinstance(row, dict) else None
    return row


def _storable(text: str, what: str) -> str:
    if not text.strip():
        raise FetchFailed(f"The {what} is empty.")
    if UNSTORABLE.search(text):
        raise FetchFailed(f"The {what} contains characters that are not text.")
    return text
