"""A report as a model wrote it: the text without its `[n]`, cut to length, and what each sentence cites."""

from __future__ import annotations

import re
from collections.abc import Sequence

from collection.texts.report_sentences import SPLITTER
from collection.texts.sentences import found_sentences
from judging.building.reply_parsing import Fault, Parsed, Row
from stats.measures.words import WHITESPACE, Tokenizer

CITED = re.compile(r"[ \t]*\[\s*(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*\]")


def cited_text(
    reply: str,
    offered: Sequence[str] | None,
    *,
    most_words: int,
    tokenizer: Tokenizer = WHITESPACE,
    most_citations: int = 3,
) -> Parsed:
    """Return a report as one row: its text, and `sentences` with the documents that they cite.

    `[n]` is the n-th of the documents `offered` and is no part of the text (CRUX’s published code); None: there were
    none to cite. Words are counted by the tokenizer, after that; what is over `most_words` is cut off. Of the
    documents that a sentence cites those ranked first are kept, at most `most_citations`.
    """
    text, marks = _without_marks(reply.strip())
    if not text:
        return Parsed(faults=(Fault("unreadable", "an empty report"),))
    faults = []
    if (n_words := tokenizer.count([text])) > most_words:
        faults.append(Fault("cut", f"{n_words:,} words of at most {most_words:,}"))
        text = tokenizer.cut(text, most_words)
        marks = [mark for mark in marks if mark[0] <= len(text)]
    if offered is None:
        return Parsed((Row(text),), tuple(faults))
    places = list(found_sentences(text))
    cited: list[list[str]] = [[] for _ in places]
    for at, number in marks:
        if not 1 <= number <= len(offered):
            faults.append(Fault("no_such_passage", f"[{number}] of {len(offered)}"))
        elif offered[number - 1] not in (of := cited[_sentence_at(places, at)]):
            of.append(offered[number - 1])
    for place, docnos in enumerate(cited):
        cited[place], dropped = best_cited(docnos, offered, most_citations)
        faults += over_cited(place + 1, dropped)
    sentences = [
        {"text": text[start:end], "citations": docnos, "splitter": SPLITTER}
        for (start, end), docnos in zip(places, cited, strict=True)
    ]
    return Parsed((Row(text, {"sentences": sentences}),), tuple(faults))


def best_cited(docnos: Sequence[str], ranked: Sequence[str], most: int) -> tuple[list[str], list[str]]:
    """Return the citations to keep, at most so many, and those to drop: the last of `ranked`. Both keep their order."""
    best = set(sorted(docnos, key=list(ranked).index)[:most])
    return [one for one in docnos if one in best], [one for one in docnos if one not in best]


def over_cited(sentence: int, dropped: Sequence[str]) -> list[Fault]:
    """Return a fault for each citation that a sentence, counted from 1, may not have."""
    return [Fault("too_many_citations", f"sentence {sentence}: {docno}") for docno in dropped]


def _without_marks(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text without its marks, and each number with the place where its mark stood."""
    kept, marks, last, length = [], [], 0, 0
    for found in CITED.finditer(text):
        before = text[last : found.start()]
        kept.append(before)
        length += len(before)
        marks += [(length, int(number)) for number in re.findall(r"\d+", found[1])]
        last = found.end()
    kept.append(text[last:])
    whole = "".join(kept)
    lead = len(whole) - len(whole.lstrip())
    return whole.strip(), [(max(0, at - lead), number) for at, number in marks]


def _sentence_at(places: Sequence[tuple[int, int]], at: int) -> int:
    """Return the sentence that a mark belongs to: the one it stands in or behind, else the one that it begins."""
    behind = [number for number, (start, _) in enumerate(places) if start < at]
    return behind[-1] if behind else 0
