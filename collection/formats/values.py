"""Numbers, times and JSON as files write them: read strictly, by one rule for every format.

Whatever is refused here would otherwise be refused later, or worse: NaN and infinities end an export on PostgreSQL,
5,000 digits end Python's own reader, NUL and halves of surrogate pairs are kept by no database, and a key that
stands twice drops a value in silence.
"""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import Any

from collection.formats.problems import BrokenLine

# In JSON these may stand for characters that no database keeps. They may also be text.
SUSPICIOUS = re.compile(r"\\u(0000|[dD][89a-fA-F])")
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
LARGEST_WHOLE = 2**31 - 1
LARGEST_NUMBER = 1e300
# A line of so many values takes some 200 MB as Python's objects; the largest real one seen has 67,000.
MOST_VALUES = 1_000_000
MOST_LEVELS = 64
EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
TOO_DEEP = f"This JSON is nested more than {MOST_LEVELS} levels deep."
DIGITS = re.compile(r"[+-]?[0-9]{1,20}")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,5})?")


def shown(value: Any) -> str:
    """Return a value for a message, shortened."""
    written = value if isinstance(value, _Written) else json.dumps(value, ensure_ascii=False, default=str)
    return written if len(written) <= 40 else f"{written[:39]}…"


class _Written(str):
    """A text that stands for itself in a message, without quotation marks."""


# --- Numbers and times, as text -------------------------------------------------------------------


def read_number(written: str, name: str) -> float:
    """Return the finite number that is written in ASCII digits, as in 3, -0.5 or 1e-3. Raises BrokenLine."""
    found = float(written) if len(written) <= 400 and NUMBER.fullmatch(written) else math.nan
    if not abs(found) <= LARGEST_NUMBER:
        raise BrokenLine(f"The {name} “{shown(_Written(written))}” is not a number.", "Write it like 3 or 0.5.")
    return found


def read_whole(written: str, name: str, *, least: int = 0) -> int:
    """Return the whole number from `least` to 2³¹ − 1 that is written in ASCII digits. Raises BrokenLine."""
    found = int(written) if DIGITS.fullmatch(written) else LARGEST_WHOLE + 1
    if not least <= found <= LARGEST_WHOLE:
        raise BrokenLine(f"The {name} “{shown(_Written(written))}” is not a whole number from {least} up.")
    return found


def read_moment(written: str) -> datetime:
    """Return the time, which must tell its zone and lie between 1900 and 2200. Raises BrokenLine."""
    try:
        time = datetime.fromisoformat(written)
    except ValueError:
        raise BrokenLine(
            f"“{shown(_Written(written))}” is not a time.", "Write it like 2025-03-01T14:30:00+00:00."
        ) from None
    if time.tzinfo is None:
        raise BrokenLine(f"“{written}” has no time zone.", "Add it: Z, or +01:00.")
    if not EARLIEST.year < time.year < LATEST.year:  # compared by year: year 1 has no equivalent in another zone
        raise BrokenLine(f"“{written}” is not a time between 1900 and 2200.", "Correct the year.")
    return time


# --- JSON -----------------------------------------------------------------------------------------


def strict_json(text: str) -> Any:
    """Return what the JSON text says. Raises BrokenLine for what is not JSON or cannot be stored."""
    if len(text) > MOST_VALUES and text.count(",") + text.count("[") + text.count("{") > MOST_VALUES:
        raise BrokenLine(f"This JSON contains more than {MOST_VALUES:,} values.", "Split it over several lines.")
    try:
        found = _DECODER.decode(text)
        refuse_depth(found)
    except json.JSONDecodeError as error:
        reason = f"This is not JSON: {error.msg} at character {error.pos + 1}."
        raise BrokenLine(reason, "Each line must contain one complete JSON value.") from error
    except RecursionError as error:
        raise BrokenLine(TOO_DEEP) from error
    except BrokenLine:
        raise
    except ValueError as error:  # of the hooks below, and of Python for 4,300 digits
        raise BrokenLine(f"This JSON cannot be used: {error}.") from error
    if SUSPICIOUS.search(text):
        refuse_unstorable(found)
    return found


def strict_object(text: str) -> dict[str, Any]:
    """Return the object that the JSON text is. Raises BrokenLine."""
    found = strict_json(text)
    if not isinstance(found, dict):
        raise BrokenLine("This is JSON, but not an object.", 'Each line must contain one object: {"…": …}.')
    return found


def refuse_depth(found: Any, levels: int = MOST_LEVELS) -> None:
    """Raise BrokenLine where lists and objects stand in one another more than `levels` deep."""
    if levels == 0:
        raise BrokenLine(TOO_DEEP)
    parts = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    for part in parts:
        if isinstance(part, (dict, list)):
            refuse_depth(part, levels - 1)


def refuse_unstorable(found: Any) -> None:
    """Raise BrokenLine if any text in it holds NUL or half of a surrogate pair: databases keep neither."""
    if isinstance(found, dict):
        for key, value in found.items():
            refuse_unstorable(key)
            refuse_unstorable(value)
    elif isinstance(found, list):
        for value in found:
            refuse_unstorable(value)
    elif isinstance(found, str) and (unstorable := UNSTORABLE.search(found)):
        if unstorable[0] == "\x00":
            raise BrokenLine("A text contains the character U+0000, which databases cannot store.", "Remove it.")
        raise BrokenLine("A text contains half of a surrogate pair, which is not a character.", "Write the text again.")


def _not_a_number(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")


def _finite(digits: str) -> float:
    found = float(digits)
    if not abs(found) <= LARGEST_NUMBER:
        raise ValueError(f"{shown(_Written(digits))} is too large")
    return found


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key “{shown(_Written(key))}” is twice in one object")
            seen.add(key)
    return found


_DECODER = json.JSONDecoder(parse_constant=_not_a_number, parse_float=_finite, object_pairs_hook=_without_repeats)
