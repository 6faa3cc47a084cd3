"""The lines of a stored text, each with its end: joined, they are the text."""

from __future__ import annotations

import re

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def lines_of(text: str) -> list[str]:
    return LINE.findall(text)
