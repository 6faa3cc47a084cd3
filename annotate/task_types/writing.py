"""Answers in the assessor's own words: what both rounds of CLAPNQ's task insist on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext, gettext_lazy
from django_stubs_ext import StrOrPromise

from collection.judgments.services import Span, Written
from collection.languages.numbers import grouped
from collection.models import AnswerToRevise, Item, Passage
from collection.texts.sentences import sentences_to_choose

CONFIRMATIONS: dict[str, StrOrPromise] = {
    "faithful": gettext_lazy("All that the answer says stands in the passage."),
    "concise": gettext_lazy("It answers the question completely, and says nothing else."),
    "alone": gettext_lazy("It reads well and can be understood without the passage."),
    "grammatical": gettext_lazy("Its grammar is correct."),
}
# Where an answer covers a part of the question, nobody can confirm that it is complete.
OF_A_PART: dict[str, StrOrPromise] = {
    "concise": gettext_lazy("It answers as much of the question as the passage does, and says nothing else.")
}
MOST_CHARACTERS = 10_000


@dataclass(frozen=True)
class Writing:
    """What a criterion asks beside its grade: an answer, the sentences it is made of, and confirmations.

    `grades` are those that take an answer; `wordings` are what is confirmed under one of them in other words, by
    grade. `kept` is the one that hands the answer of round 1 in as it was
    seen, `changed` the one that hands in another.
    """

    grades: frozenset[float]
    kept: float | None = None
    changed: float | None = None
    wordings: Mapping[float, Mapping[str, StrOrPromise]] = field(default_factory=dict)

    def refusal(self, item: Item, grade: float | None, spans: Sequence[Span], written: Written) -> str:
        """Say why a choice cannot be kept, even as a draft, or nothing."""
        if len(written.text) > MOST_CHARACTERS:
            return gettext("The answer has {n} characters; it may have {most} at most.").format(
                n=grouped(len(written.text)), most=grouped(MOST_CHARACTERS)
            )
        if any(character == "\x00" or "\ud800" <= character <= "\udfff" for character in written.text):
            return gettext("The answer contains an invalid character. Remove it.")
        if unknown := set(written.confirmations) - CONFIRMATIONS.keys():
            return gettext("There is nothing to confirm that is called “{name}”.").format(name=min(unknown))
        if grade is not None and grade not in self.grades and spans:
            return gettext("This outcome takes no sentences: nothing is answered.")
        offered = sentences_to_choose(passage_of(item), item.study) if spans else ()
        sentences = {(sentence.start, sentence.end) for sentence in offered}
        if any((span.start, span.end) not in sentences for span in spans):
            return gettext("This is not a sentence of the passage. Reload the page and choose it again.")
        return ""

    def lack(self, item: Item, grade: float | None, spans: Sequence[Span], written: Written) -> str:
        """Say what is missing before it is handed in, or nothing."""
        if grade is None or grade not in self.grades:
            return ""
        if grade != self.kept:
            if not spans:
                return gettext("Choose at least one sentence that the answer is based on.")
            if not written.text.strip():
                return gettext("Write the answer.")
            if grade == self.changed and is_as_seen(item, spans, written):
                return gettext("Nothing is changed yet: change the answer or its sentences, or keep it.")
        missing = CONFIRMATIONS.keys() - set(written.confirmations)
        return gettext("Confirm all points before you submit it.") if missing else ""

    def handed_in(
        self, item: Item, grade: float, spans: Sequence[Span], written: Written
    ) -> tuple[Sequence[Span], Written | None]:
        """Return what goes with the judgment, of what is on the page: nothing where nothing is answered."""
        if grade not in self.grades:
            return (), None
        confirmations = tuple(name for name in CONFIRMATIONS if name in written.confirmations)
        if grade == self.kept:
            seen = item.answer_to_revise
            return spans_of(seen), Written(seen.text, confirmations)
        return spans, Written(written.text.strip(), confirmations)


def is_as_seen(item: Item, spans: Sequence[Span], written: Written) -> bool:
    """Whether this is the answer of round 1 still, with its sentences."""
    seen = item.answer_to_revise
    places = {(span.start, span.end) for span in spans}
    return written.text.strip() == seen.text.strip() and places == {(span.start, span.end) for span in spans_of(seen)}


def spans_of(seen: AnswerToRevise) -> list[Span]:
    """Return the sentences that the answer of round 1 is made of."""
    return [Span(span["start"], span["end"], span["quote"]) for span in seen.spans]


def passage_of(item: Item) -> Passage:
    assert item.passage is not None  # what is written about is a passage
    return item.passage
