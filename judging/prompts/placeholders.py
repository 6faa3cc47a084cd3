"""Prompt templates: their placeholders, checked, and what an item puts into them."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from collection.models import Collection, Item, Passage, RubricElement, Scale, Topic
from collection.models.studies import TaskType
from collection.question_categories import CATEGORIES, category_of
from collection.questions.shapes import TASK_TYPES, title_of
from collection.texts.evidence import Grounds, grounds_of
from judging.models import PromptTemplate

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")

PLACEHOLDERS: dict[str, str] = {
    "request": "the topic’s request or question",
    "title": "the topic’s title",
    "background": "the topic’s background, or its narrative; empty where it has neither",
    "question": "the sub-question",
    "key_point": "the key point",
    "nugget": "the nugget",
    "category": "the category of the question that is judged, and what it means where it is one of LONG²RAG’s",
    "text": "the report or the passage that is judged",
    "translation": "the translation of the passage that is judged; empty where it has none",
    "first": "of a pair, the first answer",
    "second": "of a pair, the second answer",
    "answer": "the answer that a judged passage was used for, or the report that a judged sentence stands in",
    "sentence": "the sentence of a report that is judged",
    "passages": "the passages that an answer is based on, as shown to assessors",
    "grades": "every grade with its name and text, one per line",
    "choices": "the allowed replies, as a list in words",
    "mark": "a random code for the lines before and after the judged text, which the text cannot contain",
    "examples": "the judge’s examples, if any, each written as in the example text",
}
IN_EXAMPLES = {"choice": "in the example text: the correct reply"}

ELEMENTS = {
    RubricElement.Kind.SUB_QUESTION: "question",
    RubricElement.Kind.KEY_POINT: "key_point",
    RubricElement.Kind.NUGGET: "nugget",
}
# Placeholders of texts, which `cut_text_at` cuts, by what a task type judges.
TEXTS = {
    "report": ("text", "passages"),
    "passage": ("text", "translation"),
    "pair": ("first", "second"),
    "use": ("text", "translation", "answer"),
    "citation": ("text", "translation", "sentence", "answer"),
    "sentence": ("sentence", "answer"),
    "question": (),
}
EVERYWHERE = ("request", "title", "background", "grades", "choices", "mark", "examples")
MARK_DIGITS = 16
CUT_MARK = " […]"


class BadTemplate(ValueError):
    """The template cannot be used; the message says what to change."""


@dataclass(frozen=True)
class Replies:
    """The replies that a template allows, and the grade that each stands for."""

    choices: tuple[str, ...]
    values: tuple[float, ...]


@lru_cache(maxsize=256)
def placeholders_in(text: str) -> frozenset[str]:
    """Return the names of all placeholders that stand in the text, known or not."""
    return frozenset(PLACEHOLDER.findall(text))


def allowed_placeholders(task_type: str) -> list[str]:
    """Return the placeholders that this task type can fill."""
    shape = TASK_TYPES[task_type]
    allowed = {*EVERYWHERE, *TEXTS[shape.text]}
    if shape.element_kind is not None:
        allowed.add(ELEMENTS[shape.element_kind])
    if shape.text == "question":
        allowed.add("category")
    return [name for name in PLACEHOLDERS if name in allowed]


def check_placeholders(
    *, task_type: str, system_text: str, text: str, example_text: str = "", own_replies: Sequence[str] = ()
) -> None:
    """Raise BadTemplate unless every placeholder can be filled and none is missing."""
    allowed = allowed_placeholders(task_type)
    used = placeholders_in(system_text) | placeholders_in(text)
    _refuse_unknown(used, allowed, task_type)
    for name, why in _needed(task_type, used, own_replies, system_text + text).items():
        if name not in used:
            raise BadTemplate(f"{{{name}}} is missing: {why}.")
    if ("examples" in used) != bool(example_text):
        raise BadTemplate(
            "The template contains {examples} but there is no example text: add one."
            if "examples" in used
            else "There is an example text, but the template does not contain {examples}: add it."
        )
    if example_text:
        in_example = placeholders_in(example_text)
        _refuse_unknown(in_example, [*(n for n in allowed if n != "examples"), *IN_EXAMPLES], task_type)
        if "choice" not in in_example:
            raise BadTemplate("{choice} is missing from the example text: an example must show the correct reply.")


def _refuse_unknown(used: Iterable[str], allowed: Sequence[str], task_type: str) -> None:
    for name in sorted(used):
        if name not in allowed:
            offered = ", ".join(f"{{{known}}}" for known in allowed)
            raise BadTemplate(f"{{{name}}} is not a placeholder for “{title_of(task_type)}”. Use one of {offered}.")


def _needed(task_type: str, used: Iterable[str], own_replies: Sequence[str], text: str) -> dict[str, str]:
    """Return the placeholders that a judge cannot do without, with the reason. Raises BadTemplate."""
    shape = TASK_TYPES[task_type]
    needed: dict[str, str] = {}
    if shape.element_kind is not None:
        needed[ELEMENTS[shape.element_kind]] = "the judge would not know what is asked"
    if shape.text == "pair":
        needed |= dict.fromkeys(("first", "second"), "the judge would not see what it compares")
    elif shape.text == "question":
        needed["request"] = "the judge would not see what it judges"
        if task_type == TaskType.QUESTION_FIT:
            needed["category"] = "the judge would not know what the question is held against"
    elif "sentence" in TEXTS[shape.text]:
        needed["sentence"] = "the judge would not see what it judges"
        needed |= {"text": "the judge would not see what is cited"} if shape.text == "citation" else {}
    elif task_type not in {TaskType.KEY_POINT, TaskType.NUGGET}:
        needed["text"] = "the judge would not see what it judges"
    elif not {"text", "request"} & set(used):
        raise BadTemplate("The template contains neither {text} nor {request}: it needs one of them.")
    spelled = own_replies and all(reply.casefold() in text.casefold() for reply in own_replies)
    if not spelled:
        needed["choices"] = "the reply’s format must be promised"
    return needed


def choices_of(scale: Scale, reply_with: str) -> tuple[str, ...]:
    """Return the replies that stand for the scale's grades, in its order. Raises BadTemplate if they are not clear."""
    if reply_with == PromptTemplate.ReplyWith.VALUE:
        return tuple(f"{value:g}" for value in scale.values)
    names = tuple(str(point["name"]).strip() for point in scale.points)
    if len({name.casefold() for name in names}) < len(names) or any(not name or "\n" in name for name in names):
        raise BadTemplate(f"The grades of “{scale}” have no distinct names: let the template ask for values.")
    return names


