"""Replies in which a model declines to answer instead of writing what was asked for."""

from __future__ import annotations

import re

# A refusal is short; a text that begins like one and goes on is a text.
MOST_CHARACTERS = 600
MARKS = re.compile(r"^(?:\s|[\"'“”‘’*_`#>\[]|</?\w{1,20}>|```\w*|\{\s*\"\w{1,30}\"\s*:|\d{1,2}[.)])+")
SORRY = (
    r"(?:(?:i['’]?m|i am|we['’]?re|we are)\s+(?:very\s+|really\s+|so\s+)?(?:sorry|afraid)|sorry|apologies|"
    r"i apologi[sz]e|unfortunately|regrettably)"
)
CANNOT = (
    r"(?:i|we)(?:['’]m| am|['’]re| are)?\s+(?:can['’]?t|can\s?not|could not|couldn['’]t|won['’]t|will not|unable to|"
    r"not able to|must decline|have to decline|decline)"
)
DOING = (
    r"(?:help(?!\s+but)|assist|comply|fulfil|fulfill|answer|provide|create|generate|write|produce|do|complete|engage|continue|"
    r"discuss|respond|support|share|process|offer|give|rate|judge|proceed|satisfy|to)"
)
REFUSAL = re.compile(
    rf"(?:{SORRY}\b.{{0,80}}?\b)?{CANNOT}\b.{{0,40}}?\b{DOING}\b"
    r"|as an? (?:ai|artificial intelligence|(?:large )?language model)\b.{0,120}?"
    r"\b(?:can['’]?t|cannot|unable|not able|won['’]t)\b"
    r"|(?:this|the|your) (?:request|content|prompt) (?:violates|goes against|is against)",
    re.IGNORECASE | re.DOTALL,
)


def is_refusal(reply: str) -> bool:
    """Whether the reply, without the marks around it, is short and begins as refusals in English do."""
    said = MARKS.sub("", reply).strip()
    return len(said) <= MOST_CHARACTERS and REFUSAL.match(said) is not None
