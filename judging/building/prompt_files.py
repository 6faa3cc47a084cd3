"""Prompts of pipelines in TOML files: the shipped ones in `judging/building/prompts/`, and those that people bring."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from collection.formats.problems import BrokenLine
from collection.formats.values import refuse_unstorable

SHIPPED = Path(__file__).parent / "prompts"
TEXTS = ("name", "text", "system", "source")
PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([a-z_]+)\}")
MOST_BYTES = 100_000


class BadPrompt(ValueError):
    """The prompt cannot be used; the message says why."""


@dataclass(frozen=True)
class StepPrompt:
    """What a step asks. `{name}` in the texts is filled, `{{` is a brace."""

    name: str
    version: int
    text: str
    system: str = ""
    source: str = ""

    @property
    def placeholders(self) -> frozenset[str]:
        return frozenset(match[1] for match in PLACEHOLDER.finditer(self.system + self.text) if match[1])

    @property
    def content_hash(self) -> str:
        """The SHA-256 over the words that the model reads."""
        return hashlib.sha256(json.dumps([self.system, self.text]).encode()).hexdigest()

    def as_stored(self) -> dict[str, Any]:
        return {**asdict(self), "hash": self.content_hash}

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> StepPrompt:
        return cls(**{name: stored[name] for name in ("name", "version", "text", "system", "source")})

    def filled(self, values: Mapping[str, str]) -> tuple[str, str]:
        """Return the system text and the prompt with these values, in one pass: what they hold is not filled again."""
        return _fill(self.system, values), _fill(self.text, values).strip()


def _fill(text: str, values: Mapping[str, str]) -> str:
    return PLACEHOLDER.sub(lambda match: values[match[1]] if match[1] else match[0][0], text)


def read_prompt(content: bytes, *, file_name: str) -> StepPrompt:
    """Return the prompt of a TOML file. Raises BadPrompt, naming the file and what is wrong."""
    if len(content) > MOST_BYTES:
        raise BadPrompt(f"{file_name} is larger than {MOST_BYTES:,} bytes.")
    try:
        fields = tomllib.loads(content.decode("utf-8"))
        refuse_unstorable(fields)
    except BrokenLine as broken:
        raise BadPrompt(f"{file_name}: {broken.reason}") from broken
    except (ValueError, RecursionError) as error:
        raise BadPrompt(f"{file_name} is not a TOML file in UTF-8: {error}.") from error
    if unknown := [name for name in fields if name not in (*TEXTS, "version")]:
        raise BadPrompt(f"{file_name}: “{unknown[0]}” is not a field of a prompt. Use {', '.join(TEXTS)}, version.")
    for name in TEXTS:
        if not isinstance(fields.get(name, ""), str):
            raise BadPrompt(f"{file_name}: “{name}” must be a text in quotation marks.")
    for name in ("name", "text"):
        if not fields.get(name, "").strip():
            raise BadPrompt(f"{file_name}: “{name}” is missing.")
    if not re.fullmatch(r"[\w-]{1,100}", fields["name"]):
        raise BadPrompt(f"{file_name}: “name” may contain only letters, digits, - and _, at most 100 of them.")
    version = fields.get("version", 1)
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version < 2**31:
        raise BadPrompt(f"{file_name}: “version” must be a whole number from 1.")
    return StepPrompt(
        fields["name"], version, fields["text"].strip(), fields.get("system", "").strip(), fields.get("source", "")
    )


@lru_cache
def shipped_prompt(name: str) -> StepPrompt:
    """Return the prompt of this name that comes with Assize."""
    return read_prompt((SHIPPED / f"{name}.toml").read_bytes(), file_name=f"{name}.toml")
