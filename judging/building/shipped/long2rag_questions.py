"""LONG²RAG’s questions: which are worth asking, of which category each is, and which shorter ones it is made of."""

from __future__ import annotations

import json
from functools import partial

from collection.question_categories import CATEGORIES, KEPT
from judging.building.pipelines import TEXTS_SCHEMA, Ask, Key, Pipeline, Step, View
from judging.building.replies import grammars
from judging.building.reply_parsing import Fault, Parsed, Row, bracketed_number, json_object
from judging.building.topic_attributes import POINTS, TYPES

LEAST_POINTS, MOST_POINTS = 1, 5
# So many shorter questions a model is let write that can be bound.
MOST_PARTS = 10


def _ask_for_a_number(view: View) -> list[Ask]:
    numbers = [f"[{number}]" for number in range(LEAST_POINTS, MOST_POINTS + 1)]
    return [Ask({}, {"request": view.topic.request}, form=partial(grammars.one_of, numbers))]


def _read_points(reply: str, _: Key, __: View) -> Parsed:
    found = bracketed_number(reply, LEAST_POINTS, MOST_POINTS)
    if found is None:
        return Parsed(faults=(Fault("unreadable", f"no number from {LEAST_POINTS} to {MOST_POINTS} in brackets"),))
    return Parsed((Row(str(found), {"attribute": POINTS}),))


LONG2RAG_FILTER = Pipeline(
    name="long2rag-filter",
    title="LONG²RAG: questions worth asking",
    source="LONG²RAG, section 3.1: a point for each of five properties of a question; four points keep it.",
    steps=(
        Step(
            "points", "Points of each question", ("request",), "topic_attribute", "long2rag-filter",
            frozenset({"request"}), _ask_for_a_number, _read_points,
        ),
    ),
)  # fmt: skip


def _ask_for_category(view: View) -> list[Ask]:
    """Ask of every question that was not filtered out."""
    if view.topic.attributes.get(KEPT) is False:
        return []
    listed = "\n".join(f"- {name}: {meaning}" for name, meaning in CATEGORIES.items())
    return [Ask({}, {"request": view.topic.request, "categories": listed})]


def _read_category(reply: str, _: Key, __: View) -> Parsed:
    said = json_object(reply)
    if said is None:
        return Parsed(faults=(Fault("unreadable", "not a JSON object"),))
    label = str(said.get("category", "")).strip().casefold()
    if label not in CATEGORIES:
        return Parsed(faults=(Fault("bad_label", label),))
    return Parsed((Row(label, {"attribute": "category"}),))


LONG2RAG_CATEGORIES = Pipeline(
    name="long2rag-categories",
    title="LONG²RAG: categories of questions",
    source="LONG²RAG, Figure 3: one of eight categories for each question that was not filtered out.",
    steps=(
        Step(
            "categories", "Category of each question", ("request",), "topic_attribute", "long2rag-categories",
            frozenset({"request", "categories"}), _ask_for_category, _read_category,
            most_calls=lambda view: len(_ask_for_category(view)),
            schema={
                "type": "object", "properties": {"category": {"type": "string", "enum": list(CATEGORIES)}},
                "required": ["category"], "additionalProperties": False,
            },
        ),
    ),
)  # fmt: skip


def _ask_for_parts(view: View) -> list[Ask]:
    form = partial(grammars.typed_texts, "type", TYPES, "Simple", "questions", MOST_PARTS)
    return [Ask({}, {"request": view.topic.request}, form=form)]


def _read_parts(reply: str, _: Key, __: View) -> Parsed:
    """Return the question’s type with its shorter questions, a line each: none if it is simple, some otherwise."""
    said = json_object(reply)
    if said is None:
        return Parsed(faults=(Fault("unreadable", "not a JSON object"),))
    kind, listed = str(said.get("type", "")).strip().capitalize(), said.get("questions", [])
    if kind not in TYPES:
        return Parsed(faults=(Fault("bad_label", kind),))
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        return Parsed(faults=(Fault("unreadable", "“questions” is not a list of texts"),))
    questions = list(dict.fromkeys(" ".join(one.split()) for one in listed if one.strip()))
    if kind == "Simple" and questions:
        return Parsed((Row(kind, {"attribute": "question_type"}),), (Fault("too_many", f"{len(questions)} for 0"),))
    if kind != "Simple" and not questions:
        return Parsed(faults=(Fault("too_few", f"no questions of a {kind.lower()} one"),))
    return Parsed((Row("\n".join([kind, *questions]), {"attribute": "question_type"}),))


LONG2RAG_PARTS = Pipeline(
    name="long2rag-parts",
    title="LONG²RAG: shorter questions to search with",
    source="LONG²RAG, section 3.2: each question is simple, complex or vague, and taken apart to search for its parts.",
    steps=(
        Step(
            "parts", "Parts of each question", ("request",), "topic_attribute", "long2rag-parts",
            frozenset({"request"}), _ask_for_parts, _read_parts,
            schema=json.loads(json.dumps({
                "type": "object",
                "properties": {"type": {"type": "string", "enum": list(TYPES)}, "questions": TEXTS_SCHEMA},
                "required": ["type", "questions"], "additionalProperties": False,
            })),
        ),
    ),
)  # fmt: skip
