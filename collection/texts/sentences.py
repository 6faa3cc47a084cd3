"""The sentences of a passage: the file's own where it has them, else found by a rule.

The file's own stand in the passage's attributes as `"sentences": [[start, end], …]`, in code points of its
text, end-exclusive, in their order. The rule: a sentence ends at a line end, or after `.`, `!`, `?` or `…` (with the
quotation marks and brackets that close there) where white space and then anything but a small letter follows; the
full stops of CJK scripts end one wherever they stand. Initials and common abbreviations end none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from collection.judgments.services import Span
from collection.models import Passage, Study

SENTENCES = "sentences"
# Of a study's attributes: whether answers are made of sentences alone, without the title.
WITHOUT_TITLE = "without_title"
END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？]+[」』”’）]*|[\r\n]+")
FOLLOWS_SMALL = re.compile(r"\s+[\"'“‘(\[]*[a-zß-öø-ÿα-ωа-я]")
ABBREVIATION = re.compile(
    r"(?:^|[\s(\[“‘\"'])"
    r"(?:[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]|Mr|Mrs|Ms|Dr|Prof|Rep|Sen|Gov|Gen|Col|Lt|Sgt|St|Jr|Sr|vs|No|Nos|Fig|approx|ca|cf|e\.g|i\.e|(?:\w\.)+\w)\.$"
)


def sentences_of(passage: Passage) -> list[Span]:
    """Return the passage's sentences in their order, without the white space around them."""
    text = passage.text or ""
    stored = passage.attributes.get(SENTENCES)
    places = stored if are_places(stored, len(text)) else list(found_sentences(text))
    return [Span(start, end, text[start:end]) for start, end in places]


def sentences_to_choose(passage: Passage, study: Study) -> list[Span]:
    """Return what an answer may be made of: the passage's title, where the study offers it, and its sentences."""
    offered = passage.title.strip() and not study.attributes.get(WITHOUT_TITLE)
    title = [Span(0, 0, passage.title)] if offered else []
    return [*title, *sentences_of(passage)]


def are_places(found: Any, length: int) -> bool:
    """Whether these are pairs of offsets that rise within a text of this length."""
    if not isinstance(found, list) or not found:
        return False
    last = 0
    for place in found:
        if not isinstance(place, list) or len(place) != 2 or not all(type(offset) is int for offset in place):
            return False
        start, end = place
        if not last <= start < end <= length:
            return False
        last = end
    return True


def found_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence stands, by the rule."""
    start = 0
    for end in END.finditer(text):
        if end[0][0] in "\r\n。！？" or ends_a_sentence(text, start, end):
            yield from _trimmed(text, start, end.end())
            start = end.end()
    yield from _trimmed(text, start, len(text))


def ends_a_sentence(text: str, start: int, end: re.Match[str]) -> bool:
    """Whether a sentence that began at `start` ends with these marks."""
    if FOLLOWS_SMALL.match(text, end.end()):
        return False
    return not (end[0] == "." and ABBREVIATION.search(text[start : end.end()]))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


def are_consecutive(chosen: Sequence[tuple[int, int]], sentences: Sequence[Span]) -> bool:
    """Whether no sentence stands between two chosen ones that is not chosen itself (CLAPNQ's rule for round 2).

    `chosen` are the places of the chosen sentences. One that is none of the passage's sentences counts as
    touching the sentences that it overlaps.
    """
    touched = [
        number
        for number, sentence in enumerate(sentences)
        if any(start < sentence.end and end > sentence.start for start, end in chosen)
    ]
    return not touched or touched[-1] - touched[0] + 1 == len(touched)
