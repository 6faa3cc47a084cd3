"""CLAPNQ's JSONL: a question a line with its passage in sentences, and the answers of both rounds.

An output of round 1 is one person's answer. One of round 2 revises the answer before it, or, if it names several
people, is the answer of the first that the others kept. Round 0, with nobody named, says that the question has no
answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from collection.formats.json_fields import Fields, json_objects
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.values import shown

NOBODY, FIRST, SECOND = 0, 1, 2
Place = tuple[int, int]


@dataclass(frozen=True)
class Sentence:
    """A sentence that was chosen for an answer; without a place where it is none of the passage's (its title, say)."""

    quote: str
    place: Place | None


@dataclass(frozen=True)
class Output:
    """What one person or several said. `meta` holds what the file says besides: two flags."""

    answer: str
    chosen: tuple[Sentence, ...]
    annotators: tuple[str, ...]
    round: int
    skip: bool
    has_minimal_answer: bool
    non_consecutive: bool


@dataclass(frozen=True)
class ClapnqLine:
    """A question with its passage. `sentences` are places in the text, in code points, end-exclusive."""

    question_id: str
    question: str
    title: str
    text: str
    sentences: tuple[Place, ...]
    outputs: tuple[Output, ...]


# --- In -----------------------------------------------------------------------------------------


def read_clapnq(file: InputFile) -> Iterator[tuple[int, ClapnqLine]]:
    """Yield the number and the content of each line; broken lines are noted."""
    for number, found in json_objects(file):
        with file.line(number):
            yield number, line_of(Fields(found))


def line_of(fields: Fields) -> ClapnqLine:
    """Read one line. Raises BrokenLine."""
    question_id, question = fields.identifier("id"), fields.name("input")
    passages = objects(fields, "passages")
    if len(passages) != 1:
        raise BrokenLine(f"The line has {len(passages)} passages.", "Answers are written from one passage.")
    passage = Fields(passages[0])
    title, text, sentences = passage.text("title"), passage.name("text"), texts(passage, "sentences")
    passage.end()
    places = places_of(sentences, text)
    outputs = tuple(output_of(Fields(one), sentences, places) for one in objects(fields, "output"))
    fields.end()
    refuse_loose_revisions(outputs)
    return ClapnqLine(question_id, question, title, text, places, outputs)


def output_of(fields: Fields, sentences: Sequence[str], places: Sequence[Place]) -> Output:
    meta = Fields(meta_of(fields))
    output = Output(
        answer=fields.text("answer"),
        chosen=chosen_of(texts(fields, "selected_sentences"), sentences, places),
        annotators=annotators_of(meta),
        round=meta.count("round"),
        skip=meta.flag("skip"),
        has_minimal_answer=meta.flag("has_minimal_answer"),
        non_consecutive=meta.flag("non_consecutive"),
    )
    fields.end()
    meta.end()
    refuse_contradictions(output)
    return output


def meta_of(fields: Fields) -> dict[str, Any]:
    meta = fields.take("meta")
    if not isinstance(meta, dict):
        raise BrokenLine(f"The field “meta” is {shown(meta)}, not an object.")
    return meta


def objects(fields: Fields, name: str) -> list[dict[str, Any]]:
    found = fields.take(name)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise BrokenLine(f"The field “{name}” is {shown(found)}, not a list of objects.")
    return found


def texts(fields: Fields, name: str) -> list[str]:
    found = fields.take(name)
    if not isinstance(found, list) or not all(isinstance(one, str) and one.strip() for one in found):
        raise BrokenLine(f"The field “{name}” is {shown(found)}, not a list of texts.")
    return found


def annotators_of(meta: Fields) -> tuple[str, ...]:
    found = meta.take("annotator")
    named = isinstance(found, list) and all(isinstance(one, int | str) and not isinstance(one, bool) for one in found)
    if not named or len(set(map(str, found))) < len(found):
        raise BrokenLine(f"The field “annotator” is {shown(found)}, not a list of different names or numbers.")
    return tuple(map(str, found))


