"""Prompt templates in TOML files: the shipped ones in `collection/questions/`, and those that researchers bring."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from collection.formats.problems import BrokenLine
from collection.formats.values import LARGEST_NUMBER, refuse_unstorable
from collection.questions.shapes import FILES
from judging.prompts.placeholders import PLACEHOLDER, BadTemplate

NEEDED = ("name", "task_type", "criterion", "text")
TEXTS = (*NEEDED, "system", "reply_with", "reply_rule", "reply_mark", "example", "source")
NUMBERS = ("reply_tokens", "orders", "cut_text_at")
TABLES = ("replies", "rename")
ALLOWED = (*TEXTS, *NUMBERS, *TABLES)


@dataclass(frozen=True)
class TemplateText:
    """A prompt template before it is stored. `judging.models.PromptTemplate` says what its fields mean."""

    name: str
    task_type: str
    criterion_name: str
    text: str
    system_text: str = ""
    reply_with: str = "value"
    source: str = ""
    replies: tuple[tuple[str, float], ...] = ()
    reply_rule: str = "first_line"
    reply_mark: str = ""
    reply_tokens: int | None = None
    orders: int = 1
    cut_text_at: int | None = None
    example_text: str = ""


def read_template(content: bytes, *, file_name: str) -> TemplateText:
    """Return the template of a TOML file. Raises BadTemplate, naming the file and what is wrong."""
    try:
        fields = tomllib.loads(content.decode("utf-8"))
        refuse_unstorable(fields)
    except BrokenLine as broken:
        raise BadTemplate(f"{file_name}: {broken.reason}") from broken
    except RecursionError as error:
        raise BadTemplate(f"{file_name} is nested too deeply.") from error
    except ValueError as error:  # not UTF-8, not TOML, or a number of thousands of digits
        raise BadTemplate(f"{file_name} is not a TOML file in UTF-8: {error}.") from error
    _check_kinds(fields, file_name)
    rename = fields.get("rename", {})

    def text_of(name: str) -> str:
        return _renamed(fields.get(name, "").strip(), rename)

    return TemplateText(
        name=fields["name"].strip(),
        task_type=fields["task_type"],
        criterion_name=fields["criterion"],
        text=text_of("text"),
        system_text=text_of("system"),
        reply_with=fields.get("reply_with", "own" if fields.get("replies") else "value"),
        source=fields.get("source", "").strip(),
        replies=tuple((reply, float(grade)) for reply, grade in fields.get("replies", {}).items()),
        reply_rule=fields.get("reply_rule", "first_line"),
        reply_mark=fields.get("reply_mark", "").strip(),
        reply_tokens=fields.get("reply_tokens"),
        orders=fields.get("orders", 1),
        cut_text_at=fields.get("cut_text_at"),
        example_text=text_of("example"),
    )


def shipped_templates() -> Iterator[TemplateText]:
    """Yield the templates that come with Assize."""
    for path in sorted(FILES.glob("*/prompts/*.toml"), key=lambda path: path.name):
        yield read_template(path.read_bytes(), file_name=path.name)


def _check_kinds(fields: Mapping[str, Any], file_name: str) -> None:
    for name in fields:
        if name not in ALLOWED:
            raise BadTemplate(f"{file_name}: “{name}” is not a field of a template. Use {', '.join(ALLOWED)}.")
    for name in TEXTS:
        if not isinstance(fields.get(name, ""), str):
            raise BadTemplate(f"{file_name}: “{name}” must be a text in quotation marks.")
    for name in NUMBERS:
        if not isinstance(fields.get(name, 1), int) or isinstance(fields.get(name), bool):
            raise BadTemplate(f"{file_name}: “{name}” must be a whole number.")
    for reply, grade in _table(fields, "replies", file_name).items():
        if not isinstance(grade, int | float) or isinstance(grade, bool) or not abs(grade) <= LARGEST_NUMBER:
            raise BadTemplate(f"{file_name}: in “replies”, “{reply}” must be given a grade, a number.")
    for theirs, ours in _table(fields, "rename", file_name).items():
        if not isinstance(ours, str) or not re.fullmatch(r"[a-z_]+", ours):
            raise BadTemplate(
                f"{file_name}: in “rename”, “{theirs}” must be given one of our placeholders, without braces."
            )
    for name in NEEDED:
        if not fields.get(name, "").strip():
            raise BadTemplate(f"{file_name}: “{name}” is missing.")


def _table(fields: Mapping[str, Any], name: str, file_name: str) -> dict[str, Any]:
    table = fields.get(name, {})
    if not isinstance(table, dict):
        raise BadTemplate(f"{file_name}: “{name}” must be a table: [{name}] with one line for each.")
    return table


def _renamed(text: str, rename: Mapping[str, str]) -> str:
    """Return the text with the placeholders that its author named otherwise, in one pass."""
    return PLACEHOLDER.sub(lambda match: f"{{{rename.get(match[1], match[1])}}}", text)
