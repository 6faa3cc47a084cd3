"""The panels of an evaluation of answers: what stands side by side on the screen, and what is asked there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.text import capfirst
from django.utils.translation import gettext

from annotate.assignments.shown import Answer, Screen
from annotate.task_types import RULES
from collection.models.studies import TaskType

register = template.Library()


@dataclass(frozen=True)
class Way:
    """A choice of a pair, as it stands on this assessor's screen."""

    value: float
    name: str
    text: str
    key: str
    chosen: bool


@dataclass(frozen=True)
class PanelQuestion:
    """One criterion asked of an item. `ways` are a pair's choices from left to right."""

    item: int
    answer: Answer
    closed_by: str = ""
    ways: Sequence[Way] = ()

    @property
    def name(self) -> str:
        return f"{self.item}-{self.answer.criterion.pk}"

    @property
    def field(self) -> str:
        return f"grade-{self.name}"


@dataclass(frozen=True)
class Box:
    """A passage to be ticked or not."""

    asked: PanelQuestion
    passage: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The digit that ticks it: the passage's number, as long as it is one."""
        return str(self.passage["number"]) if self.passage["number"] < 10 else ""

    @property
    def ticked(self) -> bool:
        return self.asked.answer.grade == 1


@dataclass(frozen=True)
class Panel:
    """What is seen at one time. `kind` is alone, confidence, helpful, grounded or pair; `tab` its short name."""

    kind: str
    tab: str
    title: str
    texts: Sequence[tuple[str, str]] = ()
    passages: Sequence[Mapping[str, Any]] = ()
    asked: Sequence[PanelQuestion] = ()
    boxes: Sequence[Box] = ()
    said: Sequence[Answer] = ()

    @property
    def slug(self) -> str:
        named = {"helpful": "helpful-passages", "confidence": "confidence"}
        return named.get(self.kind) or f"{self.kind}-{self.tab.replace('–', '-').lower()}"

    @property
    def none_ticked(self) -> bool:
        """Whether the assessor said that no passage is it."""
        return all(box.asked.answer.grade == 0 for box in self.boxes)

    @property
    def boxes_unsure(self) -> bool:
        """Whether the assessor is not sure of what they ticked."""
        return any(box.asked.answer.unsure for box in self.boxes)


@register.simple_tag
def answer_panels(screen: Screen) -> list[Panel]:
    """Return the panels of the step at which the assignment is."""
    extras = screen.extras
    asked = {
        question.item.pk: [
            PanelQuestion(question.item.pk, answer, " ".join(_closed_by(answer))) for answer in question.answers
        ]
        for question in screen.questions
    }
    if not extras["revealed"]:
        return [
            Panel("alone", answer["letter"], _name(answer["letter"]), [_text(answer)], asked=first)
            for answer in extras["answers"]
            if answer["item"]
            for first in [[one for one in asked[answer["item"]] if one.answer.criterion.name in _first_step()]]
        ]
    return [
        *(
            Panel("confidence", name, name, passages=extras["passages"], asked=asked[question.item.pk])
            for question in screen.questions
            if question.item.task_type == TaskType.CONFIDENCE
            for name in [gettext("Confidence")]
        ),
        *_question_panel(extras, asked),
        *(panel for answer in extras["answers"] if answer["item"] for panel in _grounded_panel(answer, extras, asked)),
        *(_pair_panel(pair, extras, asked[pair["item"]][0]) for pair in extras["pairs"]),
    ]


def _question_panel(extras: Mapping[str, Any], asked: Mapping[int, Sequence[PanelQuestion]]) -> Iterator[Panel]:
    boxes = _boxes(extras["of_question"], extras, asked)
    if boxes:
        yield Panel("helpful", gettext("Passages"), gettext("Passages for the question"), boxes=boxes)


def _grounded_panel(
    answer: Mapping[str, Any], extras: Mapping[str, Any], asked: Mapping[int, Sequence[PanelQuestion]]
) -> Iterator[Panel]:
    """An answer with its passages, unless it says nothing that could stand there."""
    about = asked[answer["item"]]
    second = [one for one in about if one.answer.criterion.name not in _first_step() and one.answer.asked]
    boxes = [box for box in _boxes(answer["uses"], extras, asked) if box.asked.answer.asked]
    if second or boxes:
        yield Panel(
            "grounded",
            answer["letter"],
            gettext("Answer {letter} and its passages").format(letter=answer["letter"]),
            [_text(answer)],
            _passages(answer["passages"], extras),
            second,
            boxes,
            said=[one.answer for one in about if _describes(one.answer.criterion.name)],
        )


def _pair_panel(pair: Mapping[str, Any], extras: Mapping[str, Any], asked: PanelQuestion) -> Panel:
    left, right = pair["left"], pair["right"]
    of_letter = {answer["letter"]: answer for answer in extras["answers"]}
    numbers = sorted({*of_letter[left]["passages"], *of_letter[right]["passages"]})
    of_value = {grade.value: grade for grade in asked.answer.grades}
    values = (-1.0, 0.0, 1.0) if pair["swapped"] else (1.0, 0.0, -1.0)
    names = (_name(left), capfirst(of_value[0].name), _name(right))
    ways = [
        Way(value, name, of_value[0].text if value == 0 else "", str(key), value == asked.answer.grade)
        for key, (value, name) in enumerate(zip(values, names, strict=True), start=1)
    ]
    return Panel(
        "pair",
        f"{left}–{right}",
        gettext("Answers {left} and {right}").format(left=left, right=right),
        [_text(of_letter[left]), _text(of_letter[right])],
        _passages(numbers, extras),
        [PanelQuestion(asked.item, asked.answer, ways=ways)],
    )


def _boxes(
    items: Mapping[int, int], extras: Mapping[str, Any], asked: Mapping[int, Sequence[PanelQuestion]]
) -> list[Box]:
    return [Box(asked[item][0], extras["passages"][number - 1]) for item, number in items.items()]


def _passages(numbers: Sequence[int], extras: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [extras["passages"][number - 1] for number in numbers]


def _name(letter: str) -> str:
    return gettext("Answer {letter}").format(letter=letter)


def _text(answer: Mapping[str, Any]) -> tuple[str, str]:
    return _name(answer["letter"]), answer["text"]


def _first_step() -> tuple[str, ...]:
    return RULES[TaskType.ANSWER_EVALUATION].first_step


def _describes(name: str) -> bool:
    """Whether a criterion of the first step says how good an answer is, not whether it is one."""
    closing = {gate for gates in RULES[TaskType.ANSWER_EVALUATION].closed_by.values() for gate in gates}
    return name in _first_step() and name not in closing


def _closed_by(answer: Answer) -> tuple[str, ...]:
    return RULES[TaskType.ANSWER_EVALUATION].closed_by.get(answer.criterion.name, ())
