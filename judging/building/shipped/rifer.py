"""RIFER and EIFRP: key facts of the best documents, verified in the others, smoothed into a cited report."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from judging.building.cited_replies import best_cited, over_cited
from judging.building.key_facts.gathering import (
    DOCUMENTS,
    confidence,
    fact_lines,
    facts_before,
    gathered_of,
    inferring_sentence,
    ranked,
    relevant_part,
    smoothed,
)
from judging.building.pipelines import Ask, Key, Pipeline, Slot, Step, View, numbered
from judging.building.replies import grammars
from judging.building.reply_parsing import Parsed, Row, json_list_raw

MOST_SENTENCES = 20
# A fact as long as most, to foresee the length of prompts with.
LIKELY_FACT = "x" * 120


def _ask_for_facts(view: View) -> list[Ask]:
    return gathered_of(view).asked


def _read_facts(reply: str, key: Key, view: View) -> Parsed:
    match key["ask"]:
        case "infer":
            document = view.topic.document(key["docno"])
            return inferring_sentence(reply, document.text if document else "")
        case "confident":
            asked = view.of(**{**key, "ask": "infer"})
            return confidence(reply, asked.rows[0].text if asked and asked.rows else "")
        case _:
            known = [fact.text for fact in gathered_of(view).facts]
            parsed = fact_lines(reply, known=known, most=view.options.facts)
            said = {"rank": key["rank"], "docno": key["docno"]}
            rows = (Row(row.text, {**said, "place": place}) for place, row in enumerate(parsed.rows))
            return Parsed(tuple(rows), parsed.faults)


def _most_calls_for_facts(view: View) -> Mapping[str, int]:
    """Bound the calls: an extraction a document, and for each fact known before it two more."""
    documents = view.topic.documents[:DOCUMENTS]
    done = {one.key["rank"]: len(one.rows) for one in view.done if one.key["ask"] == "extract"}
    known = looked_for = 0
    for rank in range(1, len(documents) + 1):
        looked_for += known
        known += done.get(rank, view.options.facts)
    return {"": len(documents), "infer": looked_for, "confident": looked_for}


def _likely_calls_for_facts(view: View) -> list[Ask]:
    said = {"request": view.topic.request, "fact": LIKELY_FACT, "sentence": LIKELY_FACT}
    return [
        Ask({}, said | {"text": document.text}, prompt=kind)
        for document in view.topic.documents[:DOCUMENTS]
        for kind in ("", "infer", "confident")
    ]


FACTS = Step(
    "facts", "Key facts, document by document", ("request", "documents"), "key_fact", "rifer-extract",
    frozenset({"request", "text"}), _ask_for_facts, _read_facts,
    keeps=lambda key, *_: bool(key["ask"] == "extract"),
    most_calls=_most_calls_for_facts,
    expects=_likely_calls_for_facts,
    others={
        "infer": Slot("The sentence that says a fact", "rifer-infer", frozenset({"request", "fact", "text"})),
        "confident": Slot(
            "Whether the fact follows from it", "rifer-confident", frozenset({"request", "fact", "sentence"})
        ),
    },
)  # fmt: skip


def _ask_what_is_relevant(view: View) -> list[Ask]:
    return [
        Ask({"fact": number}, {"request": view.topic.request, "fact": fact.text}, form=grammars.one_line)
        for number, fact in enumerate(facts_before(view) or (), start=1)
    ]


def _read_what_is_relevant(reply: str, key: Key, view: View) -> Parsed:
    return relevant_part(reply, (facts_before(view) or [])[key["fact"] - 1])


def _most_facts(view: View) -> int:
    return len(view.before) or view.options.facts * len(view.topic.documents[:DOCUMENTS])


RELEVANCE = Step(
    "relevance", "What is relevant of each fact", (), "key_fact", "eifrp-relevant", frozenset({"request", "fact"}),
    _ask_what_is_relevant, _read_what_is_relevant, most_calls=_most_facts, reads_calls=True,
    expects=lambda view: [Ask({}, {"request": view.topic.request, "fact": LIKELY_FACT})],
)  # fmt: skip


def _ask_for_an_order(view: View) -> list[Ask]:
    if len(view.before) < 2:
        return [Ask({}, {}, given=Parsed(view.before))] if view.before else []
    values = {"request": view.topic.request, "facts": numbered(view.before), "count": str(len(view.before))}
    return [Ask({}, values, form=partial(grammars.order_in, "order", len(view.before)))]


def _read_an_order(reply: str, _: Key, view: View) -> Parsed:
    return ranked(json_list_raw(reply, "order"), view.before)


RANKING = Step(
    "ranking", "Facts by relevance", (), "key_fact", "eifrp-rank", frozenset({"request", "facts", "count"}),
    _ask_for_an_order, _read_an_order,
    schema={
        "type": "object",
        "properties": {"order": {"type": "array", "items": {"type": "integer"}}},
        "required": ["order"],
        "additionalProperties": False,
    },
    expects=lambda view: [
        Ask({}, {"request": view.topic.request, "facts": LIKELY_FACT * _most_facts(view), "count": "0"})
    ],
)  # fmt: skip


def _sentences(view: View) -> list[Row]:
    """Return the facts that become sentences, in order: those of RIFER get their citations here."""
    rows = list(view.before)
    if rows and "citations" not in rows[0].data:
        rows = facts_before(view) or []
    return rows[:MOST_SENTENCES]


def _ask_to_smooth(view: View) -> list[Ask]:
    """Ask for each sentence after the one before it as that now stands; the first stays as it is."""
    facts = _sentences(view)
    asked: list[Ask] = []
    for number, fact in enumerate(facts, start=1):
        said = {**fact.data, "sentence": number, "of": len(facts)}
        if number == 1:
            asked.append(Ask({"sentence": 1}, {}, given=Parsed((Row(fact.text, said),))))
            before = fact.text
            continue
        asked.append(Ask({"sentence": number}, {"first": before, "second": fact.text}, form=grammars.one_line))
        done = view.of(sentence=number)
        if done is None or not done.rows:
            break
        before = done.rows[0].text
    return asked


def _read_smoothed(reply: str, key: Key, view: View) -> Parsed:
    facts = _sentences(view)
    fact = facts[key["sentence"] - 1]
    return smoothed(reply, Row(fact.text, {**fact.data, "sentence": key["sentence"], "of": len(facts)}))


SMOOTHING = Step(
    "smoothing", "Sentences, each smoothed after the one before", (), "sentence", "rifer-smooth",
    frozenset({"first", "second"}), _ask_to_smooth, _read_smoothed, reads_calls=True,
    most_calls=lambda view: min(MOST_SENTENCES, _most_facts(view)) - 1,
    expects=lambda _: [Ask({}, {"first": LIKELY_FACT, "second": LIKELY_FACT})],
)  # fmt: skip


def _put_together(view: View) -> list[Ask]:
    """Make the report of the sentences that count, once all are smoothed. It asks nobody."""
    if not view.before or len(view.earlier) < view.before[0].data["of"]:
        return []
    rows = sorted(view.before, key=lambda row: int(row.data["sentence"]))
    most, ranked = view.options.most_citations, [one.docno for one in view.topic.documents]
    cited = [best_cited(row.data["citations"], ranked, most) for row in rows]
    sentences = [
        {"text": row.text, "citations": kept, "history": dict(row.data)}
        for row, (kept, _) in zip(rows, cited, strict=True)
    ]
    faults = [fault for number, (_, dropped) in enumerate(cited, start=1) for fault in over_cited(number, dropped)]
    text = " ".join(row.text for row in rows)
    return [Ask({}, {}, given=Parsed((Row(text, {"sentences": sentences}),), tuple(faults)))]


REPORT = Step(
    "report", "Reports", (), "report", "", frozenset(), _put_together, lambda *_: Parsed(), reads_calls=True,
    most_calls=lambda _: 0,
)  # fmt: skip

RIFER = Pipeline(
    name="rifer",
    title="RIFER: a cited report of key facts",
    source="RIFER: facts of the five best documents, each looked for in those behind, in order of extraction.",
    steps=(FACTS, SMOOTHING, REPORT),
    asks=("facts", "most_citations"),
)
EIFRP = Pipeline(
    name="eifrp",
    title="EIFRP: a cited report of key facts by relevance",
    source="EIFRP: as RIFER, with what is irrelevant removed from each fact, and the facts ranked by relevance.",
    steps=(FACTS, RELEVANCE, RANKING, SMOOTHING, REPORT),
    asks=("facts", "most_citations"),
)
