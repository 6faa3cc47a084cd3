"""A researcher's own question, as a file, the API and the page bring it: checked, and stored."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.conf import settings

from collection.formats.problems import BrokenLine
from collection.formats.values import refuse_unstorable
from collection.models import Question, RubricElement, Scale, User
from collection.questions.shapes import MARKS, TASK_TYPES

# What own questions may be about; pairs and the uses of passages have screens of their own.
OWN_TEXTS = ("report", "passage", "sentence", "citation", "question")
OWN_MARKS = tuple(marks for marks in MARKS if marks != "sentences")
MARKABLE = ("report", "passage")
ELEMENTS = tuple(kind.value for kind in RubricElement.Kind)
LEVELS = ("nominal", "ordinal")
NAME = re.compile(r"[a-z][a-z0-9_-]{0,49}")
MOST_CRITERIA, MOST_GRADES, HIGHEST_GRADE = 8, 20, 1e6
LONGEST = {"title": 100, "queue": 100, "guidelines": 50_000, "question": 500, "scale": 100, "prompt": 20_000}
NEEDED = {"title", "text", "criteria"}
FIELDS = {*NEEDED, "queue", "element", "language", "guidelines", "translations"}
NEEDED_OF_CRITERION = {"name", "question", "grades"}
OF_CRITERION = {*NEEDED_OF_CRITERION, "scale", "level", "threshold", "marks", "prompt"}


class BadQuestion(ValueError):
    """This cannot be asked as a question; the message says what to change."""


def make_question(*, name: str, document: Mapping[str, Any], by: User | None, at: datetime) -> Question:
    """Store a researcher's question. Raises BadQuestion."""
    _check_name("the question", name)
    checked = checked_document(document)
    if name in TASK_TYPES:
        raise BadQuestion(f"There is another question “{name}”: choose another name.")
    documents = Question.objects.values_list("document", flat=True)
    others = {one["name"] for other in documents for one in other["criteria"]}
    if taken := sorted({one["name"] for one in checked["criteria"]} & others):
        raise BadQuestion(f"Another question has a criterion “{taken[0]}”: choose another name.")
    return Question.objects.create(name=name, document=checked, created_by=by, created_at=at)


def withdraw_question(question: Question, *, at: datetime) -> None:
    """Offer the question to new studies no more; studies that ask it go on. It keeps when it was first withdrawn."""
    question.withdrawn_at = question.withdrawn_at or at
    question.save(update_fields=["withdrawn_at"])


def reinstate_question(question: Question) -> None:
    """Offer a withdrawn question to new studies again."""
    question.withdrawn_at = None
    question.save(update_fields=["withdrawn_at"])


