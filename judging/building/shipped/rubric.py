"""RUBRIC: banks of exam questions."""

from __future__ import annotations

from functools import partial

from judging.building.pipelines import Ask, Key, Pipeline, Step, View, object_of
from judging.building.replies import grammars
from judging.building.reply_parsing import Parsed, json_list


def _ask_for_a_bank(view: View) -> list[Ask]:
    form = partial(grammars.texts_in, "questions", view.options.count, view.options.count)
    return [Ask({}, {"request": view.topic.request, "count": str(view.options.count)}, form=form)]


def _read_a_bank(reply: str, _: Key, view: View) -> Parsed:
    return json_list(reply, "questions", count=view.options.count)


RUBRIC_QUESTIONS = Pipeline(
    name="rubric-questions",
    title="RUBRIC: a bank of exam questions",
    source="RUBRIC, step 1: concise questions of insight for each query.",
    steps=(
        Step(
            "questions", "Exam questions", ("request",), "sub_question", "rubric-questions",
            frozenset({"request", "count"}), _ask_for_a_bank, _read_a_bank, schema=object_of("questions"),
        ),
    ),
)  # fmt: skip
