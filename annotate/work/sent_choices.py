"""A choice as the page sends it, read at the edge: nothing inside knows its JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, QueryDict

from annotate.quality.pasting import MOST, Pasted
from collection.formats.problems import decoded
from collection.formats.values import strict_object
from collection.judgments.services import NOTHING_WRITTEN, Span, Written

MAX_SPANS = 200
MOST_HELD = 20
BIGGEST_KEY = 2**63
LONGEST_KEY = 19
BIGGEST_VERSION = 2**15
NOTHING_PASTED = Pasted(0, 0)
A_DAY = 24 * 60 * 60.0


class UnreadableChoice(ValueError):
    """What was sent is no choice."""


@dataclass(frozen=True)
class SentChoice:
    item: int
    criterion: int
    grade: float | None
    spans: list[Span]
    seconds: float | None
    written: Written
    guidelines: int | None
    pasted: Pasted
    submit: bool = False
    unsure: bool = False
    held: frozenset[int] | None = None
    page_changed: bool = False


def is_of_another(request: HttpRequest) -> bool:
    """Whether the page that sends this was opened by somebody else, who was signed in here before.

    What they chose waits in their browser until they are back; it is nobody else's, and is not lost.
    """
    me = str(request.user.pk)
    return request.headers.get("X-Assessor", me) != me


def read_choice(body: bytes) -> SentChoice:
    """Read `{item, criterion, grade, spans: [{start, end, quote}], seconds, guidelines, answer, submit, unsure, held,
    page_changed}`.

    An answer is `{text, confirmations}`, and beside it stands `pasted: {times, characters}` where something was pasted;
    `guidelines` is the version that the page shows. `submit`: this is the last answer, so the task is to be submitted
    with it. `unsure`: the assessor is not sure of the grade. `held` lists the assignments whose pages the browser has,
    and says that it takes the other pages that it needs next with the reply. `page_changed`: the item's text on the
    page was not the stored one.
    Raises UnreadableChoice.
    """
    try:
        sent = strict_object(decoded(body))
        grade = sent["grade"]
        seconds = sent.get("seconds")
        spans = sent.get("spans", [])
        if len(spans) > MAX_SPANS:
            raise UnreadableChoice(f"More than {MAX_SPANS} highlights in one question.")
        return SentChoice(
            item=_read_key(sent["item"]),
            criterion=_read_key(sent["criterion"]),
            grade=None if grade is None else float(grade),
            spans=[_read_span(span) for span in spans],
            seconds=None if seconds is None else min(max(0.0, float(seconds)), A_DAY),
            written=_read_written(sent["answer"]) if "answer" in sent else NOTHING_WRITTEN,
            guidelines=_read_version(sent.get("guidelines")),
            submit=sent.get("submit") is True,
            unsure=sent.get("unsure") is True,
            page_changed=sent.get("page_changed") is True,
            held=_read_held(sent.get("held")),
            pasted=_read_pasted(sent["pasted"]) if "pasted" in sent else NOTHING_PASTED,
        )
    except UnreadableChoice:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UnreadableChoice(f"This is not a choice: {error!r}.") from error


def key_in(text: str) -> int:
    """Return the key that an address names; 0, which nothing has, where it names none."""
    return int(text) if text.isdecimal() and len(text) < LONGEST_KEY else 0


def _read_key(key: Any) -> int:
    if not isinstance(key, int) or not 0 < key < BIGGEST_KEY:
        raise UnreadableChoice("This is not a choice: items and criteria are named by their numbers.")
    return key


def _read_held(held: Any) -> frozenset[int] | None:
    if held is None:
        return None
    if not isinstance(held, list) or len(held) > MOST_HELD:
        raise UnreadableChoice(f"The pages that a browser holds are a list of {MOST_HELD} numbers at most.")
    return frozenset(_read_key(key) for key in held)


def _read_version(version: Any) -> int | None:
    if version is None:
        return None
    if not isinstance(version, int) or isinstance(version, bool) or not 0 < version < BIGGEST_VERSION:
        raise UnreadableChoice("This is not a choice: guidelines are named by their version, a whole number.")
    return version


def _read_written(answer: Any) -> Written:
    text, confirmations = answer["text"], answer["confirmations"]
    if not isinstance(text, str) or not all(isinstance(name, str) for name in confirmations):
        raise UnreadableChoice("An answer is a text and a list of what is confirmed of it.")
    return Written(text, tuple(confirmations))


def _read_pasted(pasted: Any) -> Pasted:
    times, characters = pasted["times"], pasted["characters"]
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in (times, characters)):
        raise UnreadableChoice("What was pasted is told by two whole numbers.")
    return Pasted(min(times, MOST), min(characters, MOST))


def _read_span(span: Any) -> Span:
    if not (isinstance(span["start"], int) and isinstance(span["end"], int) and isinstance(span["quote"], str)):
        raise UnreadableChoice("A highlight is two whole numbers and a quote.")
    return Span(span["start"], span["end"], span["quote"])


NONE = "none"


def with_grades_of_boxes(posted: QueryDict) -> QueryDict:
    """Return the form with the grade 1 for each ticked box of a group and 0 for each other one, unsure as the group is.

    A group is a name whose boxes each stand in “boxes” as “group field”; its values are the ticked fields, or “none”.
    A group of which nothing is ticked, not even “none”, is not answered yet and gives no grades.
    """
    graded = posted.copy()
    for box in posted.getlist("boxes"):
        group, _, field = box.partition(" ")
        if ticked := posted.getlist(group):
            graded[field] = "1" if field in ticked else "0"
            if f"unsure-{group}" in posted:
                graded[f"unsure-{field.removeprefix('grade-')}"] = "on"
    return graded
