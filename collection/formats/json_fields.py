"""JSON objects, one a line, and their fields with the types they must have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from collection.formats.problems import MOST_LINE_BYTES, BrokenFile, BrokenLine, InputFile, Problem
from collection.formats.values import LARGEST_NUMBER, LARGEST_WHOLE, shown, strict_json, strict_object

ONE_A_LINE = "Write one object per line."
# One list of objects; RUBRIC's graded files have a list in each line, which begins with a text.
LIST = re.compile(r"\s*\[\s*(?:\{|$)")
SEPARATOR = re.compile(r"[\s,]*")
SKIPPING = json.JSONDecoder()


def json_objects(file: InputFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of JSON Lines, or of one JSON list, each with the number of the line it begins on."""
    lines = file.lines()
    begun = next(lines, None)
    if begun is None:
        return
    if LIST.match(begun[1]):
        yield from _in_list(file)
        return
    for number, line in chain([begun], lines):
        with file.line(number):
            yield number, strict_object(line)


def _in_list(file: InputFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of the one list that a file is. Its end is checked before the first is yielded."""
    text, numbers = _whole_text(file, remedy=ONE_A_LINE)
    _whole_value(file, text)
    place, line, counted_to = text.index("[") + 1, 0, 0
    while (start := SEPARATOR.match(text, place).end()) < len(text) and text[start] != "]":  # type: ignore[union-attr]
        _, place = SKIPPING.raw_decode(text, start)
        line, counted_to = line + text.count("\n", counted_to, start), start
        number = numbers[line]
        with file.line(number):
            yield number, strict_object(text[start:place])


def is_open(line: str) -> bool:
    """Whether a first line only begins a JSON value, as where it is written over several lines."""
    return line.startswith(("{", "[")) and line.endswith(("{", "[", ","))


def whole_json(file: InputFile, *, remedy: str = ONE_A_LINE) -> Any:
    """Return the one value that a file is, over many lines. Raises BrokenFile."""
    return _whole_value(file, _whole_text(file, remedy=remedy)[0])


def _whole_text(file: InputFile, *, remedy: str) -> tuple[str, list[int]]:
    """Return the text of a file without its blank lines, and the numbers of those that are left."""
    lines, numbers, left = [], [], MOST_LINE_BYTES
    for number, line in file.lines():
        lines.append(line)
        numbers.append(number)
        if (left := left - len(line)) < 0:
            raise BrokenFile(file.name, [Problem(None, "The file is one large value.", remedy)])
    return "\n".join(lines), numbers


def _whole_value(file: InputFile, text: str) -> Any:
    try:
        return strict_json(text)
    except BrokenLine as broken:
        raise BrokenFile(file.name, [Problem(None, broken.reason, broken.remedy)]) from broken


def first_present(found: dict[str, Any], *names: str) -> str:
    """Return the first of these names that the object has a value for. Raises BrokenLine if it has none."""
    for name in names:
        if found.get(name) is not None:
            return name
    raise BrokenLine(f"There is no field “{names[0]}”.", f"One of these is needed: {', '.join(names)}.")


TRANSLATION = (
    'Write {"text": "…", "language": "en", "by": "the name of a person or a model", "kind": "human" or "model"}.'
)
LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
LONGEST_MAKER = 200


class Fields:
    """The fields of one object, taken out one after the other; `rest` is what nobody asked for."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.rest = dict(found)

    def take(self, name: str) -> Any:
        """Return the field whatever it is; it must be there."""
        try:
            return self.rest.pop(name)
        except KeyError:
            raise BrokenLine(f"The field “{name}” is missing.", f'Add "{name}" to the line.') from None

    def text(self, name: str) -> str:
        """Return a text, which may be empty."""
        value = self.take(name)
        if not isinstance(value, str):
            raise BrokenLine(f"The field “{name}” is {shown(value)}, not a text.", "Put it in quotation marks.")
        return value

    def name(self, name: str) -> str:
        """Return a text that is not empty: an id or a name."""
        value = self.text(name)
        if not value.strip():
            raise BrokenLine(f"The field “{name}” is empty.", "Give it a value.")
        return value

    def optional_text(self, name: str) -> str:
        """Return a text, empty where the field is missing or null."""
        if self.rest.get(name) is None:
            self.rest.pop(name, None)
            return ""
        return self.text(name)

    def nullable_text(self, name: str) -> str | None:
        """Return a text or None; the field must be there."""
        if name in self.rest and self.rest[name] is None:
            return self.rest.pop(name)  # type: ignore[no-any-return]
        return self.text(name)

    def identifier(self, name: str) -> str:
        """Return an id that other people's files may give as a number."""
        value = self.rest.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(self.take(name))
        found = self.name(name)
        if found != found.strip():
            raise BrokenLine(
                f"The id {shown(found)} begins or ends with a blank.", "Remove the blank: other files may lack it."
            )
        return found

    def count(self, name: str) -> int:
        """Return a whole number of at least 0."""
        value = self.take(name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST_WHOLE:
            raise BrokenLine(f"The field “{name}” is {shown(value)}, not a whole number from 0 up.")
        return value

    def optional_count(self, name: str) -> int | None:
        """Return a whole number of at least 0, None where the field is missing or null."""
        if self.rest.get(name) is None:
            self.rest.pop(name, None)
            return None
        return self.count(name)

    def number(self, name: str) -> float:
        """Return a number."""
        value = self.take(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > LARGEST_NUMBER:
            raise BrokenLine(f"The field “{name}” is {shown(value)}, not a number.")
        return float(value)

    def optional_number(self, name: str) -> float | None:
        """Return a number, None where the field is missing or null."""
        if self.rest.get(name) is None:
            self.rest.pop(name, None)
            return None
        return self.number(name)

    def flag(self, name: str) -> bool:
        """Return true or false; false where the field is missing."""
        value = self.rest.pop(name, False)
        if not isinstance(value, bool):
            raise BrokenLine(f"The field “{name}” is {shown(value)}, not true or false.")
        return value

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Return one of the choices."""
        value = self.take(name)
        if value not in choices:
            raise BrokenLine(f"The field “{name}” is {shown(value)}, not one of {', '.join(filter(None, choices))}.")
        return str(value)

    def translation(self, name: str) -> dict[str, str]:
        """Return a translation: `text`, `language` (BCP 47), and `by` whom, a `human` or a `model`; {}: none."""
        found = self.rest.pop(name, None)
        if found is None or found == {}:
            return {}
        if not isinstance(found, dict):
            raise BrokenLine(f"The field “{name}” is {shown(found)}, not an object.", TRANSLATION)
        inner = Fields(found)
        said = {part: inner.name(part) for part in ("text", "language", "by")}
        said["kind"] = inner.choice("kind", ("human", "model"))
        inner.end()
        if not LANGUAGE_TAG.fullmatch(said["language"]):
            raise BrokenLine(f"“{said['language'][:40]}” is not a language.", TRANSLATION)
        if len(said["by"]) > LONGEST_MAKER:
            raise BrokenLine(f"The maker of the translation has {len(said['by'])} characters.", TRANSLATION)
        return said

    def attributes(self) -> dict[str, Any]:
        """Return the `attributes` with every field that is left: nothing of a line is lost."""
        attributes = self.rest.pop("attributes", {})
        if not isinstance(attributes, dict):
            raise BrokenLine(f"The field “attributes” is {shown(attributes)}, not an object.")
        twice = sorted(attributes.keys() & self.rest.keys())
        if twice:
            raise BrokenLine(f"“{twice[0]}” is both in the line and in its attributes.", "Remove one of them.")
        attributes = attributes | self.rest
        self.rest = {}
        return attributes

    def end(self) -> None:
        """Raise BrokenLine if a field is left that there is no place for."""
        if self.rest:
            raise BrokenLine(f"The field “{next(iter(self.rest))}” is unknown.", "Remove it.")
