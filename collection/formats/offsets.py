"""Places in a text: in code points with us, in bytes of UTF-8 or units of UTF-16 in files that say so."""

from __future__ import annotations

from typing import Any

from collection.formats.problems import BrokenLine
from collection.formats.values import shown

UTF8, UTF16, CODE_POINTS = "utf-8", "utf-16", ""
NAMES = {
    "code_points": CODE_POINTS,
    "codepoints": CODE_POINTS,
    "characters": CODE_POINTS,
    "unicode": CODE_POINTS,
    "python": CODE_POINTS,
    "utf-32": CODE_POINTS,
    "utf-8": UTF8,
    "utf8": UTF8,
    "bytes": UTF8,
    "utf-16": UTF16,
    "utf16": UTF16,
    "utf-16-le": UTF16,
    "javascript": UTF16,
}
WRITTEN = {CODE_POINTS: "code_points", UTF8: "utf-8", UTF16: "utf-16"}
CODECS = {UTF8: "utf-8", UTF16: "utf-16-le"}
UNIT_BYTES = {UTF8: 1, UTF16: 2}


def encoding_named(name: Any) -> str:
    """Return what a file counts whose offsets say so by this name. Raises BrokenLine for a name nobody knows."""
    found = NAMES.get(name.strip().lower().replace(" ", "_")) if isinstance(name, str) else None
    if found is None:
        raise BrokenLine(f"The encoding {shown(name)} is not known.", f"It is one of {', '.join(NAMES)}.")
    return found


def code_points(text: str, offset: int, encoding: str) -> int:
    """Return the offset in code points. Raises BrokenLine where it lies outside the text or within a character."""
    if encoding == CODE_POINTS or text.isascii():
        place, inside = offset, offset <= len(text)
    else:
        encoded, upto = text.encode(CODECS[encoding]), offset * UNIT_BYTES[encoding]
        try:
            place, inside = len(encoded[:upto].decode(CODECS[encoding])), upto <= len(encoded)
        except UnicodeDecodeError:
            inside = False
    if not inside:
        raise BrokenLine(f"{offset} is not a place in the text, counted as {WRITTEN[encoding]}.", "Correct the offset.")
    return place


def counted_as(text: str, place: int, encoding: str) -> int:
    """Return a place in code points as a file with this encoding counts it."""
    if encoding == CODE_POINTS or text.isascii():
        return place
    return len(text[:place].encode(CODECS[encoding])) // UNIT_BYTES[encoding]
