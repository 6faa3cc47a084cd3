"""Scores of evaluations: UMBRELA's judgments, Ragas's results, Inspect's logs, and AltTest's labels.

Checked against inspect_ai 0.3.285, and Ragas’s and AltTest’s sources of 2025 (docs/formats.md).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from collection.formats.json_fields import Fields
from collection.formats.problems import BrokenLine
from collection.formats.scores.rows import UNGRADED, ScoreRow, Unsaid, as_line, graded, object_of, why
from collection.formats.values import LARGEST_NUMBER, shown


class SeveralCriteria(ValueError):
    """The form holds one criterion, and there are several."""


# --- UMBRELA --------------------------------------------------------------------------------------


def umbrela(row: ScoreRow) -> dict[str, Any]:
    return {
        "model": row.rater,
        "query": row.query,
        "passage": row.text,
        "prompt": "",
        "prediction": "",
        "judgment": int(row.value) if row.value is not None and row.value.is_integer() else row.value,
        "result_status": int(row.value is not None),
        "reasoning": row.rationale,
    }


def from_umbrela(found: dict[str, Any], unsaid: Unsaid) -> Iterator[ScoreRow]:
    """The rationale is the `reasoning`, or the whole reply (`prediction`) where there is none.

    UMBRELA's command leaves out the status of what it could read.
    """
    fields = Fields(found)
    status = fields.rest.pop("result_status", 1)
    if status not in (0, 1):
        raise BrokenLine(f"The field “result_status” is {shown(status)}, not 1 or 0.")
    value = fields.optional_number("judgment") if status else None
    yield ScoreRow(
        "",
        unsaid.criterion or "relevance",
        value,
        unsaid.rater_or(found.get("model")),
        "LLM",
        why(value, "", None),
        fields.optional_text("reasoning") or fields.optional_text("prediction"),
        query=fields.name("query"),
        text=fields.text("passage"),
    )


# --- Ragas ----------------------------------------------------------------------------------------

# What a sample's row says of itself; all other columns are metrics.
SAMPLE = {
    *("user_input", "retrieved_contexts", "reference_contexts", "retrieved_context_ids", "reference_context_ids"),
    *("response", "multi_responses", "reference", "rubric", "rubrics", "persona_name", "query_style", "query_length"),
    *("synthesizer_name", "reference_tool_calls", "reference_topics"),
}
OURS = {"item_id", "rater", "rater_kind"}
REASON, WHY = "_reason", "_ungraded"
RAGAS_RATER = "ragas"


def ragas(rows: Iterable[ScoreRow]) -> Iterator[str]:
    """Yield a line for each item and rater, with a column for each metric; rows of an item must follow one another."""
    for _, of_item in groupby(rows, key=lambda row: row.target):
        by_rater: dict[tuple[str, str], dict[str, Any]] = {}
        for row in of_item:
            sample = {"user_input": row.query, "retrieved_contexts": list(row.contexts), "response": row.text}
            about = {"item_id": row.target, "rater": row.rater, "rater_kind": row.kind}
            line = by_rater.setdefault((row.kind, row.rater), {**sample, **about})
            line[row.criterion] = row.value
            line |= {f"{row.criterion}{REASON}": row.rationale} if row.rationale else {}
            line |= {f"{row.criterion}{WHY}": row.ungraded} if row.ungraded else {}
        yield from map(as_line, by_rater.values())


def from_ragas(found: dict[str, Any], unsaid: Unsaid) -> Iterator[ScoreRow]:
    """Take every metric of a sample, or the one that `unsaid` names: its column has numbers, or nothing.

    In a CSV all cells are texts. Where no rater is named or said, it is called Ragas. A column with other texts is no
    metric, unless it is named.
    """
    contexts = found.get("retrieved_contexts")
    if not found.get("rater"):
        unsaid.asked.add("rater")
    for name in [unsaid.criterion] if unsaid.criterion in found else _metrics(found):
        value, label = _score(found[name], name)
        yield ScoreRow(
            str(found.get("item_id") or ""),
            name,
            value,
            str(found.get("rater") or unsaid.rater or RAGAS_RATER),
            unsaid.kind_or(found.get("rater_kind"), usual="LLM"),
            why(value, label, found.get(f"{name}{WHY}")),
            str(found.get(f"{name}{REASON}") or ""),
            label=label,
            query=str(found.get("user_input") or ""),
            text=str(found.get("response") or ""),
            contexts=tuple(map(str, contexts)) if isinstance(contexts, list) else (),
        )


def _metrics(found: dict[str, Any]) -> list[str]:
    others = [name for name in found if name not in SAMPLE | OURS and not name.endswith((REASON, WHY)) and name.strip()]
    return [name for name in others if found[name] is None or not isinstance(_number(found[name]), str)]


def _score(found: Any, name: str) -> tuple[float | None, str]:
    return graded(_number(found), name=name)


def _number(found: Any) -> Any:
    """Return the number that a cell's text is; None where it is empty or not a number of Ragas's."""
    if not isinstance(found, str):
        return found
    if found.strip().casefold() in ("", "nan", "none", "null"):
        return None
    try:
        number = float(found)
    except ValueError:
        return found
    return number if abs(number) <= LARGEST_NUMBER else found


# --- Inspect --------------------------------------------------------------------------------------

# As Inspect's own metrics read them.
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def inspect(rows: Iterable[ScoreRow]) -> Iterator[str]:
    """Yield a log as `read_eval_log` takes it: a sample for each item, a score for each criterion and rater.

    Rows of an item must follow one another.
    """
    head: list[str] = []
    for target, of_item in groupby(rows, key=lambda row: row.target):
        several = list(of_item)
        if not head:
            head = [as_line(_log_head(several[0]))[:-2], ', "samples": [\n']
            yield from head
        else:
            yield ",\n"
        scores = {f"{row.criterion} by {row.rater}": _inspect_score(row) for row in several}
        yield as_line({"id": target, "epoch": 1, "input": several[0].query, "target": "", "scores": scores}).rstrip()
    yield "\n]}\n" if head else ""


def _log_head(first: ScoreRow) -> dict[str, Any]:
    spec = {"created": first.at, "task": "assize", "dataset": {}, "model": "none", "config": {}}
    return {"version": 2, "status": "success", "eval": spec}


def _inspect_score(row: ScoreRow) -> dict[str, Any]:
    about = {"criterion": row.criterion, "rater": row.rater, "kind": row.kind, "at": row.at}
    return {
        "value": row.value if row.value is not None else UNGRADED,
        "explanation": row.rationale or None,
        "metadata": about | ({"ungraded": row.ungraded} if row.ungraded else {}),
    }


def from_inspect(found: dict[str, Any], unsaid: Unsaid) -> Iterator[ScoreRow]:
    """Take the scores of a log's samples. Whoever is not named in a score's metadata is called like its scorer."""
    samples = found.get("samples")
    if not isinstance(samples, list):
        raise BrokenLine("The log has no samples.", "Write it with them: inspect log dump FILE.")
    for sample in samples:
        if not isinstance(sample, dict):
            raise BrokenLine(f"A sample is {shown(sample)}, not an object.")
        target = Fields(sample).identifier("id")
        for scorer, score in object_of(Fields(sample), "scores").items():
            if not isinstance(score, dict):
                raise BrokenLine(f"The score “{scorer}” is {shown(score)}, not an object.")
            yield _sample_score(target, scorer, score, unsaid)


def _sample_score(target: str, scorer: str, score: dict[str, Any], unsaid: Unsaid) -> ScoreRow:
    fields = Fields(score)
    metadata = object_of(fields, "metadata")
    given = score.get("value")
    value, label = graded(LETTERS.get(given, given) if isinstance(given, str) else given, name=scorer)
    return ScoreRow(
        target,
        str(metadata.get("criterion") or scorer),
        value,
        str(metadata.get("rater") or unsaid.rater or scorer),
        unsaid.kind_or(metadata.get("kind"), usual="LLM"),
        why(value, label, metadata.get("ungraded")),
        fields.optional_text("explanation"),
        str(metadata.get("at") or ""),
        label,
    )


# --- AltTest --------------------------------------------------------------------------------------


def alt_test(rows: Iterable[ScoreRow]) -> Iterator[str]:
    """Yield one object, `{annotator: {instance: label}}`, of one criterion; what has no grade is left out."""
    labels: dict[str, dict[str, float]] = defaultdict(dict)
    criteria = set()
    for row in rows:
        criteria.add(row.criterion)
        if len(criteria) > 1:
            raise SeveralCriteria("AltTest’s file is of one criterion. Choose one.")
        if row.value is not None:
            labels[row.rater][row.target] = row.value
    yield as_line(dict(labels))


def from_alt_test(found: dict[str, Any], unsaid: Unsaid) -> Iterator[ScoreRow]:
    """Take all labels, which are of one criterion and of raters of one kind. Raises BrokenLine."""
    if not unsaid.criterion:
        raise BrokenLine("AltTest’s file does not say its criterion.", "Name it.")
    for rater, labels in found.items():
        if not isinstance(labels, dict):
            raise BrokenLine("This is not {annotator: {instance: label}}.")
        for target, written in labels.items():
            value, label = graded(written, name=f"{rater}, {target}")
            if value is None and not label:
                raise BrokenLine(f"{rater}’s label of “{target}” is missing.", "Leave the instance out.")
            yield ScoreRow(target, unsaid.criterion, value, rater, unsaid.kind_or(None, usual="human"), label=label)
