"""Rows read from a model's reply, and what is wrong with it. Nothing is repaired or filled in."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# What can be wrong with a reply, in words.
FAULTS = {
    "engine_error": "the engine failed",
    "too_long": "the prompt is longer than the model reads",
    "refused": "refused",
    "reads_as_refusal": "reads as a refusal, rejected until somebody accepts it",
    "truncated": "cut off at the token limit",
    "unreadable": "not in the form that was asked for",
    "too_few": "fewer than asked for",
    "too_many": "more than asked for, the rest left out",
    "repeated": "says the same twice, the second left out",
    "not_verbatim": "a span that does not stand in the document",
    "no_span": "a point without a span",
    "lost": "an original that no statement stands for",
    "doubled": "an original that two statements stand for",
    "unknown": "a number that no original has",
    "bad_label": "a label that was not offered",
    "cut": "longer than allowed, the rest cut off",
    "context_cut": "passages over the context’s limit of tokens, left out of the prompt",
    "too_many_citations": "more citations of a sentence than allowed, those ranked last left out",
    "no_such_passage": "a citation of a passage that was not offered",
    "uninformative": "a line that is no fact, left out",
    "no_permutation": "an order that does not name everything once",
    "unscored": "no score: the model gave no probabilities of yes and no",
}

NUMBERING = re.compile(r"^\s*(?:\(?\d{1,3}[.):]|[-*•]|[Qq]uestion\s+\d{1,3}\s*[.:])\s+")
POINT = re.compile(r"<point_start>(.*?)<point_end>", re.DOTALL)
SPAN = re.compile(r"<span_start>(.*?)<span_end>", re.DOTALL)
NUMBERS = re.compile(r"\[\s*(\d+(?:\s*[,;]\s*\d+)*)\s*\]")
FENCE = re.compile(r"^```(?:json)?\s*\n(.*?)\n?```$", re.DOTALL)
LONGEST_ROW = 20_000


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a reply: a kind of FAULTS, and what exactly."""

    kind: str
    detail: str = ""

    def as_stored(self) -> dict[str, str]:
        return {"kind": self.kind, "detail": self.detail[:500]}


@dataclass(frozen=True)
class Row:
    """One thing that a reply holds."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def as_stored(self) -> dict[str, Any]:
        return {"text": self.text, "data": dict(self.data)}


@dataclass(frozen=True)
class Parsed:
    """What was read of a reply."""

    rows: tuple[Row, ...] = ()
    faults: tuple[Fault, ...] = ()


def tagged(reply: str, tag: str, *, count: int | None = None) -> Parsed:
    """Return what stands between `<tag>` and `</tag>`, numbering stripped; the first `count`, if that is given.

    A text whose end tag is missing may be cut off in the middle: it is left out. Fewer than `count`, none at all and
    repeats are faults. A prompt may end with the first `<tag>`, as papers’ do: then the reply begins within it.
    """
    if _begins_within(reply, tag):
        reply = f"<{tag}>{reply}"
    found = [_without_number(text) for text in re.findall(rf"<{tag}>(.*?)</{tag}>", reply, re.DOTALL | re.IGNORECASE)]
    return _counted([text for text in found if text], count, unreadable=f"no <{tag}>…</{tag}>")


def first_tagged(reply: str, tag: str) -> Parsed:
    """Return the text before the first `</tag>`, after the `<tag>` if there is one; a prompt may end with that.

    Without `</tag>`, or empty, it is unreadable.
    """
    before, end, _ = re.sub(rf"</{tag}>", f"</{tag}>", reply, flags=re.IGNORECASE).partition(f"</{tag}>")
    text = " ".join(re.split(rf"<{tag}>", before, flags=re.IGNORECASE)[-1].split())
    if not end or not text:
        return Parsed(faults=(Fault("unreadable", f"nothing before </{tag}>" if end else f"no </{tag}>"),))
    return Parsed((Row(text[:LONGEST_ROW]),))


def _begins_within(reply: str, tag: str) -> bool:
    """Whether the first of the tags ends something."""
    first = re.search(rf"<(/?){tag}>", reply, re.IGNORECASE)
    return bool(first and first[1])


def json_list(reply: str, name: str, *, count: int | None = None, most: int | None = None) -> Parsed:
    """Return the texts of a JSON object's list, as `{"name": ["…"]}`; a code fence around it is allowed."""
    try:
        said = json.loads(_unfenced(reply))
        listed = said[name]
    except (ValueError, KeyError, TypeError, RecursionError):
        return Parsed(faults=(Fault("unreadable", f"not JSON with a list “{name}”"),))
    if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
        return Parsed(faults=(Fault("unreadable", f"“{name}” is not a list of texts"),))
    texts = [text.strip() for text in listed if text.strip()]
    return _counted(texts, count, most=most, unreadable="" if most else f"“{name}” is empty")


def labels(reply: str, name: str, *, offered: Sequence[str], count: int) -> tuple[list[str], tuple[Fault, ...]]:
    """Return a label for each of `count` things, empty where it is none of those offered or missing.

    Labels that are too few or too many cannot be told whose they are: then there is none.
    """
    parsed = json_list_raw(reply, name)
    if parsed is None:
        return [""] * count, (Fault("unreadable", f"not JSON with a list “{name}”"),)
    if len(parsed) != count:
        return [""] * count, (
            Fault("too_few" if len(parsed) < count else "too_many", f"{len(parsed)} labels for {count}"),
        )
    found, faults = [], []
    for number, label in enumerate(parsed, start=1):
        known = label.strip().casefold() if isinstance(label, str) else ""
        found.append(known if known in offered else "")
        if known not in offered:
            faults.append(Fault("bad_label", f"{number}: {label}"))
    return found, tuple(faults)


