"""Key facts of documents, as RIFER and EIFRP gather them: which calls are wanted, and what is known of each fact."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from collection.texts.sentences import found_sentences
from judging.building.pipelines import Ask, Document, Done, View
from judging.building.replies import grammars
from judging.building.reply_parsing import NUMBERING, Fault, Parsed, Row

DOCUMENTS = 5
# Facts of a document, where nobody says otherwise.
MOST_FACTS = 10
# What a line says that is no fact (ours: the paper names no rules but gives examples of what is left over).
UNINFORMATIVE = re.compile(
    r"none(\W*$|\s*[.,:;(–—-])|note\s*:|there (is|are) no (other|more|further|additional)\b|here (is|are)\b",
    re.IGNORECASE,
)
NO = re.compile(r"\W*no\b", re.IGNORECASE)
YES_OR_NO = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)
QUOTES = "\"'“”‘’«»"


@dataclass(frozen=True)
class Inference:
    """A later document in which the model saw a fact: by which sentence, and whether it was confident of that.

    `sure` is None while nobody was asked; `sentence` is empty where the model named none that stands there, and
    `named` is what it named instead.
    """

    docno: str
    rank: int
    sentence: str = ""
    sure: bool | None = None
    named: str = ""


@dataclass
class KeyFact:
    """A fact, the document that it was extracted from, and what later ones say of it."""

    number: int
    text: str
    docno: str
    rank: int
    place: int
    seen: list[Inference] = field(default_factory=list)

    @property
    def inferred(self) -> list[Inference]:
        """The documents that cite it too, in their order."""
        return [one for one in self.seen if one.sure]

    @property
    def citations(self) -> list[str]:
        return [self.docno, *(one.docno for one in self.inferred)]

    def as_data(self) -> dict[str, Any]:
        """Return what its sentence is known by in all that follows."""
        told = [{"docno": one.docno, "rank": one.rank, "sentence": one.sentence} for one in self.inferred]
        return {"rank": self.rank, "place": self.place, "docno": self.docno, "fact": self.text, "inferred": told,
                "citations": self.citations}  # fmt: skip


@dataclass
class Gathered:
    """The facts so far, the calls that are wanted up to here, and whether every document was read."""

    facts: list[KeyFact] = field(default_factory=list)
    asked: list[Ask] = field(default_factory=list)
    complete: bool = False


def gathered(documents: Sequence[Document], done: Sequence[Done], request: str, most: int = MOST_FACTS) -> Gathered:
    """Go through the documents by rank, as far as replies are there.

    Every known fact is looked for in the whole document. The sentences that the model is confident of then leave it,
    and facts are extracted from the rest, the first document's from all of it.
    """
    replies = {_named(one.key): one for one in done}
    found = Gathered()
    for rank, document in enumerate(documents[:DOCUMENTS], start=1):
        waiting = False
        for fact in found.facts:
            waiting = not _look_for(fact, document, rank, replies, found, request) or waiting
        if waiting:
            return found
        rest = without([fact.seen[-1].sentence for fact in found.facts if fact.seen[-1].sure], document.text)
        if not any(character.isalpha() for character in rest):
            continue
        key = {"ask": "extract", "rank": rank, "docno": document.docno}
        form = partial(grammars.lines_or_none, most)
        found.asked.append(Ask(key, {"request": request, "text": rest}, form=form))
        if (extracted := replies.get(_named(key))) is None:
            return found
        found.facts += [
            KeyFact(len(found.facts) + 1 + place, row.text, document.docno, rank, place)
            for place, row in enumerate(extracted.rows)
        ]
    found.complete = True
    return found


def _look_for(
    fact: KeyFact, document: Document, rank: int, replies: Mapping[Any, Done], found: Gathered, request: str
) -> bool:
    """Ask whether the document says the fact, and how sure that is. Returns whether both are known."""
    key = {"rank": rank, "docno": document.docno, "fact": fact.number}
    infer = {"ask": "infer", **key}
    values = {"request": request, "fact": fact.text, "text": document.text}
    found.asked.append(Ask(infer, values, prompt="infer", form=partial(_sentence_or_no, document.text)))
    if (inferred := replies.get(_named(infer))) is None:
        return False
    if not inferred.rows:
        fact.seen.append(Inference(document.docno, rank, named=next(iter(inferred.details), "")))
        return True
    sentence = inferred.rows[0].text
    confident = {"ask": "confident", **key}
    values = {"request": request, "fact": fact.text, "sentence": sentence}
    found.asked.append(Ask(confident, values, prompt="confident", form=partial(grammars.one_of, ("Yes", "No"))))
    sure = replies.get(_named(confident))
    fact.seen.append(Inference(document.docno, rank, sentence, None if sure is None else bool(sure.rows)))
    return sure is not None


def _sentence_or_no(text: str) -> str:
    """Return the grammar of one of the text’s sentences, or No."""
    return grammars.one_of(["No", *(text[start:end] for start, end in found_sentences(text))])


def _named(key: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(sorted(key.items()))


def gathered_of(view: View) -> Gathered:
    """Return what the step that gathers has come to."""
    return gathered(view.topic.documents, view.done, view.topic.request, view.options.facts)


def facts_before(view: View) -> list[Row] | None:
    """Return the facts that count for the step behind, in order of extraction, with their citations.

    None where a document was not read: the engine failed, and facts would be missing.
    """
    found = gathered(view.topic.documents, view.earlier, view.topic.request)
    if not found.complete:
        return None
    known = {(fact.rank, fact.place): fact for fact in found.facts}
    in_order = sorted(view.before, key=lambda row: (row.data["rank"], row.data["place"]))
    return [Row(row.text, known[row.data["rank"], row.data["place"]].as_data()) for row in in_order]


def without(sentences: Sequence[str], text: str) -> str:
    """Return the text without these sentences: each leaves once, with the white space behind it."""
    for sentence in dict.fromkeys(sentences):
        before, found, behind = text.partition(sentence)
        if found:
            text = before + (behind.lstrip() if not before or before[-1].isspace() else behind)
    return text.strip()


# --- Replies --------------------------------------------------------------------------------------


def is_uninformative(line: str) -> bool:
    """Whether a line is no fact: none, a note, an announcement, or without a letter."""
    return not any(character.isalpha() for character in line) or bool(UNINFORMATIVE.match(line))


def fact_lines(reply: str, *, known: Sequence[str], most: int) -> Parsed:
    """Return the facts of a reply, one a line; “None” alone is no fault. What the rules leave out is listed."""
    rows: list[Row] = []
    faults: list[Fault] = []
    seen = {fact.casefold() for fact in known}
    lines = [line for line in (_bare(line) for line in reply.splitlines()) if line]
    if not lines:
        return Parsed(faults=(Fault("unreadable", "an empty reply"),))
    for line in lines:
        if line.rstrip(".").casefold() == "none" and len(lines) == 1:
            continue
        if is_uninformative(line):
            faults.append(Fault("uninformative", line))
        elif line.casefold() in seen:
            faults.append(Fault("repeated", line))
        elif len(rows) == most:
            faults.append(Fault("too_many", line))
        else:
            seen.add(line.casefold())
            rows.append(Row(line))
    return Parsed(tuple(rows), tuple(faults))


def inferring_sentence(reply: str, document: str) -> Parsed:
    """Return the document’s sentence that a reply names. “No” is none; so is what does not stand there: a fault."""
    said = reply.strip().strip(QUOTES).strip()
    if not said:
        return Parsed(faults=(Fault("unreadable", "an empty reply"),))
    if said.rstrip(".").casefold() == "no":
        return Parsed()
    if any(character.isalpha() for character in said) and _stands_in(said, document):
        return Parsed((Row(said),))
    return Parsed() if NO.match(said) else Parsed(faults=(Fault("not_verbatim", said),))


def _stands_in(said: str, document: str) -> bool:
    """Whether these words stand there letter for letter, and begin and end no word in the middle."""
    return re.search(rf"(?<!\w){re.escape(said)}(?!\w)", document) is not None


def confidence(reply: str, sentence: str) -> Parsed:
    """Return the sentence where the reply is yes; neither yes nor no is a fault, and counts as no."""
    found = YES_OR_NO.match(reply)
    if found is None:
        return Parsed(faults=(Fault("unreadable", "neither yes nor no"),))
    return Parsed((Row(sentence),)) if found[1].casefold() == "yes" else Parsed()


def relevant_part(reply: str, fact: Row) -> Parsed:
    """Return what is relevant of a fact; “None” is nothing, and what the rules leave out does not count."""
    lines = [line for line in (_bare(line) for line in reply.splitlines()) if line]
    if not lines:
        return Parsed(faults=(Fault("unreadable", "an empty reply"),))
    text = " ".join(line for line in lines if not is_uninformative(line))
    return Parsed((Row(text, {**fact.data, "relevant": text}),)) if text else Parsed()


def ranked(order: Sequence[Any] | None, facts: Sequence[Row]) -> Parsed:
    """Return the facts in the order of the reply: a permutation of their numbers, or of their texts.

    Of what is neither, the numbers and texts that are known come first, then the rest as it stood: a fault (ours).
    """
    rest = dict(enumerate(facts, start=1))
    numbers = {_comparable(row.text): number for number, row in reversed(rest.items())}
    taken: list[int] = []
    for one in order or ():
        number = numbers.get(_comparable(one)) if isinstance(one, str) else one
        if number is None and isinstance(one, str) and one.strip().isdigit():
            number = int(one)
        if isinstance(number, int) and not isinstance(number, bool) and number in rest and number not in taken:
            taken.append(number)
    complete = order is not None and len(order) == len(taken) == len(facts)
    left = [number for number in rest if number not in taken]
    faults = () if complete else (Fault("no_permutation", f"{len(taken)} of {len(facts)} known, {len(left)} appended"),)
    rows = (Row(rest[n].text, {**rest[n].data, "relevance": at}) for at, n in enumerate([*taken, *left], start=1))
    return Parsed(tuple(rows), faults)


def smoothed(reply: str, fact: Row) -> Parsed:
    """Return the sentence as it now stands; where there is none in the reply, the fact stays as it was: a fault."""
    text = " ".join(reply.split()).strip(QUOTES).strip()
    if not any(character.isalpha() for character in text):
        return Parsed((fact,), (Fault("unreadable", "no sentence"),))
    return Parsed((Row(text, {**fact.data, "smoothed": text}),))


def _bare(line: str) -> str:
    return " ".join(NUMBERING.sub("", line.strip()).split())


def _comparable(text: str) -> str:
    return " ".join(text.split()).rstrip(".").casefold()
