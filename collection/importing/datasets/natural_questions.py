"""Natural Questions become CLAPNQ's topics: which questions stay, which unanswerable ones join, and their passages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from collection.formats.jsonl import PassageLine, RankingLine, TopicLine
from collection.formats.natural_questions import Question, Span, read_questions
from collection.formats.problems import BrokenLine, InputFile
from collection.importing.collections import CollectionRows, collection_rows
from collection.importing.datasets.clapnq import GOLD, LONGEST_TITLE
from collection.importing.datasets.question_verdicts import (
    ANSWERABLE,
    LEAST_WORDS,
    MOST_WORDS,
    UNANSWERABLE,
    askable,
    verdict_of,
)
from collection.importing.rows import Imported
from collection.models import Collection, Passage
from collection.texts.sentences import SENTENCES, found_sentences
from stats.measures.rouge import rouge_l, rouge_tokens
from stats.measures.words import words

ALIKE = 0.9
LEFT_OUT = "questions left out, {}"
UNDRAWN = "questions left out, unanswerable and not drawn"
SHORT_OF = "first words with too few unanswerable questions"
MERGED = "passages that another version of the page has (ROUGE-L above .90), kept once"


@dataclass(frozen=True)
class Draw:
    """How an unanswerable question came in: one of `drawn` questions with its first word, of `of` that there were."""

    first_word: str
    drawn: int
    of: int


def import_natural_questions(*, file: InputFile, collection: Collection, seed: int = 0) -> Imported:
    """Bring in the questions that CLAPNQ takes, with the passages of their pages; the run `gold` ranks each one's own.

    Unanswerable ones are drawn with the seed until their first words are as frequent as the others'. What each rule
    leaves out is counted. Raises BrokenFile.
    """
    with collection_rows(collection, file) as rows:
        chosen = chosen_questions(InputFile(file.path, name=file.name), seed=seed, imported=rows.imported)
        rows.add_run(1, GOLD)
        passages = _Passages(rows, collection)
        seen: set[str] = set()
        for number, question in read_questions(file):
            with file.line(number):
                if question.question_id in seen:
                    raise BrokenLine(f"The question “{question.question_id}” is there twice.", "Leave one out.")
                seen.add(question.question_id)
                if number in chosen:
                    _add(passages, number, question, chosen[number], seed)
    return rows.imported


def chosen_questions(file: InputFile, *, seed: int, imported: Imported) -> dict[int, Draw | None]:
    """Return the lines of the questions that come in, the unanswerable ones with their draw; note the others."""
    answerable: dict[int, str] = {}
    others: dict[str, list[tuple[int, str]]] = defaultdict(list)
    seen: set[str] = set()
    for number, question in read_questions(file):
        if question.question_id in seen:  # the second reading refuses it
            continue
        seen.add(question.question_id)
        verdict = verdict_of(question)
        if verdict == ANSWERABLE:
            answerable[number] = first_word(question.question)
        elif verdict == UNANSWERABLE:
            others[first_word(question.question)].append((number, question.question_id))
        else:
            imported.flaw(LEFT_OUT.format(verdict), question.question_id)
    wanted = Counter(answerable.values())
    drawn = drawn_alike(wanted, others, seed=seed)
    for word, count in wanted.items():
        if (there := len(others.get(word, ()))) < count:
            imported.flaw(SHORT_OF, f"{word} ({there} of {count})")
    for word, listed in others.items():
        for number, question_id in listed:
            if number not in drawn:
                imported.flaw(UNDRAWN, f"{question_id} ({word})")
    imported.remarks.append(
        f"{len(answerable):,} answerable questions; {len(drawn):,} unanswerable ones, drawn with seed {seed} to the "
        "same first words."
    )
    return {**dict.fromkeys(answerable), **drawn}


def drawn_alike(
    wanted: Mapping[str, int], others: Mapping[str, Sequence[tuple[int, str]]], *, seed: int
) -> dict[int, Draw]:
    """Draw as many of each first word as are wanted, without replacement; where there are fewer, all of them.

    `others` are (line, id) by first word. The draw of a word does not depend on the other words.
    """
    found: dict[int, Draw] = {}
    for word, count in wanted.items():
        listed = others.get(word, ())
        drawn = Random(f"{seed}:{word}").sample(listed, min(count, len(listed)))  # noqa: S311
        found |= {number: Draw(word, len(drawn), len(listed)) for number, _ in drawn}
    return found


def first_word(question: str) -> str:
    """Return the question's first word in small letters; empty where it has none."""
    return next(iter(words(question)), "")


@dataclass
class _Passages:
    """The passages of the pages, each once: what nearly says what another version of the page says is that one."""

    rows: CollectionRows
    collection: Collection
    known: dict[str, list[tuple[str, tuple[str, ...]]]] = field(default_factory=dict)

    def id_of(self, number: int, question: Question, span: Span) -> str:
        """Return the passage that this span is, added if it is new."""
        text, name = question.text(span), f"{question.question_id}:{span[0]}"
        tokens = rouge_tokens(text, stem=False)
        listed = self._of_page(question)
        there = any(known == name for known, _ in listed)
        alike = "" if there else next((known for known, its in listed if _alike(its, tokens)), "")
        if alike:
            self.rows.imported.flaw(MERGED, f"{name} is {alike}")
            return alike
        sentences = {SENTENCES: [list(place) for place in found_sentences(text)]}
        self.rows.add(number, PassageLine(name, text, question.title, attributes=sentences))
        if not there:
            listed.append((name, tokens))
        return name

    def _of_page(self, question: Question) -> list[tuple[str, tuple[str, ...]]]:
        """Return what there is of pages with this title; of a page without one only its own."""
        if not question.title:
            return self.known.setdefault(f"\0{question.question_id}", [])
        if (title := question.title) not in self.known:
            held = Passage.objects.filter(collection=self.collection, title=title).exclude(text=None).order_by("pk")
            self.known[title] = [
                (name, rouge_tokens(text or "", stem=False)) for name, text in held.values_list("passage_id", "text")
            ]
        return self.known[title]


def _alike(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether the F1 of ROUGE-L is above .90; its bound by the lengths is looked at first."""
    shorter, longer = sorted((len(first), len(second)))
    return 2 * shorter > ALIKE * (shorter + longer) and rouge_l(first, second) > ALIKE


def _add(passages: _Passages, number: int, question: Question, draw: Draw | None, seed: int) -> None:
    name, rows = question.question_id, passages.rows
    gold = question.gold if draw is None else Random(f"{seed}:{name}").choice(askable(question))  # noqa: S311
    attributes: dict[str, Any] = {}
    if draw is not None:
        said = {"seed": seed, "first_word": draw.first_word, "drawn": draw.drawn, "of": draw.of}
        attributes = {"answerable": False, "draw": said}
    title = question.question if len(question.question) <= LONGEST_TITLE else ""
    rows.add(number, TopicLine(name, question.question, title, attributes))
    own = passages.id_of(number, question, gold)
    for span in _searched(question, gold):
        passages.id_of(number, question, span)
    rows.add(number, RankingLine(GOLD, name, own, 1, 1.0))


def _searched(question: Question, gold: Span) -> Iterable[Span]:
    """Yield the page's other paragraphs that are searched in: neither very short nor very long."""
    for span in question.paragraphs:
        if span != gold and LEAST_WORDS <= len(question.text(span).split()) <= MOST_WORDS:
            yield span
