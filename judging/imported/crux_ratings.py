"""CRUX's judge output: a line for each text with one rating per sub-question, in their order.

`{"id": topic, "docid": passage or run, "rating": [3, -1, …]}`, or in older files `example_id` and `pid`.
−1 stands for a reply without a digit: it becomes *ungraded*, never a grade.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collection.formats.problems import BrokenLine, InputFile
from collection.formats.values import strict_object
from judging.imported.rows import FileGrade

UNREAD = -1


def read_ratings(file: InputFile) -> Iterator[FileGrade]:
    """Yield what the file tells of each text and sub-question, the sub-questions by their number from 0."""
    for number, text in file.lines():
        with file.line(number):
            found = strict_object(text)
            topic_id, text_id = _name(found, "id", "example_id"), _name(found, "docid", "pid")
            ratings = _ratings(found)
            for position, rating in enumerate(ratings):
                grade = None if rating == UNREAD else float(rating)
                yield FileGrade(number, topic_id, text_id, position, grade, of_elements=len(ratings))


def _name(found: dict[str, Any], *names: str) -> str:
    for name in names:
        if isinstance(found.get(name), str) and found[name]:
            return str(found[name])
    remedy = f"It names the text: {' or '.join(names)}."
    if "custom_id" in found:
        remedy = "It looks like the output of a batch service: choose that format."
    raise BrokenLine(f"The line has no “{names[0]}”.", remedy)


def _ratings(found: dict[str, Any]) -> tuple[int, ...]:
    ratings = found.get("rating")
    if not isinstance(ratings, list) or not ratings:
        raise BrokenLine("“rating” is not a list of grades.", "One for each sub-question, in their order.")
    for rating in ratings:
        if isinstance(rating, bool) or not isinstance(rating, int) or not UNREAD <= rating <= 5:
            raise BrokenLine(f"“rating” holds {rating!r}, which is not a grade from 0 to 5 or −1.")
    return tuple(ratings)
