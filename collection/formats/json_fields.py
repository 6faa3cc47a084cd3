"""JSON objects, one a line, and their fields with the types they must have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collection.formats.problems import BrokenLine, InputFile
from collection.formats.values import LARGEST_NUMBER, LARGEST_WHOLE, shown, strict_object


def json_objects(file: InputFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the object of each line."""
    for number, line in file.lines():
        with file.line(number):
            yield number, strict_object(line)


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
        return self.name(name)

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
