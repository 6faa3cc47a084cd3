"""The papers' pipelines: CRUX's sub-questions and passages, RUBRIC's bank, LONG²RAG's key points, nuggets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from judging.building.pipelines import Ask, Done, Pipeline, Step, View, numbered, object_of, pieces_of
from judging.building.reply_parsing import Fault, Parsed, Row, json_list, labels, merged, points_with_spans, tagged

Key = Mapping[str, Any]

# LONG²RAG: what is done once more, and no third time.
ATTEMPTS = 2
# AutoNuggetizer: passages of a window, nuggets of a topic, nuggets that one call labels.
WINDOW = 10
MOST_NUGGETS = 30
LABELLED_AT_ONCE = 10
IMPORTANCE = ("vital", "okay")


# --- CRUX ---------------------------------------------------------------------------------------


def _ask_for_questions(view: View) -> list[Ask]:
    values = {"text": view.topic.summary, "request": view.topic.request, "count": str(view.options.count)}
    return [Ask({}, values)] if view.topic.summary else []


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
    return [
        Ask({"docno": document.docno, "piece": number}, {"text": piece, "request": view.topic.request})
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


# --- RUBRIC -------------------------------------------------------------------------------------


def _ask_for_a_bank(view: View) -> list[Ask]:
    return [Ask({}, {"request": view.topic.request, "count": str(view.options.count)})]


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


# --- LONG²RAG -----------------------------------------------------------------------------------


def _ask_for_points(view: View) -> list[Ask]:
    asked = []
    for document in view.topic.documents:
        values = {"request": view.topic.request, "text": document.text}
        asked.append(Ask({"docno": document.docno, "attempt": 1}, values))
        first = view.of(docno=document.docno, attempt=1)
        if first is not None and _again(first.faults):
            asked.append(Ask({"docno": document.docno, "attempt": ATTEMPTS}, values))
    return asked


def _again(faults: Sequence[str]) -> bool:
    return "not_verbatim" in faults


def _read_points(reply: str, key: Key, view: View) -> Parsed:
    document = view.topic.document(key["docno"])
    if document is None:
        return Parsed(faults=(Fault("unreadable", f"the document {key['docno']} is no longer here"),))
    return points_with_spans(reply, document.text, docno=document.docno)


def _keep_points(key: Key, parsed: Parsed, _: View) -> bool:
    return key["attempt"] == ATTEMPTS or not _again([fault.kind for fault in parsed.faults])


def _ask_to_aggregate(view: View) -> list[Ask]:
    if not view.before:
        return []
    values = {
        "request": view.topic.request, "points": numbered(view.before), "count": str(len(view.before)), "offence": "",
    }  # fmt: skip
    asked = [Ask({"attempt": 1}, values)]
    first = view.of(attempt=1)
    if first is not None and first.faults:
        asked.append(Ask({"attempt": ATTEMPTS}, values | {"offence": _offence(first)}))
    return asked


def _offence(first: Done) -> str:
    told = "; ".join(
        f"{OFFENCES.get(kind, kind)} {detail}".strip() for kind, detail in zip(first.faults, first.details, strict=True)
    )
    return f"\nAn earlier list was wrong: {told[:2_000]}. Do not repeat that."


OFFENCES = {
    "lost": "it left out number", "doubled": "it used twice number", "unknown": "it used a number that is not there:",
    "unreadable": "a line had no statement with numbers in brackets:", "truncated": "it was too long.",
}  # fmt: skip


def _keep_aggregation(key: Key, parsed: Parsed, _: View) -> bool:
    return key["attempt"] == ATTEMPTS or not parsed.faults


def _read_aggregation(reply: str, _: Key, view: View) -> Parsed:
    return merged(reply, view.before)


LONG2RAG_KEY_POINTS = Pipeline(
    name="long2rag-key-points",
    title="LONG²RAG: key points of documents",
    source="LONG²RAG, steps 8 and 10: points of each document with verbatim spans, then aggregated for each question.",
    steps=(
        Step(
            "points", "Points of each document", ("request", "documents"), "key_point", "long2rag-points",
            frozenset({"request", "text"}), _ask_for_points, _read_points, _keep_points,
            most_calls=lambda view: ATTEMPTS * len(view.topic.documents),
        ),
        Step(
            "aggregate", "Key points of each topic", (), "key_point", "long2rag-aggregate",
            frozenset({"request", "points", "count", "offence"}), _ask_to_aggregate, _read_aggregation,
            _keep_aggregation,
            most_calls=lambda _: ATTEMPTS,
        ),
    ),
)  # fmt: skip


# --- AutoNuggetizer -----------------------------------------------------------------------------


def _windows(view: View) -> list[str]:
    texts = [f"[{number}] {one.text}" for number, one in enumerate(view.topic.documents, start=1)]
    return ["\n\n".join(texts[start : start + WINDOW]) for start in range(0, len(texts), WINDOW)]


def _ask_for_nuggets(view: View) -> list[Ask]:
    """Ask window after window: each sees the nuggets of those before. A reply that cannot be read changes nothing."""
    asked: list[Ask] = []
    known: list[str] = []
    for number, window in enumerate(_windows(view), start=1):
        values = {
            "request": view.topic.request, "text": window, "most": str(MOST_NUGGETS),
            "nuggets": json.dumps(known, ensure_ascii=False),
        }  # fmt: skip
        asked.append(Ask({"window": number}, values))
        done = view.of(window=number)
        if done is None:
            return asked
        known = [row.text for row in done.rows]
    return asked


def _read_nuggets(reply: str, key: Key, view: View) -> Parsed:
    parsed = json_list(reply, "nuggets", most=MOST_NUGGETS)
    before = view.of(window=key["window"] - 1)
    if parsed.rows or before is None or not parsed.faults:
        return parsed
    return Parsed(before.rows, parsed.faults)


def _keep_nuggets(key: Key, _: Parsed, view: View) -> bool:
    return bool(key["window"] == len(_windows(view)))


def _batches(view: View) -> list[tuple[Row, ...]]:
    return [view.before[start : start + LABELLED_AT_ONCE] for start in range(0, len(view.before), LABELLED_AT_ONCE)]


def _ask_for_importance(view: View) -> list[Ask]:
    return [
        Ask(
            {"batch": number},
            {"request": view.topic.request, "points": numbered(batch), "count": str(len(batch))},
        )
        for number, batch in enumerate(_batches(view), start=1)
    ]


def _read_importance(reply: str, key: Key, view: View) -> Parsed:
    batch = _batches(view)[key["batch"] - 1]
    found, faults = labels(reply, "labels", offered=IMPORTANCE, count=len(batch))
    rows = (Row(row.text, {**row.data, "importance": label}) for row, label in zip(batch, found, strict=True))
    return Parsed(tuple(rows), faults)


NUGGETS = Pipeline(
    name="nuggets",
    title="AutoNuggetizer: nuggets with importance",
    source="AutoNuggetizer: a list that grows over windows of ten passages, then a label for each nugget.",
    steps=(
        Step(
            "nuggets", "Nuggets, window after window", ("request", "documents"), "nugget", "nuggets",
            frozenset({"request", "text", "nuggets", "most"}), _ask_for_nuggets, _read_nuggets, _keep_nuggets,
            most_calls=lambda view: len(_windows(view)), schema=object_of("nuggets"),
        ),
        Step(
            "importance", "Importance of each nugget", (), "nugget", "nugget-importance",
            frozenset({"request", "points", "count"}), _ask_for_importance, _read_importance,
            most_calls=lambda _: -(-MOST_NUGGETS // LABELLED_AT_ONCE),
            schema=object_of("labels", {"type": "array", "items": {"type": "string", "enum": list(IMPORTANCE)}}),
        ),
    ),
)  # fmt: skip

PIPELINES: Mapping[str, Pipeline] = {
    one.name: one for one in (CRUX_QUESTIONS, CRUX_PASSAGES, RUBRIC_QUESTIONS, LONG2RAG_KEY_POINTS, NUGGETS)
}