def places_of(sentences: Sequence[str], text: str) -> tuple[Place, ...]:
    """Find each sentence in the text, behind the one before. Raises BrokenLine."""
    places: list[Place] = []
    end = 0
    for number, sentence in enumerate(sentences, start=1):
        start = text.find(sentence, end)
        if start < 0:
            raise BrokenLine(
                f"Sentence {number}, {shown(sentence)}, is not in the text after the previous one.",
                "The sentences are parts of the text, word for word and in its order.",
            )
        end = start + len(sentence)
        places.append((start, end))
    return tuple(places)


def chosen_of(selected: Sequence[str], sentences: Sequence[str], places: Sequence[Place]) -> tuple[Sentence, ...]:
    """Give each selected sentence its place; of two that say the same, the first that is not taken yet."""
    free = list(zip(sentences, places, strict=True))
    chosen = []
    for quote in selected:
        found = next((one for one in free if one[0] == quote), None)
        if found:
            free.remove(found)
        chosen.append(Sentence(quote, found[1] if found else None))
    return tuple(chosen)


def refuse_contradictions(output: Output) -> None:
    """Raise BrokenLine where round, people and answer do not go together."""
    if output.round not in (NOBODY, FIRST, SECOND):
        raise BrokenLine(f"There is no round {output.round}.", "The round is 1 or 2, or 0 where nobody answered.")
    if (output.round == NOBODY) != (not output.annotators):
        raise BrokenLine("Round 0 is only for outputs without annotators.", "Correct “round” or “annotator”.")
    if output.round == FIRST and len(output.annotators) != 1:
        raise BrokenLine(f"An answer of round 1 names {len(output.annotators)} people.", "It must be from one person.")
    if output.round == NOBODY and (output.answer or output.chosen or output.skip):
        raise BrokenLine("An answer without a round names no annotator.", "Correct “round” and “annotator”.")
    if output.skip and output.answer.strip():
        raise BrokenLine("A skipped question has an answer.", "Correct “skip” or “answer”.")
    if output.skip and len(output.annotators) > 1:
        raise BrokenLine(
            "A question skipped by several people needs one output for each.", "Write one output per person."
        )
    if output.annotators and not output.skip and not output.answer.strip():
        raise BrokenLine("The answer is empty.", "Add it, or use “skip”.")


def refuse_loose_revisions(outputs: Sequence[Output]) -> None:
    """Raise BrokenLine where a round-2 output has no answer before it that it could revise."""
    answered = False
    for output in outputs:
        if output.round == SECOND and len(output.annotators) == 1 and not answered:
            raise BrokenLine("An output of round 2 has no answer of round 1 before it.", "Put them in order.")
        answered = answered or (output.round in (FIRST, SECOND) and not output.skip)
    if len(outputs) > 1 and any(output.round == NOBODY for output in outputs):
        raise BrokenLine("The question has both answers and an output without one.", "Remove the output of round 0.")


# --- Out ----------------------------------------------------------------------------------------


def written_line(line: ClapnqLine) -> str:
    """Return the line as a file has it. Names of people that are numbers are written as numbers."""
    passage = {"title": line.title, "text": line.text, "sentences": [line.text[a:b] for a, b in line.sentences]}
    row = {
        "id": line.question_id,
        "input": line.question,
        "passages": [passage],
        "output": [written_output(output) for output in line.outputs],
    }
    return json.dumps(row, ensure_ascii=False) + "\n"


def written_output(output: Output) -> dict[str, Any]:
    return {
        "answer": output.answer,
        "selected_sentences": [sentence.quote for sentence in output.chosen],
        "meta": {
            "annotator": [number_or_name(name) for name in output.annotators],
            "has_minimal_answer": output.has_minimal_answer,
            "non_consecutive": output.non_consecutive,
            "round": output.round,
            "skip": output.skip,
        },
    }


def number_or_name(name: str) -> int | str:
    return int(name) if name.isascii() and name.isdecimal() and (name == "0" or name[0] != "0") else name
