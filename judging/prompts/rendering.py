"""What a judge's engine gets to see of an item: the filled template, with the judge's examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from collection.models import Item, Scale
from judging.data.pool_statistics import pool_statistics
from judging.engines import GradeRequest
from judging.engines.lexical import BM25, words_in
from judging.engines.probe_store import room_of_thinking
from judging.models import Judge, PromptTemplate
from judging.prompts.placeholders import (
    Replies,
    cut_texts,
    fill,
    grades_in_words,
    mark_of,
    passages_of,
    placeholders_in,
    replies_of,
    values_of,
)

NO_PASSAGES = "No passage that this answer is based on has a text here, so the answer cannot be checked against one."
# Criteria under which a judge without a prompt looks for the answer's words in what the answer rests on.
ANSWER_IS_THE_QUERY = frozenset({"faithful", "passage_for_answer"})
NO_WORDS = "The answer has no content words, so there is nothing to look for in a passage."


@dataclass(frozen=True)
class Prompt:
    """A template filled for an item. `cut` names the texts that were cut, with the code points that were kept."""

    system: str
    text: str
    cut: Mapping[str, int]
    impossible: str = ""


@dataclass(frozen=True)
class Example:
    """An example as a prompt shows it. `about` tells what it is about: that item never sees it."""

    about: tuple[Any, ...]
    text: str


@dataclass(frozen=True)
class Frame:
    """What all prompts of a template on a scale have in common: found once, not for each of a job's items."""

    replies: Replies
    used: frozenset[str]
    grades: str


def frame_of(template: PromptTemplate | None, scale: Scale) -> Frame:
    """Return what the template's prompts have in common. Raises BadTemplate."""
    replies = replies_of(template, scale)
    used = placeholders_in(template.system_text) | placeholders_in(template.text) if template else frozenset()
    return Frame(replies, used, grades_in_words(scale, replies))


def request_for(judge: Judge, item: Item) -> GradeRequest:
    """Return what the judge sees of this item, to be shown. Its topic, element and texts come along, unasked for."""
    frame = frame_of(judge.template, judge.scale)
    return _request(judge, item, frame, _passages_for(judge, [item], frame).get(item.report_id or 0, []))


def requests_for(judge: Judge, items: Sequence[Item]) -> list[GradeRequest]:
    """Return what the judge's engine gets of many items of one study, with the study's pool if it measures by that."""
    frame = frame_of(judge.template, judge.scale)
    passages = _passages_for(judge, items, frame)
    requests = [_request(judge, item, frame, passages.get(item.report_id or 0, [])) for item in items]
    if requests and judge.decoding.get("method") == BM25:
        pool = pool_statistics(items[0].study_id)
        return [replace(request, pool=pool) for request in requests]
    room = room_of_thinking(judge) if requests else 0
    return [replace(request, thinks_for=room) for request in requests] if room else requests


def _passages_for(judge: Judge, items: Sequence[Item], frame: Frame) -> dict[int, list[str]]:
    measured = judge.template is None and judge.criterion_name == "faithful"
    return passages_of(items) if measured or "passages" in frame.used else {}


def _measured(judge: Judge, item: Item, replies: Replies, passages: Sequence[str]) -> GradeRequest:
    """Return what an engine that measures compares: what is looked for, and where."""
    query = item.asked_about
    sentence = item.sentence_text if item.passage is None else ""
    text, impossible = sentence or item.judged_text.text or "", ""
    if judge.criterion_name in {"utility", "importance"}:  # whether a key point or a nugget matters
        text = item.topic.request
    elif judge.template is None and judge.criterion_name in ANSWER_IS_THE_QUERY:
        query = item.report.text if item.report else ""
        impossible = "" if words_in(query) else NO_WORDS
        if judge.criterion_name == "faithful":
            text, impossible = "\n\n".join(passages), impossible if passages else NO_PASSAGES
    return GradeRequest(item.pk, replies.choices, query, text, values=replies.values, impossible=impossible)


