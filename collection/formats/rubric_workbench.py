"""The RUBRIC autograder workbench (`exam_pp`): graded passages and question banks, plain or gzipped.

A graded file holds one topic a line, `[topic_id, [passage, …]]`, and such a line may be megabytes long; it is read one
topic at a time. The workbench's strict parser stores an unreadable reply as grade 1: where the file says that a reply
could not be read, it is ungraded here, and the reply is kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from collection.formats.json_fields import Fields, json_objects
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.values import LARGEST_WHOLE, shown, strict_json


@dataclass(frozen=True)
class Ranked:
    """A passage's place in a run. `rank` is as the file has it: the workbench counts from 0."""

    run: str
    rank: int
    score: float


@dataclass(frozen=True)
class Grading:
    """One judge's grades of one passage against the topic's questions or nuggets.

    - `llm`, `prompt_class`, `prompt_type`: who graded with which prompt; empty where older files do not say.
    - `kind`: "question" or "nugget", what the grades are about.
    - `grades`: by question or nugget; None where the reply was unreadable. Empty where the prompt asked for answers
      and no self-rating.
    - `correct`, `wrong`: which were answered, by the workbench's own reading.
    - `answers`: what the model wrote; `unreadable`: the replies that gave no grade, with the reason.
    """

    llm: str
    prompt_class: str
    prompt_type: str
    kind: str
    grades: Mapping[str, int | None]
    correct: tuple[str, ...]
    wrong: tuple[str, ...]
    answers: Mapping[str, str]
    unreadable: Mapping[str, Mapping[str, Any]]
    attributes: Mapping[str, Any]

    def reply(self, element: str) -> str:
        """Return what the model wrote about the element, empty where the file does not say."""
        response = self.unreadable.get(element, {}).get("response")
        return response if isinstance(response, str) else self.answers.get(element, "")

    @property
    def graded(self) -> Sequence[str]:
        return list(self.grades)


@dataclass(frozen=True)
class RelevanceGrading:
    """One judge's relevance label of one passage. `grade` is None where the prompt gives no number."""

    llm: str
    prompt_class: str
    prompt_type: str
    grade: int | None
    relevant: bool
    reply: str
    attributes: Mapping[str, Any]

    @property
    def graded(self) -> Sequence[str]:
        return [""]


@dataclass(frozen=True)
class WorkbenchPassage:
    """A passage with everything the file says of it; `relevance` holds people's labels, in file order."""

    passage_id: str
    text: str
    relevance: tuple[int, ...]
    rankings: tuple[Ranked, ...]
    gradings: tuple[Grading, ...]
    relevance_gradings: tuple[RelevanceGrading, ...]
    attributes: Mapping[str, Any]


@dataclass(frozen=True)
class WorkbenchTopic:
    """A topic with its passages; `line` is as the file has it."""

    topic_id: str
    passages: tuple[WorkbenchPassage, ...]
    line: str = field(repr=False)


@dataclass(frozen=True)
class BankItem:
    """A rubric element; `kind` is "question" or "nugget"."""

    element_id: str
    kind: str
    text: str
    attributes: Mapping[str, Any]


@dataclass(frozen=True)
class BankTopic:
    topic_id: str
    request: str
    items: tuple[BankItem, ...]
    attributes: Mapping[str, Any]


Attempt = TypeVar("Attempt", Grading, RelevanceGrading)


def with_judges(gradings: Sequence[Attempt]) -> Iterator[tuple[str, Attempt]]:
    """Yield a passage's gradings, each with its judge's name: model and prompt, and which attempt if not the first.

    A further attempt is one that grades anew what the same model under the same prompt has graded.
    """
    attempts: Counter[tuple[str, str]] = Counter()
    for grading in gradings:
        name = " · ".join(filter(None, (grading.llm, grading.prompt_class)))
        graded = [(name, element) for element in grading.graded]
        attempts.update(graded)
        attempt = max((attempts[one] for one in graded), default=1)
        yield name if attempt == 1 else " · ".join(filter(None, (name, f"attempt {attempt}"))), grading


def stored_name(name: str, grading: Grading | RelevanceGrading) -> str:
    """Return what the rater of a grading is called here, whose judge's name may be its prompt's alone."""
    return name if grading.llm else " · ".join(filter(None, ("unnamed model", name)))


def read_graded(file: InputFile) -> Iterator[tuple[int, WorkbenchTopic]]:
    """Yield the number and the topic of each line of a graded file."""
    seen: dict[str, int] = {}
    for number, line in file.lines():
        with file.line(number):
            topic = _topic(strict_json(line), line)
            if topic.topic_id in seen:
                raise BrokenLine(f"Topic “{topic.topic_id}” is already in line {seen[topic.topic_id]}.")
            seen[topic.topic_id] = number
            yield number, topic


def is_graded_topic(line: str) -> bool:
    """Whether the line may be one of a graded file: a pair of a topic's id and a list of its passages."""
    return re.match(r"\[\s*\"(?:[^\"\\]|\\.)*\"\s*,\s*\[\s*[{\]]", line) is not None


def read_question_bank(file: InputFile) -> Iterator[tuple[int, BankTopic]]:
    """Yield the number and the topic of each line of a question bank, new (`items`) or old (`questions`)."""
    for number, found in json_objects(file):
        with file.line(number):
            yield number, _bank_topic(Fields(found))


def _topic(found: Any, line: str) -> WorkbenchTopic:
    if not isinstance(found, list) or len(found) != 2 or not isinstance(found[0], str) or not found[0].strip():
        raise BrokenLine("The line is not a pair of a topic’s id and its passages.", 'Write ["topic", [passage, …]].')
    passages: dict[str, WorkbenchPassage] = {}
    for place, entry in enumerate(_objects(found[1], "The second part of the line"), start=1):
        with _within(f"passage {place}"):
            passage = passage_of(entry)
            if passage.passage_id in passages:
                raise BrokenLine(f"“{passage.passage_id}” is already in this topic.")
        passages[passage.passage_id] = passage
    return WorkbenchTopic(found[0], tuple(passages.values()), line)


