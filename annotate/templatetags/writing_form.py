"""`{% writing_form screen as form %}`: what the pages of written answers show, as it stands so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template
from django_stubs_ext import StrOrPromise

from annotate.assignments.shown import Answer, Grade, Question, Screen
from annotate.task_types import RULES
from annotate.task_types.writing import MOST_CHARACTERS

register = template.Library()


@dataclass(frozen=True)
class Sentence:
    """A sentence of the passage, or its title. `chosen`: for the answer; `seen`: for the answer of round 1."""

    number: int
    quote: str
    chosen: bool
    seen: bool
    begins_a_line: bool
    is_title: bool


@dataclass(frozen=True)
class Confirmation:
    """What is confirmed: in which words, or in which others under some grades."""

    name: str
    words: StrOrPromise
    confirmed: bool
    under: Mapping[float, StrOrPromise]


@dataclass(frozen=True)
class WritingForm:
    """One question with its passage's sentences, the answer so far and what is confirmed of it."""

    question: Question
    answer: Answer
    grades: Sequence[Grade]
    grades_with_answer: Sequence[float]
    sentences: Sequence[Sentence]
    text: str
    confirmations: Sequence[Confirmation]
    most: int = MOST_CHARACTERS

    @property
    def name(self) -> str:
        """What its fields' names end with."""
        return f"{self.question.item.pk}-{self.answer.criterion.pk}"


@register.simple_tag
def writing_form(screen: Screen) -> WritingForm:
    """Return the assignment's form; where a revision is not begun it starts from the answer of round 1."""
    (question,) = screen.questions
    (answer,) = question.answers
    extras = screen.extras
    seen = extras.get("seen", {"text": "", "spans": []})
    places_seen = {(span["start"], span["end"]) for span in seen["spans"]}
    begun = answer.state != "empty"
    chosen = {(span.start, span.end) for span in answer.spans} if begun else places_seen
    writing = RULES[screen.assignment.task.task_type].writing
    assert writing is not None
    return WritingForm(
        question=question,
        answer=answer,
        grades=list(reversed(answer.grades)),
        grades_with_answer=sorted(writing.grades),
        sentences=[
            _sentence(screen, number, one, chosen, places_seen) for number, one in enumerate(extras["sentences"])
        ],
        text=answer.written.text if begun else seen["text"],
        confirmations=[
            Confirmation(
                name,
                words,
                name in answer.written.confirmations,
                {grade: others[name] for grade, others in writing.wordings.items() if name in others},
            )
            for name, words in extras["confirmations"].items()
        ],
    )


def _sentence(
    screen: Screen, number: int, sentence: dict[str, Any], chosen: set[tuple[int, int]], seen: set[tuple[int, int]]
) -> Sentence:
    assert screen.text is not None
    place = sentence["start"], sentence["end"]
    before = screen.extras["sentences"][number - 1]["end"] if number else 0
    between = (screen.text.text or "")[before : sentence["start"]]
    return Sentence(
        number,
        sentence["quote"],
        place in chosen,
        place in seen,
        begins_a_line="\n" in between,
        is_title=place == (0, 0),
    )
