"""AutoNuggetizer: nuggets with importance."""

from __future__ import annotations

import json
from functools import partial

from judging.building.pipelines import Ask, Key, Pipeline, Step, View, numbered, object_of
from judging.building.replies import grammars
from judging.building.reply_parsing import Parsed, Row, json_list, labels

# Passages of a window, nuggets of a topic, nuggets that one call labels.
WINDOW = 10
MOST_NUGGETS = 30
LABELLED_AT_ONCE = 10
IMPORTANCE = ("vital", "okay")


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
        form = partial(grammars.texts_in, "nuggets", 0, MOST_NUGGETS, of="nugget")
        asked.append(Ask({"window": number}, values, form=form))
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
            form=partial(grammars.labels_in, "labels", IMPORTANCE, len(batch)),
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