def replies_of(template: PromptTemplate | None, scale: Scale) -> Replies:
    """Return the replies that the template allows on this scale. Raises BadTemplate if they do not fit it."""
    if template is None:
        return Replies(choices_of(scale, PromptTemplate.ReplyWith.VALUE), tuple(scale.values))
    if template.reply_with != PromptTemplate.ReplyWith.OWN:
        return Replies(choices_of(scale, template.reply_with), tuple(scale.values))
    for reply, grade in template.replies:
        if grade not in scale.values:
            raise BadTemplate(f"“{reply}” stands for {grade:g}, which is not a grade of the scale “{scale}”.")
    return Replies(
        tuple(str(reply) for reply, _ in template.replies), tuple(float(grade) for _, grade in template.replies)
    )


def in_words(choices: Sequence[str]) -> str:
    """Return "0, 1 or 2"."""
    return " or ".join(part for part in (", ".join(choices[:-1]), choices[-1]) if part)


def grades_in_words(scale: Scale, replies: Replies) -> str:
    """Return every allowed reply with what it means, one a line."""
    lines = []
    for choice, value in zip(replies.choices, replies.values, strict=True):
        point = scale.point(value) or {"name": "", "text": ""}
        named = choice if choice == str(point["name"]).strip() else f"{choice} ({point['name']})"
        lines.append(f"{named}: {point['text']}")
    return "\n".join(lines)


