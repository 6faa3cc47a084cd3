"""The words of a text that a judge's reason quotes."""

from __future__ import annotations

import re
from typing import Any

FEWEST = 8  # characters: less is found by chance
MOST = 5
QUOTED = re.compile(r"“([^”]+)”|\"([^\"\n]+)\"|«([^»]+)»|„([^“”]+)[“”]|「([^」]+)」")


def quoted_spans(reason: str, text: str) -> list[dict[str, Any]]:
    """Return where the text says what the reason has in quotation marks, word for word and in one place only."""
    spans: list[dict[str, Any]] = []
    for match in QUOTED.finditer(reason):
        quote = next(group for group in match.groups() if group is not None).strip().strip("….")
        start = text.find(quote)
        if len(quote) < FEWEST or start < 0 or text.find(quote, start + 1) >= 0:
            continue
        span = {"start": start, "end": start + len(quote), "quote": quote}
        if span not in spans and len(spans) < MOST:
            spans.append(span)
    return spans
