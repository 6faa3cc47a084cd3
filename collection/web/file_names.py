"""What downloads are called: of which study, what, whose, under which measure, of which part, and of which day."""

from __future__ import annotations

import re
from datetime import date
from typing import Literal

from collection.rankings import Order

LONGEST = 180
LETTERS = {"η": "eta", "α": "alpha", "≥": "-from-", ">=": "-from-"}


def file_stem(
    study: str,
    *said: str,
    part: Literal["all", "development", "test"] = "all",
    order: Order = "score",
    on: date | None = None,
) -> str:
    """Return a file's name without its ending: the study, what is `said` of the content, then what narrows it.

    A part of a split study is in the name, an order of passages that is not trec_eval's, and the day `on` which
    something was as the file says it. Letters that other systems' file names lack become dashes.
    """
    words = [study, *said, part if part != "all" else "", "by-rank" if order == "rank" else ""]
    stem = "-".join(filter(None, map(file_word, words)))[:LONGEST].rstrip("-.")
    return f"{stem}-{on.isoformat()}" if on else stem


def file_word(text: str) -> str:
    """Return the text with nothing but what a file's name may hold everywhere."""
    for letter, spelt in LETTERS.items():
        text = text.replace(letter, spelt)
    return re.sub(r"-+(?=@)", "", re.sub(r"[^A-Za-z0-9@._]+", "-", text)).strip("-.")