def values_of(
    item: Item,
    scale: Scale,
    replies: Replies,
    *,
    passages: Sequence[str] = (),
    swapped: bool = False,
    grades: str | None = None,
) -> dict[str, str]:
    """Return what each placeholder becomes for this item; `swapped` changes the two texts of a pair over.

    `passages` are those that the item's answer rests on. `grades` are the grades in words, where the caller has them
    already. `examples` stays empty: they are the judge's.
    """
    element = item.element.text if item.element else ""
    first, second = item.report, item.other_report
    if swapped:
        first, second = second, first
    return {
        "request": item.topic.request,
        "title": item.topic.title,
        "background": item.topic.background,
        "question": element,
        "key_point": element,
        "nugget": element,
        "category": category_in_words(item.topic) if item.task_type == TaskType.QUESTION_FIT else "",
        "text": item.judged_text.text or "",
        "translation": item.passage.translation.get("text", "") if item.passage else "",
        "first": first.text if first else "",
        "second": second.text if second else "",
        "answer": item.report.text if item.report else "",
        "sentence": item.sentence_text,
        "passages": numbered(passages),
        "grades": grades_in_words(scale, replies) if grades is None else grades,
        "choices": in_words(replies.choices),
        "mark": "",
        "examples": "",
    }


def category_in_words(topic: Topic) -> str:
    """Return the category of the topic's question, with what it means where it is one of LONG²RAG's."""
    category = category_of(topic.attributes)
    return f"{category}: {CATEGORIES[category]}" if category in CATEGORIES else category


def mark_of(values: Mapping[str, str], used: Iterable[str]) -> str:
    """Return the code for the lines around the judged texts of a prompt, or its element, or its question alone.

    It is a hash of these texts, so no text can hold its own: whoever writes one cannot close its place in the prompt.
    The same texts always have the same, so that replies can be repeated and servers can cache what prompts begin with.
    """
    shown = {name for names in TEXTS.values() for name in names} & set(used) or set(ELEMENTS.values()) & set(used)
    shown = shown or {"request"}
    texts = "\x00".join(sorted(values[name] for name in shown))
    return hashlib.sha256(texts.encode("utf-8", "surrogatepass")).hexdigest()[:MARK_DIGITS]


def passages_of(items: Iterable[Item]) -> dict[int, list[str]]:
    """Return the texts of the passages that the items' answers rest on, by report: the same that people are shown."""
    reports = {item.report_id: item.topic for item in items if item.report_id is not None}
    topics_of: dict[Collection, set[int]] = defaultdict(set)
    for topic in reports.values():
        topics_of[topic.collection].add(topic.pk)
    grounds: dict[int, Grounds] = {}
    for collection, topics in topics_of.items():
        grounds |= grounds_of(collection, topics=sorted(topics))
    found = {report: grounds[report].passages for report in reports if report in grounds}
    keys = {key for passages in found.values() for key in passages}
    texts = dict(Passage.objects.filter(pk__in=keys).values_list("pk", "text"))
    return {report: [texts[key] or "" for key in passages] for report, passages in found.items()}


def numbered(texts: Sequence[str]) -> str:
    """Return the texts with their numbers before them."""
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, 1))


def cut_texts(
    values: Mapping[str, str], *, used: Iterable[str], at: int | None
) -> tuple[dict[str, str], dict[str, int]]:
    """Return the values with every judged text cut after `at` code points, and which texts lost something."""
    if at is None:
        return dict(values), {}
    texts = {name for names in TEXTS.values() for name in names} & set(used)
    too_long = {name for name in texts if len(values[name]) > at}
    cut = {name: value[:at] + CUT_MARK if name in too_long else value for name, value in values.items()}
    return cut, dict.fromkeys(sorted(too_long), at)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace each placeholder once; what comes in is not searched for placeholders again."""
    return PLACEHOLDER.sub(lambda match: values[match[1]], text)
