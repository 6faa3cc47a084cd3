"""Reads topics with their nuggets, and which nuggets answers support."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from collection.formats.json_fields import json_objects, whole_json
from collection.formats.nugget_banks.nuggets import (
    AGGREGATORS,
    ASSIGNMENTS,
    AXIS,
    CLAIM,
    IMPORTANCES,
    MOST_GROUP,
    MOST_ID,
    QUESTION,
    TOPIC_IDS,
    Answer,
    AssignedAnswer,
    BankTopic,
    Form,
    Nugget,
    Object,
    Reference,
)
from collection.formats.nugget_banks.recognition import are_scores, form_of, is_assignment
from collection.formats.nugget_banks.writer import (
    written_answer,
    written_assignment,
    written_nugget,
    written_offsets,
    written_reference,
    written_topic,
)
from collection.formats.offsets import WRITTEN, encoding_named
from collection.formats.problems import BrokenFile, BrokenLine, InputFile, Problem
from collection.formats.values import LARGEST_NUMBER, shown


def read_nugget_banks(file: InputFile) -> Iterator[tuple[int, BankTopic | AssignedAnswer]]:
    """Yield the number of each line and what it holds. What is broken is noted with the file.

    A file whose first line is a brace alone holds one object over many lines.
    """
    for number, found in _objects(file):
        with file.line(number):
            yield number, parse_assignment(found) if is_assignment(found) else parse_bank_topic(found)


def _objects(file: InputFile) -> Iterator[tuple[int, Object]]:
    first = next(InputFile(file.path, name=file.name).lines(), None)
    if first and first[1].strip() == "{":
        yield first[0], whole_object(file)
    else:
        yield from json_objects(file)


def whole_object(file: InputFile) -> Object:
    """Return the one object that a file is, over many lines. Raises BrokenFile."""
    found = whole_json(file, remedy="Write one topic per line.")
    if not isinstance(found, dict):
        raise BrokenFile(file.name, [Problem(None, "This is JSON, but not an object.")])
    return found


def parse_bank_topic(found: Object) -> BankTopic:
    """Return the nuggets of one topic. Raises BrokenLine."""
    form = form_of(found)
    if form is None and are_scores(found):
        raise BrokenLine(
            "These are scores, which are computed here from assignments.", "Import the assignments that they are of."
        )
    if form is None:
        raise BrokenLine("No nuggets are found in this line.", "See which forms there are (docs/formats.md).")
    if form == "short":
        return BankTopic("", form, tuple(_short(text, value) for text, value in found.items()))
    topic_id, id_field = _topic_id(found)
    nuggets = _nuggets(found, form)
    topic = BankTopic(topic_id, form, nuggets, *_request(found), attributes={"assize:id": id_field})
    if form == "v3" and any("claim" in one for one in (found.get("nugget_bank") or {}).values()):
        topic.attributes["assize:claims"] = "nugget_bank"
    return replace(topic, attributes=topic.attributes | _beyond(found, written_topic(topic)))


def parse_assignment(found: Object) -> AssignedAnswer:
    """Return which nuggets an answer supports. Raises BrokenLine."""
    run, answer = found.get("run_id"), found.get("answer_text", "")
    if not isinstance(run, str) or not run.strip():
        raise BrokenLine("The field “run_id” is missing or empty.", "Name the run.")
    if not isinstance(answer, str):
        raise BrokenLine(f"The field “answer_text” is {shown(answer)}, not a text.")
    grades = []
    for number, one in enumerate(found["nuggets"], start=1):
        if one["assignment"] not in ASSIGNMENTS:
            raise BrokenLine(
                f"Nugget {number}: the assignment is {shown(one['assignment'])}.", f"One of {', '.join(ASSIGNMENTS)}."
            )
        grades.append(ASSIGNMENTS[one["assignment"]])
    plain = [{name: value for name, value in one.items() if name != "assignment"} for one in found["nuggets"]]
    topic = parse_bank_topic({"qid": found.get("qid"), "query": found.get("query"), "nuggets": plain} | _id_of(found))
    read = AssignedAnswer(topic, run, answer, tuple(grades))
    beyond = _beyond(found, written_assignment(read, query=topic.request))
    return replace(read, attributes={name: value for name, value in beyond.items() if name != "nuggets"})


def _id_of(found: Object) -> Object:
    return {name: found[name] for name in TOPIC_IDS[:3] if found.get(name) is not None}


def _topic_id(found: Object) -> tuple[str, str]:
    for name in TOPIC_IDS:
        value = found.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value), name
        if isinstance(value, str) and value.strip():
            return value, name
    raise BrokenLine("The line does not name its topic.", f"One of these is needed: {', '.join(TOPIC_IDS)}.")


def _request(found: Object) -> tuple[str, str]:
    """Return the request and the title of the topic, as far as the object says them."""
    title = found.get("title_query")
    asked = [found.get(name) for name in ("query", "full_query", "prompt", "problem_statement", "title_query")]
    texts = (
        next((one["content"] for one in reversed(said) if _is_asked(one)), None) if isinstance(said, list) else said
        for said in asked
    )
    request = next((text for text in texts if isinstance(text, str) and text), "")
    return request, title if isinstance(title, str) and title != request and len(title) <= 500 else ""


def _is_asked(message: Any) -> bool:
    """Whether it is a message of the person who asks, in a conversation."""
    return isinstance(message, dict) and message.get("role") == "user" and isinstance(message.get("content"), str)


def _nuggets(found: Object, form: Form) -> tuple[Nugget, ...]:
    if form == "rubrics":
        return tuple(_in_order(found["rubrics"], _criterion))
    if form != "v3":
        return tuple(_in_order(found["nuggets"], _listed))
    banks = [(name, found.get(name) or {}) for name in ("nugget_bank", "claim_bank")]
    nuggets = []
    for name, bank in banks:
        if not isinstance(bank, dict):
            raise BrokenLine(f"The field “{name}” is {shown(bank)}, not an object.")
        nuggets += [_v3(one, f"“{key[:60]}”", key=key) for key, one in bank.items()]
    return tuple(nuggets)


def _in_order(found: Sequence[Object], parse: Any) -> Iterator[Nugget]:
    for number, one in enumerate(found, start=1):
        try:
            yield parse(one)
        except BrokenLine as broken:
            raise BrokenLine(f"Nugget {number}: {broken.reason}", broken.remedy) from broken


def _listed(found: Object) -> Nugget:
    nugget = Nugget(
        _text(found, "text"),
        importance=_importance(found),
        group=_group(found.get("mapped_sub_narrative")),
    )
    return _with_the_rest(nugget, found, "rag25")


def _criterion(found: Object) -> Nugget:
    group = _group(found.get("axis"))
    tags = found.get("tags")
    if not group and isinstance(tags, list):
        group = next((_group(tag.removeprefix(AXIS)) for tag in tags if isinstance(tag, str) and AXIS in tag), "")
    name = "points" if "points" in found else "weight"
    weight = found.get(name)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or abs(weight) > LARGEST_NUMBER:
        raise BrokenLine(f"The field “{name}” is {shown(weight)}, not a number.", "It says what the criterion counts.")
    nugget = Nugget(_text(found, "criterion"), weight=float(weight), group=group)
    return _with_the_rest(nugget, found, "rubrics", points=name == "points", axis="axis" in found)


def _v3(found: Any, where: str, *, key: str = "") -> Nugget:
    """Return a question or a claim with its answers, references and parts. Raises BrokenLine."""
    if not isinstance(found, dict):
        raise BrokenLine(f"{where} is {shown(found)}, not an object.")
    name = "claim" if "claim" in found else "question"
    try:
        nugget = Nugget(
            _text(found, name),
            kind=CLAIM if name == "claim" else QUESTION,
            element_id=_name(found.get(f"{name}_id")),
            importance=_importance(found),
            aggregator=AGGREGATORS.get(str(found.get("aggregator_type")), ""),
            answers=tuple(_answer(one, text) for text, one in _dict(found, "answers").items()),
            references=_references(found),
            parts=tuple(_v3(one, f"Sub-nugget {n}") for n, one in enumerate(_list(found, "sub_nuggets"), start=1)),
        )
    except BrokenLine as broken:
        raise BrokenLine(f"{where}: {broken.reason}", broken.remedy) from broken
    return _with_the_rest(nugget, found, "v3", key=key)


def _answer(found: Any, key: str) -> Answer:
    if not isinstance(found, dict):
        raise BrokenLine(f"The answer “{key[:60]}” is {shown(found)}, not an object.")
    answer = Answer(
        _text(found, "answer"),
        importance=_importance(found),
        creator=found.get("creator"),
        references=_references(found),
    )
    ours = {"assize:key": key} if key != answer.text else {}
    return replace(answer, attributes=ours | _beyond(found, written_answer(answer)))


def _references(found: Object) -> tuple[Reference, ...]:
    return tuple(map(_reference, _list(found, "references")))


def _reference(found: Any) -> Reference:
    if isinstance(found, str) and found.strip():
        return Reference(found, attributes={"assize:short": True})
    if not isinstance(found, dict):
        raise BrokenLine(f"A reference is {shown(found)}, not an object.", "It has a doc_id.")
    reference = Reference(
        _text(found, "doc_id"),
        quote=found.get("text") or "",
        quality=found.get("quality"),
        creator=found.get("creator"),
    )
    if not isinstance(reference.quote, str):
        raise BrokenLine(f"The text of a reference is {shown(reference.quote)}, not a text.")
    offsets, ours = found.get("offsets"), {}
    if isinstance(offsets, dict):
        start, end = (_offset(offsets, name) for name in ("start_offset", "end_offset"))
        if start > end:
            raise BrokenLine(f"A reference ends at {end}, before it starts at {start}.", "Correct the offsets.")
        encoding = encoding_named(offsets.get("encoding", WRITTEN[""]))
        reference = replace(reference, start=start, end=end, encoding=encoding)
        ours = {"assize:offsets": beyond} if (beyond := _beyond(offsets, written_offsets(reference))) else {}
        if "encoding" not in offsets:
            ours["assize:offsets"] = ours.get("assize:offsets", {}) | {"assize:unsaid": True}
    kept = replace(reference, attributes=ours)
    return replace(kept, attributes=ours | _beyond(found, written_reference(kept)))


def _offset(offsets: Object, name: str) -> int:
    value = offsets.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BrokenLine(f"The field “{name}” is {shown(value)}, not a whole number from 0 up.")
    return value


def _short(text: str, value: list[Any]) -> Nugget:
    aggregator, answers = value
    if not text.strip():
        raise BrokenLine("A question is empty.", "Write its text.")
    found = []
    for answer, docs in answers.items():
        if not isinstance(docs, list) or not all(isinstance(doc, str) and doc for doc in docs) or not answer.strip():
            raise BrokenLine(f"The documents of “{answer[:60]}” are {shown(docs)}, not a list of ids.")
        found.append(Answer(answer, references=tuple(Reference(doc) for doc in docs)))
    ours = {} if aggregator in AGGREGATORS else {"assize:aggregator": aggregator}
    aggregated = AGGREGATORS.get(aggregator.upper(), "")
    return Nugget(text, QUESTION, aggregator=aggregated, answers=tuple(found), attributes=ours)


def _text(found: Object, name: str) -> str:
    value = found.get(name)
    if not isinstance(value, str) or not value.strip():
        raise BrokenLine(f"The field “{name}” is {shown(value)}, not a text.", "Write what is asked for in it.")
    return value


def _dict(found: Object, name: str) -> Object:
    value = found.get(name) or {}
    if not isinstance(value, dict):
        raise BrokenLine(f"The field “{name}” is {shown(value)}, not an object.")
    return value


def _list(found: Object, name: str) -> list[Any]:
    value = found.get(name) or []
    if not isinstance(value, list):
        raise BrokenLine(f"The field “{name}” is {shown(value)}, not a list.")
    return value


def _importance(found: Object) -> str:
    said = found.get("importance")
    return said if said in IMPORTANCES else said.lower() if said in ("VITAL", "OKAY") else ""


def _group(said: Any) -> str:
    return said if isinstance(said, str) and len(said) <= MOST_GROUP else ""


def _name(said: Any) -> str:
    return said if isinstance(said, str) and 0 < len(said) <= MOST_ID else ""


def _with_the_rest(nugget: Nugget, found: Object, form: Form, *, key: str = "", **ours: bool) -> Nugget:
    """Return the nugget with what its object says beyond what would be written of it."""
    kept: Object = {f"assize:{name}": True for name, there in ours.items() if there}
    if key and key != nugget.text:
        kept["assize:key"] = key
    nugget = replace(nugget, attributes=kept)
    return replace(nugget, attributes=kept | _beyond(found, written_nugget(nugget, form)))


def _beyond(found: Object, written: Object) -> Object:
    """Return what the object says that would not be written, or would be written otherwise."""
    return {name: value for name, value in found.items() if name not in written or written[name] != value}