def passage_of(entry: dict[str, Any]) -> WorkbenchPassage:
    """Return what a passage of a graded file says. Raises BrokenLine."""
    fields = Fields(entry)
    data = Fields(_object(fields.take("paragraph_data"), "“paragraph_data”"))
    return WorkbenchPassage(
        passage_id=fields.name("paragraph_id"),
        text=fields.text("text"),
        relevance=tuple(_whole(judgment, "relevance") for judgment in _entries(data, "judgments")),
        rankings=tuple(_ranked(ranking) for ranking in _entries(data, "rankings")),
        gradings=tuple(_grading(grading) for grading in _entries(fields, "exam_grades")),
        relevance_gradings=tuple(_relevance_grading(grading) for grading in _entries(fields, "grades")),
        attributes=_rest(fields) | ({"paragraph_data": data.rest} if data.rest else {}),
    )


def _ranked(fields: Fields) -> Ranked:
    return Ranked(fields.name("method"), _whole(fields, "rank"), fields.number("score"))


def _grading(fields: Fields) -> Grading:
    with _within("exam_grades"):
        unreadable = _object(fields.rest.pop("llm_response_errors", None) or {}, "“llm_response_errors”")
        prompt_type = fields.optional_text("prompt_type")
        is_about_nuggets = prompt_type.startswith("nugget")
        ratings: dict[str, int | None] = {}
        for rating in _entries(fields, "self_ratings"):
            is_about_nuggets |= rating.rest.get("nugget_id") is not None
            ratings[_element_id(rating)] = _whole(rating, "self_rating")
        return Grading(
            llm=fields.optional_text("llm"),
            prompt_class=_prompt_class(fields),
            prompt_type=prompt_type,
            kind="nugget" if is_about_nuggets else "question",
            grades=ratings | dict.fromkeys(unreadable),
            correct=_texts(fields, "correctAnswered"),
            wrong=_texts(fields, "wrongAnswered"),
            answers=_answers(fields),
            unreadable={element: _object(reply, "A reply") for element, reply in unreadable.items()},
            attributes=_rest(fields),
        )


def _relevance_grading(fields: Fields) -> RelevanceGrading:
    with _within("grades"):
        graded = fields.rest.get("self_ratings") is not None
        return RelevanceGrading(
            llm=fields.optional_text("llm"),
            prompt_class=_prompt_class(fields),
            prompt_type=fields.optional_text("prompt_type"),
            grade=_whole(fields, "self_ratings") if graded else None,
            relevant=fields.flag("correctAnswered"),
            reply=fields.optional_text("answer"),
            attributes=_rest(fields),
        )


def _bank_topic(fields: Fields) -> BankTopic:
    name = "items" if "items" in fields.rest else "questions"
    return BankTopic(
        topic_id=fields.name("query_id"),
        request=fields.optional_text("query_text"),
        items=tuple(_bank_item(item) for item in _entries(fields, name)),
        attributes=_rest(fields),
    )


def _bank_item(fields: Fields) -> BankItem:
    kind = "nugget" if fields.rest.get("nugget_id") is not None else "question"
    return BankItem(fields.name(f"{kind}_id"), kind, fields.name(f"{kind}_text"), _rest(fields))


def _element_id(fields: Fields) -> str:
    return fields.name("question_id" if fields.rest.get("question_id") is not None else "nugget_id")


def _prompt_class(fields: Fields) -> str:
    info = fields.rest.get("prompt_info")
    found = info.get("prompt_class") if isinstance(info, dict) else None
    return found if isinstance(found, str) else ""


def _answers(fields: Fields) -> dict[str, str]:
    pairs = fields.rest.pop("answers", None) or []
    if not isinstance(pairs, list) or not all(_is_pair(pair) for pair in pairs):
        raise BrokenLine(f"“answers” is {shown(pairs)}, not a list of pairs of a question and an answer.")
    return dict(pairs)


def _is_pair(found: Any) -> bool:
    return isinstance(found, list) and len(found) == 2 and all(isinstance(part, str) for part in found)


def _texts(fields: Fields, name: str) -> tuple[str, ...]:
    found = fields.rest.pop(name, None) or []
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise BrokenLine(f"“{name}” is {shown(found)}, not a list of texts.")
    return tuple(found)


def _whole(fields: Fields, name: str) -> int:
    value = fields.take(name)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST_WHOLE:
        raise BrokenLine(f"“{name}” is {shown(value)}, not a whole number.")
    return value


def _entries(fields: Fields, name: str) -> Iterator[Fields]:
    """Yield the objects of a list; none where it is missing or null."""
    for entry in _objects(fields.rest.pop(name, None) or [], f"“{name}”"):
        yield Fields(entry)


def _objects(found: Any, what: str) -> list[dict[str, Any]]:
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise BrokenLine(f"{what} is {shown(found)}, not a list of objects.")
    return found


def _object(found: Any, what: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise BrokenLine(f"{what} is {shown(found)}, not an object.")
    return found


def _rest(fields: Fields) -> dict[str, Any]:
    """Return the fields that are left and hold anything."""
    return {name: value for name, value in fields.rest.items() if value not in (None, "", [], {})}


@contextmanager
def _within(where: str) -> Iterator[None]:
    """Say in a BrokenLine in which part of the line it is."""
    try:
        yield
    except BrokenLine as broken:
        raise BrokenLine(f"{where}: {broken.reason}", broken.remedy) from broken
