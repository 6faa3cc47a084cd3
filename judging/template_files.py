"""Prompt templates in TOML files: the shipped ones in `judging/prompts/`, and those that researchers bring."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judging.placeholders import BadTemplate

SHIPPED = Path(__file__).parent / "prompts"
NEEDED = ("name", "task_type", "criterion", "text")
ALLOWED = (*NEEDED, "system", "reply_with", "source")


@dataclass(frozen=True)
class TemplateText:
    """A prompt template before it is stored."""

    name: str
    task_type: str
    criterion_name: str
    text: str
    system_text: str = ""
    reply_with: str = "value"
    source: str = ""


def read_template(content: bytes, *, file_name: str) -> TemplateText:
    """Return the template of a TOML file. Raises BadTemplate, naming the file and what is wrong."""
    try:
        fields = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadTemplate(f"{file_name} is no TOML file in UTF-8: {error}.") from error
    for name in fields:
        if name not in ALLOWED:
            raise BadTemplate(f"{file_name}: “{name}” is no field of a template. There are {', '.join(ALLOWED)}.")
    for name in ALLOWED:
        if not isinstance(fields.get(name, ""), str):
            raise BadTemplate(f"{file_name}: “{name}” is text, in quotation marks.")
    for name in NEEDED:
        if not fields.get(name, "").strip():
            raise BadTemplate(f"{file_name}: “{name}” is missing.")
    return TemplateText(
        name=fields["name"].strip(),
        task_type=fields["task_type"],
        criterion_name=fields["criterion"],
        text=fields["text"].strip(),
        system_text=fields.get("system", "").strip(),
        reply_with=fields.get("reply_with", "value"),
        source=fields.get("source", "").strip(),
    )


def shipped_templates() -> Iterator[TemplateText]:
    """Yield the templates that come with Assize."""
    for path in sorted(SHIPPED.glob("*.toml")):
        yield read_template(path.read_bytes(), file_name=path.name)