def read_question(content: bytes, *, file_name: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the document of a question's TOML file. Raises BadQuestion, naming the file."""
    try:
        document = tomllib.loads(content.decode("utf-8"))
        refuse_unstorable(document)
    except BrokenLine as broken:
        raise BadQuestion(f"{file_name}: {broken.reason}") from broken
    except RecursionError as error:
        raise BadQuestion(f"{file_name} is nested too deeply.") from error
    except ValueError as error:  # not UTF-8, not TOML, or a number of thousands of digits
        raise BadQuestion(f"{file_name} is not a TOML file in UTF-8: {error}.") from error
    return str(document.pop("name", "")), document


def checked_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document as it is stored. Raises BadQuestion."""
    _check_fields("the question", document, FIELDS, NEEDED)
    text, element, language = document["text"], document.get("element", ""), document.get("language", "en")
    _choose("text", text, OWN_TEXTS)
    _choose("element", element, ("", *ELEMENTS))
    _choose("language", language, _languages())
    if element and text in ("question", "citation"):
        raise BadQuestion("An element is asked about in a report, a passage or a sentence: leave “element” out.")
    criteria = _list("criteria", document["criteria"], 1, MOST_CRITERIA)
    checked = [_criterion(number, table, text) for number, table in enumerate(criteria, start=1)]
    shipped = {criterion.name for shape in TASK_TYPES.values() for criterion in shape.criteria} | {"report_rating"}
    for number, criterion in enumerate(checked):
        if criterion["name"] in shipped | {other["name"] for other in checked[:number]}:
            raise BadQuestion(f"Another criterion is called “{criterion['name']}”: choose another name.")
    grades = {criterion["name"]: list(criterion["grades"]) for criterion in checked}
    translations = _table("translations", document.get("translations", {}))
    return {
        "title": _text("title", document["title"], needed=True),
        "queue": _text("queue", document.get("queue", document["title"]), needed=True),
        "text": text,
        "element": element,
        "language": language,
        "guidelines": _text("guidelines", document.get("guidelines", "")),
        "criteria": checked,
        "translations": {code: _translation(code, table, grades) for code, table in translations.items()},
    }


def _criterion(number: int, sent: Any, text: str) -> dict[str, Any]:
    what = f"criterion {number}"
    table = _table(what, sent)
    _check_fields(what, table, OF_CRITERION, NEEDED_OF_CRITERION)
    _check_name(what, table["name"])
    grades = _grades(what, table["grades"])
    level, marks = table.get("level", "ordinal"), table.get("marks", "none")
    _choose(f"level of {what}", level, LEVELS)
    _choose(f"marks of {what}", marks, OWN_MARKS)
    if marks != "none" and text not in MARKABLE:
        raise BadQuestion("Words can be marked in reports and passages alone: leave “marks” out.")
    threshold = _number(f"threshold of {what}", table.get("threshold", list(grades)[-1]))
    if f"{threshold:g}" not in grades:
        raise BadQuestion(f"The threshold of {what} must be one of its grades {', '.join(grades)}.")
    question = _text("question", table["question"], needed=True)
    if re.search(r"[{}]", question):
        raise BadQuestion(f"The question of {what} may not contain braces, which stand for placeholders in prompts.")
    return {
        "name": table["name"],
        "question": question,
        "scale": _text("scale", table.get("scale", table["name"]), needed=True),
        "level": Scale.Level(level).value,
        "threshold": threshold,
        "marks": marks,
        "prompt": _text("prompt", table.get("prompt", "")),
        "grades": grades,
    }


def _grades(what: str, sent: Any) -> dict[str, list[str]]:
    """Return the grades, lowest first, each with its name and what it means."""
    table = _table(f"grades of {what}", sent)
    if not 2 <= len(table) <= MOST_GRADES:
        raise BadQuestion(f"{what.capitalize()} must have 2 to {MOST_GRADES} grades; these are {len(table)}.")
    grades = {
        _number(f"grade of {what}", value): _words(f"grade {value} of {what}", words) for value, words in table.items()
    }
    names = {name.casefold() for name, _ in grades.values()}
    if len(names) < len(table) or len(grades) < len(table):
        raise BadQuestion(f"The grades of {what} need different values and different names.")
    return {f"{value:g}": grades[value] for value in sorted(grades)}


def _translation(language: str, sent: Any, grades: Mapping[str, Collection[str]]) -> dict[str, Any]:
    """Return the words of one language: those of each criterion, as the shipped questions' files have them."""
    what = f"the translation “{language[:10]}”"
    _choose("language of a translation", language, _languages())
    table = _table(what, sent)
    _check_fields(what, table, {"queue", *grades}, set(grades))
    words: dict[str, Any] = {}
    for name, values in grades.items():
        of_criterion = _table(f"{name} in {what}", table[name])
        _check_fields(f"{name} in {what}", of_criterion, {"question", *values}, {"question", *values})
        words[name] = {value: _words(f"grade {value} in {what}", of_criterion[value]) for value in values}
        words[name]["question"] = _text("question", of_criterion["question"], needed=True)
    return words | ({"queue": _text("queue", table["queue"], needed=True)} if "queue" in table else {})


def _languages() -> list[str]:
    return [code for code, _ in settings.LANGUAGES]


def _check_name(what: str, name: Any) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise BadQuestion(f"The name of {what} must be 1 to 50 of a–z, 0–9, _ and -, and begin with a letter.")


def _check_fields(what: str, table: Mapping[str, Any], known: Collection[str], needed: Collection[str]) -> None:
    if unknown := sorted(table.keys() - set(known)):
        raise BadQuestion(f"“{unknown[0][:60]}” is not a field of {what}. Use {', '.join(sorted(known))}.")
    if missing := sorted(set(needed) - table.keys()):
        raise BadQuestion(f"“{missing[0]}” is missing in {what}.")


def _table(what: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadQuestion(f"“{what}” must be a table.")
    return value


def _list(what: str, value: Any, fewest: int, most: int) -> list[Any]:
    if not isinstance(value, list) or not fewest <= len(value) <= most:
        raise BadQuestion(f"“{what}” must be a list of {fewest} to {most}.")
    return value


def _choose(what: str, value: Any, offered: Collection[str]) -> None:
    if value not in offered:
        known = ", ".join(one or "nothing" for one in offered)
        raise BadQuestion(f"The {what} “{str(value)[:60]}” must be one of {known}.")


def _number(what: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not abs(number) <= HIGHEST_GRADE:
        raise BadQuestion(f"The {what} is not a number that a grade can have: “{str(value)[:60]}”.")
    return number


def _text(what: str, value: Any, *, needed: bool = False) -> str:
    if not isinstance(value, str) or (needed and not value.strip()) or len(value) > LONGEST[what]:
        raise BadQuestion(f"“{what}” must be a text of {1 if needed else 0} to {LONGEST[what]:,} characters.")
    return value.strip()


def _words(what: str, value: Any) -> list[str]:
    fits = isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)
    if not fits or not 0 < len(value[0].strip()) <= 50 or len(value[1]) > 500 or "\n" in value[0]:
        raise BadQuestion(f"The {what} must be a name of 1 to 50 characters and what it means, of 500 at most.")
    return [part.strip() for part in value]
