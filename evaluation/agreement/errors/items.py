"""The items of a cell, or all errors: text, what was expected and given, the judge's reply, and people's grades."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from collection.judgments.rationales import rationales_of
from collection.models import Item
from evaluation.agreement.disputed_items import question_of
from evaluation.agreement.errors.report import UNGRADED, Errors
from evaluation.data.judge_pairs import batched
from judging.data.reasons import replies_of
from stats.agreement.report import plain_grade

SHOWN = 10
READ_AT_ONCE = 200


@dataclass(frozen=True)
class ErrorItem:
    """An item beside which the rater stands with what is expected.

    `text` is empty where only its id was imported, `reason` where the rater gave none, and `reply` where it is no judge
    that graded here.
    """

    item: Item
    question: str
    text: str
    expected: str
    given: str
    wrong: bool
    people: tuple[tuple[str, float | int | str], ...]
    reply: str
    reason: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "item": self.item.item_id,
            "topic": self.item.topic.topic_id,
            "question": self.question,
            "text": self.text or None,
            "expected": self.expected,
            "given": None if self.given == UNGRADED else self.given,
            "wrong": self.wrong,
            "reply": self.reply or None,
            "reason": self.reason or None,
            "people": dict(self.people),
        }


def error_items(found: Errors, places: Sequence[int]) -> list[ErrorItem]:
    """Read the items at these places of the report, in their order."""
    keys = [int(found.items[place]) for place in places]
    items = Item.objects.select_related("topic", "element", "passage", "report__run").in_bulk(keys)
    replies, reasons = _words_of(found, keys)
    return [_error_item(found, place, items[key], replies, reasons) for place, key in zip(places, keys, strict=True)]


def _words_of(found: Errors, keys: list[int]) -> tuple[dict[int, str], dict[int, str]]:
    """Return a judge's replies, and the rater's reasons, by item."""
    asked = (found.rater.rater, found.rater.criterion, keys)
    return replies_of(*asked) if found.rater.is_judge else {}, rationales_of(*asked)


def _error_item(found: Errors, place: int, item: Item, replies: dict[int, str], reasons: dict[int, str]) -> ErrorItem:
    said = zip(found.people, found.said[place].tolist(), strict=True)
    return ErrorItem(
        item=item,
        question=question_of(item),
        text=item.judged_text.text or "",
        expected=found.expected_labels[found.expected[place]],
        given=found.given_labels[found.given[place]],
        wrong=bool(found.wrong[place]),
        people=tuple((name, plain_grade(grade)) for name, grade in said if np.isfinite(grade)),
        reply=replies.get(item.pk, ""),
        reason=reasons.get(item.pk, ""),
    )


def exported_errors(found: Errors, places: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield the items at these places as `as_dict` has them, some at a time."""
    for some in batched(places, READ_AT_ONCE):
        yield from (one.as_dict() for one in error_items(found, some))


def error_rows(found: Errors, places: Sequence[int]) -> Iterator[list[Any]]:
    """Yield the same as rows of a table, with a first row of names; each person has a column."""
    names = ("item", "topic", "question", "text", "expected", "given", "wrong", "reply", "reason")
    yield [*names, *(f"grade of {name}" for name in found.people)]
    for one in exported_errors(found, places):
        yield [*(int(one[name]) if name == "wrong" else one[name] for name in names)] + [
            one["people"].get(name) for name in found.people
        ]