def json_list_raw(reply: str, name: str) -> list[Any] | None:
    """Return the JSON object's list as it is; None if there is none."""
    try:
        listed = json.loads(_unfenced(reply))[name]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return listed if isinstance(listed, list) else None


def json_object(reply: str) -> dict[str, Any] | None:
    """Return the JSON object of a reply; None if it is none."""
    try:
        said = json.loads(_unfenced(reply))
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def bracketed_number(reply: str, least: int, most: int) -> int | None:
    """Return the whole number in brackets, as in `[3]`; None without one from `least` to `most`, or with several."""
    found = set(map(int, re.findall(r"\[\s*(\d{1,9})\s*\]", reply)))
    (number,) = found if len(found) == 1 else (None,)
    return number if number is not None and least <= number <= most else None


def with_probabilities(text: str, found: Mapping[str, float]) -> str:
    """Write a choice with the log-probabilities (nats) of all choices under it, as `share_of` reads it."""
    return f"{text.strip()}\n{json.dumps(dict(found), sort_keys=True)}"


def share_of(reply: str, choice: str, other: str) -> float | None:
    """Return e^choice / (e^choice + e^other) of log-probabilities under a reply (LONG²RAG, section 3.3).

    None where the reply has none of them.
    """
    try:
        found = json.loads(reply.rpartition("\n")[2])
        difference = float(found[other]) - float(found[choice])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if math.isnan(difference):
        return None
    return 1 / (1 + math.exp(difference)) if difference < 700 else 0.0


def points_with_spans(
    reply: str, document: str, *, docno: str, known: Collection[str] = (), without_spans: bool = False
) -> Parsed:
    """Return LONG²RAG's points, each with the spans that stand in the document letter for letter.

    A span that does not is a fault and is left out; so is a point without any span that does. A point that is `known`,
    or stands twice, is a repeat. “None” is no point and no fault. `without_spans` keeps points of which no span stands
    there: they are faults, and rows.
    """
    marks = list(POINT.finditer(reply))
    if not marks:
        nothing = reply.strip().rstrip(".").casefold() == "none"
        return Parsed(faults=() if nothing else (Fault("unreadable", "no <point_start>…<point_end>"),))
    rows: list[Row] = []
    faults: list[Fault] = []
    seen = {text.casefold() for text in known}
    for number, mark in enumerate(marks):
        until = marks[number + 1].start() if number + 1 < len(marks) else len(reply)
        text = mark[1].strip()
        quotes = [span[1].strip() for span in SPAN.finditer(reply, mark.end(), until)]
        if not text:
            faults.append(Fault("unreadable", f"point {number + 1} is empty"))
            continue
        if text.casefold() in seen:
            faults.append(Fault("repeated", text))
            continue
        if not any(quotes):
            faults.append(Fault("no_span", text))
            if not without_spans:
                continue
        spans = []
        for quote in filter(None, quotes):
            start = document.find(quote)
            if start < 0:
                faults.append(Fault("not_verbatim", quote))
            else:
                spans.append({"docno": docno, "start": start, "end": start + len(quote), "quote": quote})
        if spans or without_spans:
            seen.add(text.casefold())
            rows.append(Row(text, {"spans": spans}))
    return Parsed(tuple(rows), tuple(faults))


def merged(reply: str, originals: Sequence[Row]) -> Parsed:
    """Return the statements of an aggregation, with the originals of each and their spans.

    Every original must stand behind exactly one statement, and none else: a fault otherwise.
    """
    rows: list[Row] = []
    used: Counter[int] = Counter()
    for line in filter(str.strip, reply.splitlines()):
        numbers = NUMBERS.findall(line)
        text = _without_number(NUMBERS.sub("", line))
        if not numbers or not text:
            return Parsed(faults=(Fault("unreadable", line.strip()),))
        behind = [int(number) for group in numbers for number in re.findall(r"\d+", group)]
        used.update(behind)
        known = [originals[number - 1] for number in dict.fromkeys(behind) if 1 <= number <= len(originals)]
        spans = [span for original in known for span in original.data.get("spans", [])]
        rows.append(Row(text, {"originals": behind, "spans": spans}))
    there = range(1, len(originals) + 1)
    faults = [
        *(Fault("unknown", str(number)) for number in sorted(used) if number not in there),
        *(Fault("doubled", str(number)) for number in there if used[number] > 1),
        *(Fault("lost", str(number)) for number in there if not used[number]),
    ]
    return Parsed(() if faults else tuple(rows), tuple(faults))


def _counted(texts: Sequence[str], count: int | None, *, unreadable: str, most: int | None = None) -> Parsed:
    """Keep the first of what says the same and as many as were asked for; say what was wrong."""
    if not texts:
        return Parsed(faults=(Fault("unreadable", unreadable),) if unreadable else ())
    faults, kept, seen = [], [], set()
    for text in texts:
        if text.casefold() in seen:
            faults.append(Fault("repeated", text))
            continue
        seen.add(text.casefold())
        kept.append(text[:LONGEST_ROW])
    limit = count if count is not None else most
    if count is not None and len(kept) < count:
        faults.append(Fault("too_few", f"{len(kept)} of {count}"))
    if limit is not None and len(kept) > limit:
        faults.append(Fault("too_many", f"{len(kept)} for {limit}"))
        kept = kept[:limit]
    return Parsed(tuple(Row(text) for text in kept), tuple(faults))


def _without_number(text: str) -> str:
    return " ".join(NUMBERING.sub("", text.strip()).split())


def _unfenced(reply: str) -> str:
    fenced = FENCE.match(reply.strip())
    return fenced[1] if fenced else reply.strip()
