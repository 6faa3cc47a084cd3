"""Writes the object that a topic, a nugget or an assignment was read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collection.formats.nugget_banks.nuggets import (
    ASSIGNMENTS,
    FAILED,
    OURS,
    QUESTION,
    Answer,
    AssignedAnswer,
    BankTopic,
    Form,
    Nugget,
    Object,
    Reference,
)
from collection.formats.offsets import WRITTEN


def _ours(attributes: Object, name: str, default: Any) -> Any:
    """Return what we noted under this name, or the default where there is nothing of the same type."""
    found = attributes.get(f"{OURS}{name}")
    return found if isinstance(found, type(default)) else default


def written_topic(topic: BankTopic) -> Object:
    """Return the object that the topic was read from, or one of its form for nuggets made here."""
    kept = {name: value for name, value in topic.attributes.items() if not name.startswith(OURS)}
    if topic.form == "short":
        return {nugget.text: _written_short(nugget) for nugget in topic.nuggets}
    head = {_ours(topic.attributes, "id", "query_id" if topic.form == "v3" else "qid"): topic.topic_id}
    if topic.form == "v3":
        return head | _written_banks(topic) | kept
    listed = [written_nugget(nugget, topic.form) for nugget in topic.nuggets]
    return head | {"rubrics" if topic.form == "rubrics" else "nuggets": listed} | kept


def _written_banks(topic: BankTopic) -> Object:
    banks: dict[str, Object] = {}
    claims = _ours(topic.attributes, "claims", "claim_bank")
    for nugget in topic.nuggets:
        name = "nugget_bank" if nugget.kind == QUESTION else claims
        banks.setdefault(name, {})[_ours(nugget.attributes, "key", nugget.text)] = written_nugget(nugget, "v3")
    return banks


def written_nugget(nugget: Nugget, form: Form) -> Object:
    """Return the object that a nugget is in a form other than the short one."""
    kept = {name: value for name, value in nugget.attributes.items() if not name.startswith(OURS)}
    found: Object
    if form == "rubrics":
        found = {
            "criterion": nugget.text,
            "points" if "assize:points" in nugget.attributes else "weight": _number(nugget),
        }
        return found | ({"axis": nugget.group} if nugget.group and "assize:axis" in nugget.attributes else {}) | kept
    said = {"importance": nugget.importance} if nugget.importance else {}
    if form != "v3":
        found = {"text": nugget.text} | said
        return found | ({"mapped_sub_narrative": nugget.group} if nugget.group and form == "rag25" else {}) | kept
    name = "question" if nugget.kind == QUESTION else "claim"
    found = {name: nugget.text, **({f"{name}_id": nugget.element_id} if nugget.element_id else {}), **said}
    if nugget.aggregator:
        found["aggregator_type"] = nugget.aggregator.upper()
    if nugget.answers:
        found["answers"] = {_ours(one.attributes, "key", one.text): written_answer(one) for one in nugget.answers}
    return found | _written_references(nugget.references) | _written_parts(nugget) | kept


def _written_parts(nugget: Nugget) -> Object:
    return {"sub_nuggets": [written_nugget(part, "v3") for part in nugget.parts]} if nugget.parts else {}


def written_answer(answer: Answer) -> Object:
    """Return the object that an answer is in NuggetBank's form."""
    kept = {name: value for name, value in answer.attributes.items() if not name.startswith(OURS)}
    found: Object = {"answer": answer.text}
    if answer.importance:
        found["importance"] = answer.importance
    if answer.creator is not None:
        found["creator"] = answer.creator
    return found | _written_references(answer.references) | kept


def _written_references(references: Sequence[Reference]) -> Object:
    return {"references": [written_reference(one) for one in references]} if references else {}


def written_reference(reference: Reference) -> Any:
    """Return the object, or the bare id, that a reference is in NuggetBank's form."""
    if reference.attributes.get("assize:short"):
        return reference.docno
    kept = {name: value for name, value in reference.attributes.items() if not name.startswith(OURS)}
    found: Object = {"doc_id": reference.docno}
    for name, value in (("text", reference.quote), ("quality", reference.quality), ("creator", reference.creator)):
        if value not in (None, ""):
            found[name] = value
    if reference.start is not None:
        found["offsets"] = written_offsets(reference)
    return found | kept


def written_offsets(reference: Reference) -> Object:
    """Return the object that the offsets of a reference are, which has both."""
    beyond = _ours(reference.attributes, "offsets", {})
    found: Object = {"start_offset": reference.start, "end_offset": reference.end}
    if not beyond.get("assize:unsaid"):
        found["encoding"] = WRITTEN[reference.encoding]
    return found | {name: value for name, value in beyond.items() if name != "assize:unsaid"}


def _written_short(nugget: Nugget) -> list[Any]:
    aggregator = _ours(nugget.attributes, "aggregator", (nugget.aggregator or "or").upper())
    return [aggregator, {one.text: [ref.docno for ref in one.references] for one in nugget.answers}]


def _number(nugget: Nugget) -> float | int:
    weight = 0.0 if nugget.weight is None else nugget.weight
    return int(weight) if weight.is_integer() else weight


def written_assignment(answer: AssignedAnswer, *, query: str) -> Object:
    """Return the object that AutoNuggetizer's assign step writes of an answer."""
    names = {grade: name for name, grade in ASSIGNMENTS.items()}
    nuggets = [
        {"importance": FAILED, **written_nugget(nugget, "autonuggetizer"), "assignment": names[grade]}
        for nugget, grade in zip(answer.topic.nuggets, answer.grades, strict=True)
    ]
    found = {
        "query": query,
        "qid": answer.topic.topic_id,
        "answer_text": answer.answer,
        "response_length": len(answer.answer.split()),
        "run_id": answer.run,
        "nuggets": nuggets,
    }
    return found | answer.attributes


def content_of(nugget: Nugget) -> Mapping[str, Any]:
    """Return what an element consists of besides its text: another content is another element."""
    return {
        "aggregator": nugget.aggregator,
        "answers": [written_answer(answer) for answer in nugget.answers],
        "references": [written_reference(reference) for reference in nugget.references],
    }
