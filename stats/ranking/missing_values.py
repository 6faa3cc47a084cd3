"""What is done where one of two evaluations lacks a value that the other has."""

from __future__ import annotations

from typing import Literal

Missing = Literal["error", "warn", "skip", "default"]
MISSING: dict[Missing, str] = {
    "warn": "compare what both have, and say what is missing",
    "skip": "compare what both have",
    "error": "refuse the comparison",
    "default": "take a fixed value in its place",
}