def _request(judge: Judge, item: Item, frame: Frame, passages: Sequence[str]) -> GradeRequest:
    template, replies = judge.template, frame.replies
    measured = _measured(judge, item, replies, passages)
    if template is None:
        return measured
    examples = examples_for(judge, item)
    prompt = prompt_of(template, item, judge.scale, examples=examples, passages=passages, frame=frame)
    asked = replace(
        measured,
        prompt=prompt.text,
        system=prompt.system,
        rule=template.reply_rule,
        mark=template.reply_mark,
        reply_tokens=template.reply_tokens,
        cut=tuple(prompt.cut.items()),
        impossible=prompt.impossible,
    )
    if template.orders == 1:
        return asked
    swapped = prompt_of(template, item, judge.scale, examples=examples, swapped=True, frame=frame)
    turned = tuple(-value for value in replies.values)
    return replace(asked, swapped=replace(asked, prompt=swapped.text, system=swapped.system, values=turned))


def prompt_of(
    template: PromptTemplate,
    item: Item,
    scale: Scale,
    *,
    examples: str = "",
    swapped: bool = False,
    passages: Sequence[str] | None = None,
    frame: Frame | None = None,
) -> Prompt:
    """Fill the template for the item. `swapped` changes the two texts of a pair over. Raises BadTemplate.

    `passages` are those that its answer rests on; they are looked up if they are asked for and not given.
    """
    frame = frame or frame_of(template, scale)
    used = frame.used
    if passages is None:
        passages = passages_of([item]).get(item.report_id or 0, []) if "passages" in used else []
    whole = values_of(item, scale, frame.replies, passages=passages, swapped=swapped, grades=frame.grades)
    values, cut = cut_texts(whole, used=used, at=template.cut_text_at)
    values["examples"] = examples
    if "mark" in used:
        values["mark"] = mark_of(values, used)
    lacks_passages = "passages" in used and not whole["passages"]
    return Prompt(
        fill(template.system_text, values), fill(template.text, values), cut, NO_PASSAGES if lacks_passages else ""
    )


def examples_for(judge: Judge, item: Item) -> str:
    """Return the judge's examples as text, without any that asks the same about the same text as this item."""
    if not judge.examples:
        return ""
    this = what_it_is_about(item)
    return "\n\n".join(example.text for example in _examples_of(judge.content_hash) if example.about != this)


def example_in_words(template: PromptTemplate, item: Item, scale: Scale, grade: float) -> str:
    """Write one example as the template says, with the reply that stands for the grade."""
    replies = replies_of(template, scale)
    used = placeholders_in(template.example_text)
    passages = passages_of([item]).get(item.report_id or 0, []) if "passages" in used else []
    values, _ = cut_texts(values_of(item, scale, replies, passages=passages), used=used, at=template.cut_text_at)
    values["mark"] = mark_of(values, used)
    values["choice"] = replies.choices[replies.values.index(grade)]
    return fill(template.example_text, values)


def what_it_is_about(item: Item) -> tuple[Any, ...]:
    """Return what makes two items the same question about the same texts, in whatever study they stand."""
    texts = [text.text_sha256 for text in (item.passage, item.report, item.other_report) if text is not None]
    return item.topic.topic_id, item.element and item.element.text, item.sentence_text, frozenset(texts)


@lru_cache(maxsize=32)
def _examples_of(content_hash: str) -> tuple[Example, ...]:
    """Write the examples of the judge with this hash. It covers their texts, so they are the same for ever."""
    judge = Judge.objects.select_related("template", "scale").get(rater__content_hash=content_hash)
    assert judge.template is not None  # only templates show examples
    stored = Item.objects.filter(
        study=judge.examples_from_id, item_id__in=[example["item"] for example in judge.examples]
    ).select_related("topic", "element", "passage", "report", "other_report", "sentence")
    items = {item.item_id: item for item in stored}
    return tuple(
        Example(
            about=what_it_is_about(items[example["item"]]),
            text=example_in_words(judge.template, items[example["item"]], judge.scale, example["grade"]),
        )
        for example in judge.examples
    )
