"""CRUX: requests and sub-questions from human summaries, standalone passages from documents."""

from __future__ import annotations

from functools import partial

from judging.building.pipelines import Ask, Key, Pipeline, Step, View, pieces_of
from judging.building.replies import grammars
from judging.building.reply_parsing import Parsed, Row, first_tagged, tagged


def _ask_for_request(view: View) -> list[Ask]:
    return (
        [Ask({}, {"text": view.topic.summary}, form=partial(grammars.until_tag, "r", of="request"))]
        if view.topic.summary
        else []
    )


def _read_request(reply: str, *_: object) -> Parsed:
    return first_tagged(reply, "r")


CRUX_REQUESTS = Pipeline(
    name="crux-requests",
    title="CRUX: requests from a human summary",
    source="CRUX, step 4: a request of about 50 words, written from the summary with one example before it.",
    steps=(
        Step(
            "requests", "Requests", ("summary",), "request", "crux-requests", frozenset({"text"}),
            _ask_for_request, _read_request, temperature=0.7, top_p=0.95,
        ),
    ),
)  # fmt: skip


def _ask_for_questions(view: View) -> list[Ask]:
    values = {"text": view.topic.summary, "request": view.topic.request, "count": str(view.options.count)}
    form = partial(grammars.tags, "q", view.options.count, view.options.count, of="question")
    return [Ask({}, values, form=form)] if view.topic.summary else []


def _read_questions(reply: str, _: Key, view: View) -> Parsed:
    return tagged(reply, "q", count=view.options.count)


CRUX_QUESTIONS = Pipeline(
    name="crux-questions",
    title="CRUX: sub-questions from a human summary",
    source="CRUX, step 5: diverse, self-contained sub-questions written from the summary of a topic’s documents.",
    steps=(
        Step(
            "questions", "Sub-questions", ("summary",), "sub_question", "crux-questions",
            frozenset({"text", "request", "count"}), _ask_for_questions, _read_questions, temperature=0.7, top_p=0.95,
        ),
    ),
)  # fmt: skip


def _ask_for_passages(view: View) -> list[Ask]:
    form = partial(grammars.tags, "p", 2, 3, of="passage")
    return [
        Ask({"docno": document.docno, "piece": number}, {"text": piece, "request": view.topic.request}, form=form)
        for document in view.topic.documents
        for number, piece in enumerate(pieces_of(document.text, view.options.piece_words), start=1)
    ]


def _read_passages(reply: str, key: Key, _: View) -> Parsed:
    parsed = tagged(reply, "p")
    return Parsed(tuple(Row(row.text, {"docno": key["docno"]}) for row in parsed.rows), parsed.faults)


CRUX_PASSAGES = Pipeline(
    name="crux-passages",
    title="CRUX: standalone passages from documents",
    source="CRUX, steps 2 and 3: pieces of 512 words of documents with more than 1,024, two or three passages of each.",
    steps=(
        Step(
            "passages", "Passages", ("documents",), "passage", "crux-passages", frozenset({"text", "request"}),
            _ask_for_passages, _read_passages, most_calls=lambda view: len(_ask_for_passages(view)),
            temperature=0.7, top_p=0.95,
        ),
    ),
)  # fmt: skip
