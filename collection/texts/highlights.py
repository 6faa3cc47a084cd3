"""A text cut where highlights begin and end, so that a page can show who marked what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Piece:
    """A stretch of a text that the same marked; nobody, where `names` is empty."""

    text: str
    names: tuple[str, ...]


def pieces_of(text: str, marks: Iterable[tuple[int | None, int | None, str]]) -> Iterator[Piece]:
    """Yield the text in order, cut wherever a mark begins or ends.

    A mark is its span in code points, end-exclusive, with the name of whose it is. One without a place in
    the text (None) cuts nothing.
    """
    placed = [(start, end, name) for start, end, name in marks if start is not None and end is not None]
    cuts = sorted({0, len(text), *(place for start, end, _ in placed for place in (start, end) if place <= len(text))})
    for start, end in pairwise(cuts):
        names = dict.fromkeys(name for first, last, name in placed if first <= start and end <= last)
        yield Piece(text[start:end], tuple(names))
