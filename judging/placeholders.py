"""Prompt templates: their placeholders, checked, and what an item puts into them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence

from collection.models import Item, Scale
from collection.models.studies import TaskType
from judging.models import PromptTemplate

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")

# What each placeholder stands for, and for which task types.
PLACEHOLDERS: dict[str, str] = {
    "request": "the topic's request or question",
    "title": "the topic's title",
    "question": "the sub-question",
    "key_point": "the key point",
    "text": "the report or the passage that is judged",
    "grades": "every grade with its name and text, one a line",
    "choices": "the replies that are allowed, as a list in words",
}
ELEMENT = {TaskType.ANSWERABILITY: "question", TaskType.RATING: "question", TaskType.KEY_POINT: "key_point"}


class BadTemplate(ValueError):
    """The template cannot be used; the message says what to change."""


def allowed_placeholders(task_type: str) -> list[str]:
    """Return the placeholders that this task type can fill."""
    other_elements = set(ELEMENT.values()) - {ELEMENT[TaskType(task_type)]}
    return [name for name in PLACEHOLDERS if name not in other_elements]


def check_template(*, task_type: str, system_text: str, text: str) -> None:
    """Raise BadTemplate unless every placeholder can be filled and none is missing."""
    allowed = allowed_placeholders(task_type)
    used = PLACEHOLDER.findall(system_text) + PLACEHOLDER.findall(text)
    label = TaskType(task_type).label
    for name in used:
        if name not in allowed:
            offered = ", ".join(f"{{{known}}}" for known in allowed)
            raise BadTemplate(f"{{{name}}} is no placeholder for “{label}”. There are {offered}.")
    element = ELEMENT[TaskType(task_type)]
    needed = {element: "the judge would not know what is asked", "choices": "the reply's format must be promised"}
    if task_type != TaskType.KEY_POINT:
        needed["text"] = "the judge would not see what it judges"
    elif not {"text", "request"} & set(used):
        raise BadTemplate("Neither {text} nor {request} stands in the template: the key point is held against one.")
    for name, why in needed.items():
        if name not in used:
            raise BadTemplate(f"{{{name}}} is missing: {why}.")


def choices_of(scale: Scale, reply_with: str) -> tuple[str, ...]:
    """Return the replies that stand for the scale's grades, in its order. Raises BadTemplate if they are not clear."""
    if reply_with == PromptTemplate.ReplyWith.VALUE:
        return tuple(f"{value:g}" for value in scale.values)
    names = tuple(str(point["name"]).strip() for point in scale.points)
    if len({name.casefold() for name in names}) < len(names) or any(not name or "\n" in name for name in names):
        raise BadTemplate(f"The grades of “{scale}” have no names that differ: let the template ask for values.")
    return names


def in_words(choices: Sequence[str]) -> str:
    """Return "0, 1 or 2"."""
    return " or ".join(part for part in (", ".join(choices[:-1]), choices[-1]) if part)


def values_of(item: Item, scale: Scale, choices: Sequence[str]) -> dict[str, str]:
    """Return what each placeholder becomes for this item."""
    grades = "\n".join(
        f"{choice}: {point['text']}"
        if choice == str(point["name"]).strip()
        else f"{choice} ({point['name']}): {point['text']}"
        for choice, point in zip(choices, scale.points, strict=True)
    )
    element = item.element.text if item.element else ""
    return {
        "request": item.topic.request,
        "title": item.topic.title,
        "question": element,
        "key_point": element,
        "text": item.judged_text.text or "",
        "grades": grades,
        "choices": in_words(choices),
    }


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace each placeholder once; what comes in is not searched for placeholders again."""
    return PLACEHOLDER.sub(lambda match: values[match[1]], text)


def template_hash(*, task_type: str, criterion_name: str, system_text: str, text: str, reply_with: str) -> str:
    """Return the SHA-256 over all of a template that shapes a grade."""
    parts = [task_type, criterion_name, system_text, text, reply_with]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()
