"""LONG²RAG: key points of documents, with verbatim spans and scores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from judging.building.pipelines import Ask, Done, Key, Pipeline, Step, View, numbered
from judging.building.replies import grammars
from judging.building.reply_parsing import Fault, Parsed, Row, merged, points_with_spans, share_of

# What is done once more, and no third time.
ATTEMPTS = 2
YES_OR_NO = ("YES", "NO")
# A statement of an aggregation takes so many tokens at least: no reply holds more of them.
LEAST_TOKENS_OF_A_POINT = 8
# So many points of one reply a model is let write that can be bound.
MOST_OF_A_REPLY = 20


def _ask_for_points(view: View) -> list[Ask]:
    """Ask each document for its points, then in rounds for what was overlooked, until one brings nothing new."""
    asked = []
    for document in view.topic.documents:
        for number in range(1, view.options.rounds + 1):
            known = _known(view, document.docno, number)
            values = {"request": view.topic.request, "text": document.text, "known": _overlooked(known)}
            form = partial(grammars.points_with_spans, document.text, MOST_OF_A_REPLY)
            asked.append(Ask(_key(document.docno, number, 1), values, form=form))
            last = view.of(**_key(document.docno, number, 1))
            if last is not None and _again(last.faults):
                asked.append(Ask(_key(document.docno, number, ATTEMPTS), values, form=form))
                last = view.of(**_key(document.docno, number, ATTEMPTS))
            if last is None or not last.rows:
                break
    return asked


def _key(docno: str, number: int, attempt: int) -> Key:
    return {"docno": docno, "attempt": attempt, "round": number}


def _known(view: View, docno: str, number: int) -> list[str]:
    """Return the points of the document that the rounds before this one brought."""
    found = []
    for earlier in range(1, number):
        last = view.of(**_key(docno, earlier, ATTEMPTS)) or view.of(**_key(docno, earlier, 1))
        found += [row.text for row in last.rows] if last else []
    return found


def _overlooked(known: Sequence[str]) -> str:
    if not known:
        return ""
    listed = "\n".join(f"- {text}" for text in known)
    return (
        f"\nThese points of the document are known already:\n{listed}\n\nLook for what was overlooked, and list only "
        "points that say something else. If there is none, write None."
    )


def _again(faults: Sequence[str]) -> bool:
    return "not_verbatim" in faults


def _read_points(reply: str, key: Key, view: View) -> Parsed:
    document = view.topic.document(key["docno"])
    if document is None:
        return Parsed(faults=(Fault("unreadable", f"the document {key['docno']} is no longer here"),))
    known = _known(view, document.docno, key.get("round", 1))
    return points_with_spans(reply, document.text, docno=document.docno, known=known)


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
        form = partial(grammars.merged_in_order, len(view.before))
        asked.append(Ask({"attempt": ATTEMPTS}, values | {"offence": _offence(first)}, form=form))
    return asked


def _offence(first: Done) -> str:
    told = "; ".join(
        f"{OFFENCES.get(kind, kind)} {detail}".strip() for kind, detail in zip(first.faults, first.details, strict=True)
    )
    return (
        f"\nAn earlier list was wrong: {told[:2_000]}. Go through the points in their order, and join only points that "
        "follow one another: so none is left out, and none used twice."
    )


OFFENCES = {
    "lost": "it left out number", "doubled": "it used twice number", "unknown": "it used a number that is not there:",
    "unreadable": "a line had no statement with numbers in brackets:", "truncated": "it was too long.",
}  # fmt: skip


def _keep_aggregation(key: Key, parsed: Parsed, _: View) -> bool:
    return key["attempt"] == ATTEMPTS or not parsed.faults


def _read_aggregation(reply: str, _: Key, view: View) -> Parsed:
    return merged(reply, view.before)


def _ask_for_own_points(view: View) -> list[Ask]:
    """Ask an answer for its points as a document is asked for its, once more where a span is not verbatim."""
    if not view.topic.summary:
        return []
    values = {"request": view.topic.request, "text": view.topic.summary, "known": ""}
    first = view.of(attempt=1)
    form = partial(grammars.points_with_spans, view.topic.summary, MOST_OF_A_REPLY)
    again = [Ask({"attempt": ATTEMPTS}, values, form=form)] if first is not None and _again(first.faults) else []
    return [Ask({"attempt": 1}, values, form=form), *again]


def _read_own_points(reply: str, _: Key, view: View) -> Parsed:
    """Return all points: one whose span is not in the answer counts as well, in KPP's denominator."""
    return points_with_spans(reply, view.topic.summary, docno="", without_spans=True)


LONG2RAG_OWN_POINTS = Pipeline(
    name="long2rag-own-points",
    title="LONG²RAG: key points of answers",
    source="LONG²RAG, KPP: the points that the answers of one run make, to be looked for in the documents.",
    steps=(
        Step(
            "own-points", "Points of each answer", ("request", "summary"), "own_point", "long2rag-points",
            frozenset({"request", "text", "known"}), _ask_for_own_points, _read_own_points, _keep_points,
            most_calls=lambda _: ATTEMPTS,
        ),
    ),
    words={"summary": "a run of reports, one a topic: the answers"},
)  # fmt: skip


def _ask_for_scores(view: View) -> list[Ask]:
    return [
        Ask({"point": number}, {"request": view.topic.request, "point": row.text})
        for number, row in enumerate(view.before, start=1)
    ]


def _read_score(reply: str, key: Key, view: View) -> Parsed:
    """Give the point the score of a yes. One without probabilities has none: people decide about it."""
    row = view.before[key["point"] - 1]
    score = share_of(reply, *YES_OR_NO)
    if score is None:
        return Parsed((row,), (Fault("unscored", row.text),))
    return Parsed((Row(row.text, {**row.data, "score": round(score, 6), "keep_at": view.options.keep_at}),))


def _most_scores(view: View) -> int:
    return len(view.before) or view.options.reply_tokens // LEAST_TOKENS_OF_A_POINT


LONG2RAG_KEY_POINTS = Pipeline(
    name="long2rag-key-points",
    title="LONG²RAG: key points of documents",
    source="LONG²RAG, section 3.3: points of each document with verbatim spans, in rounds; aggregated for each topic; "
    "then the score of each as a key point, asked without documents.",
    steps=(
        Step(
            "points", "Points of each document", ("request", "documents"), "key_point", "long2rag-points",
            frozenset({"request", "text", "known"}), _ask_for_points, _read_points, _keep_points,
            most_calls=lambda view: view.options.rounds * ATTEMPTS * len(view.topic.documents),
        ),
        Step(
            "aggregate", "Key points of each topic", (), "key_point", "long2rag-aggregate",
            frozenset({"request", "points", "count", "offence"}), _ask_to_aggregate, _read_aggregation,
            _keep_aggregation,
            most_calls=lambda _: ATTEMPTS,
        ),
        Step(
            "score", "Score of each key point", (), "key_point", "long2rag-score", frozenset({"request", "point"}),
            _ask_for_scores, _read_score, most_calls=_most_scores, choices=YES_OR_NO,
        ),
    ),
    asks=("rounds", "keep_at"),
)  # fmt: skip
