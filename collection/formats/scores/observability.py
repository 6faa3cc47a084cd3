"""Scores of traces: Langfuse, Phoenix, MLflow, and OpenTelemetry's evaluation events.

Checked against langfuse 5.0, arize-phoenix-client 3.5, MLflow 3.17 and the GenAI conventions of
OpenTelemetry, in development (docs/formats.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from collection.formats.json_fields import Fields, first_present
from collection.formats.problems import BrokenLine
from collection.formats.scores.rows import KINDS, UNGRADED, ScoreRow, Unsaid, graded, kind_of, object_of, why
from collection.formats.values import read_moment, shown

# --- Langfuse -------------------------------------------------------------------------------------

# What a score may be created with, and how one of Langfuse's own judges is called besides.
SOURCES: dict[str, str] = {"human": "ANNOTATION", "LLM": "API", "code": "API"}
READ_SOURCES: dict[str, str] = {"human": "ANNOTATION", "LLM": "EVAL", "code": "API"}
LANGFUSE_TARGETS = ("traceId", "sessionId", "datasetRunId")


def langfuse(row: ScoreRow) -> dict[str, Any]:
    """Return the body that Langfuse creates a score from."""
    said = (
        {"value": row.value, "dataType": "NUMERIC"}
        if row.value is not None
        else {"value": UNGRADED, "dataType": "CATEGORICAL"}
    )
    found = {"name": row.criterion, "traceId": row.target, **said, "source": SOURCES[row.kind], "timestamp": row.at}
    metadata = {"rater": row.rater, "rater_kind": row.kind} | ({"ungraded": row.ungraded} if row.ungraded else {})
    return found | {"comment": row.rationale or None, "metadata": metadata}


def from_langfuse(found: dict[str, Any], unsaid: Unsaid) -> Iterator[ScoreRow]:
    """Take a score of its API's second or third version, or a body as above.

    A category may come with a number that its configuration gives it: the label counts.
    """
    fields = Fields(found)
    metadata, subject = object_of(fields, "metadata"), object_of(fields, "subject")
    kind = kind_of(fields.name("source"), READ_SOURCES)
    if metadata.get("rater_kind") in KINDS:
        kind = metadata["rater_kind"]
    said = "stringValue" if found.get("dataType") == "CATEGORICAL" and found.get("stringValue") is not None else "value"
    value, label = graded(found.get(said), name=said)
    yield ScoreRow(
        Fields(subject).name("id") if subject else fields.name(first_present(found, *LANGFUSE_TARGETS)),
        fields.name("name"),
        value,
        unsaid.rater_or(metadata.get("rater") or found.get("authorUserId")),
        kind,
        why(value, label, metadata.get("ungraded")),
        fields.optional_text("comment"),
        fields.optional_text("timestamp"),
        label,
    )


# --- Phoenix --------------------------------------------------------------------------------------

ANNOTATORS: dict[str, str] = {"human": "HUMAN", "LLM": "LLM", "code": "CODE"}


def phoenix(row: ScoreRow) -> dict[str, Any]:
    result = {
        "label": UNGRADED if row.value is None else None,
        "score": row.value,
        "explanation": row.rationale or None,
    }
    found = {"span_id": row.target, "name": row.criterion, "annotator_kind": ANNOTATORS[row.kind], "result": result}
    metadata = {"at": row.at} | ({"ungraded": row.ungraded} if row.ungraded else {})
    return found | {"identifier": row.rater, "metadata": metadata}


def from_phoenix(found: dict[str, Any], unsaid: Unsaid) -> Iterator[ScoreRow]:
    """The score counts where there is one, else the label. `identifier` is the rater, or else the user."""
    fields = Fields(found)
    result, metadata = Fields(object_of(fields, "result")), object_of(fields, "metadata")
    kind = kind_of(fields.name("annotator_kind"), ANNOTATORS)
    value = result.optional_number("score")
    label = graded(result.rest.get("label"), name="label")[1] if value is None else ""
    yield ScoreRow(
        fields.name(first_present(found, "span_id", "trace_id", "session_id")),
        fields.name("name"),
        value,
        unsaid.rater_or(fields.optional_text("identifier") or found.get("user_id")),
        kind,
        why(value, label, metadata.get("ungraded")),
        result.optional_text("explanation"),
        str(metadata.get("at") or found.get("created_at") or ""),
        label,
    )


# --- MLflow ---------------------------------------------------------------------------------------

SOURCE_TYPES: dict[str, str] = {"human": "HUMAN", "LLM": "LLM_JUDGE", "code": "CODE"}


def mlflow(row: ScoreRow) -> dict[str, Any]:
    feedback: dict[str, Any] = {"value": row.value}
    if row.ungraded:
        feedback["error"] = {"error_code": row.ungraded, "error_message": f"There is no grade: {row.ungraded}."}
    return {
        "trace_id": row.target,
        "assessment_name": row.criterion,
        "source": {"source_type": SOURCE_TYPES[row.kind], "source_id": row.rater},
        "feedback": feedback,
        "rationale": row.rationale or None,
        "create_time": row.at,
        "last_update_time": row.at,
        "valid": True,
    }


def from_mlflow(found: dict[str, Any], unsaid: Unsaid) -> Iterator[ScoreRow]:
    """What was overridden (`valid` is false) is left out; expectations are refused: they are no grades."""
    if found.get("valid") is False:
        return
    fields = Fields(found)
    if "feedback" not in found:
        raise BrokenLine("The assessment holds no feedback.", "Expectations are no grades: remove the line.")
    source, feedback = Fields(object_of(fields, "source")), object_of(fields, "feedback")
    kind = kind_of(source.name("source_type"), SOURCE_TYPES)
    value, label = graded(feedback.get("value"), name="value")
    error = feedback.get("error")
    yield ScoreRow(
        fields.name("trace_id"),
        fields.name("assessment_name" if "assessment_name" in found else "name"),
        value,
        unsaid.rater_or(source.optional_text("source_id")),
        kind,
        why(value, label, error.get("error_code") if isinstance(error, dict) else None),
        fields.optional_text("rationale"),
        fields.optional_text("create_time"),
        label,
    )


# --- OpenTelemetry --------------------------------------------------------------------------------

EVENT = "gen_ai.evaluation.result"
NANO = 10**9


def opentelemetry(row: ScoreRow) -> dict[str, Any]:
    """Return a line of OTLP's file: one log record, whose event is the evaluation's result."""
    attributes: dict[str, Any] = {
        "gen_ai.evaluation.name": row.criterion,
        "gen_ai.response.id": row.target,
        "assize.rater": row.rater,
        "assize.rater_kind": row.kind,
    }
    if row.value is None:
        attributes |= {"gen_ai.evaluation.score.label": UNGRADED, "error.type": row.ungraded}
    else:
        attributes["gen_ai.evaluation.score.value"] = row.value
    if row.rationale:
        attributes["gen_ai.evaluation.explanation"] = row.rationale
    written = [
        {"key": name, "value": {"doubleValue" if isinstance(value, float) else "stringValue": value}}
        for name, value in attributes.items()
    ]
    record: dict[str, Any] = {"eventName": EVENT, "attributes": written}
    if row.at:
        record = {"timeUnixNano": str(_nanoseconds(row.at)), **record}
    return {"resourceLogs": [{"scopeLogs": [{"scope": {"name": "assize"}, "logRecords": [record]}]}]}


def from_opentelemetry(found: dict[str, Any], unsaid: Unsaid) -> Iterator[ScoreRow]:
    """Take the evaluation events of a line of OTLP's file; other events in it are passed over."""
    for resource in _objects(found, "resourceLogs"):
        for scope in _objects(resource, "scopeLogs"):
            for record in _objects(scope, "logRecords"):
                attributes = {str(one.get("key")): _plain(one.get("value")) for one in _objects(record, "attributes")}
                if record.get("eventName", attributes.get("event.name")) == EVENT:
                    yield _event(record, attributes, unsaid)


def _event(record: dict[str, Any], attributes: dict[str, Any], unsaid: Unsaid) -> ScoreRow:
    fields = Fields({**attributes, "spanId": record.get("spanId")})
    value = fields.optional_number("gen_ai.evaluation.score.value")
    label = graded(attributes.get("gen_ai.evaluation.score.label"), name="label")[1] if value is None else ""
    at = record.get("timeUnixNano")
    if at is not None and not str(at).isdecimal():
        raise BrokenLine(f"“timeUnixNano” is {shown(at)}, not a number of nanoseconds.")
    return ScoreRow(
        fields.name(first_present(fields.rest, "gen_ai.response.id", "spanId")),
        fields.name("gen_ai.evaluation.name"),
        value,
        unsaid.rater_or(attributes.get("assize.rater")),
        unsaid.kind_or(attributes.get("assize.rater_kind"), usual="LLM"),
        why(value, label, attributes.get("error.type")),
        fields.optional_text("gen_ai.evaluation.explanation"),
        _moment(int(at)) if at and int(at) else "",
        label,
    )


def _objects(found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    several = found.get(name) or []
    if not isinstance(several, list) or not all(isinstance(one, dict) for one in several):
        raise BrokenLine(f"“{name}” is {shown(several)}, not a list of objects.")
    return several


def _plain(value: Any) -> Any:
    """Return what an OTLP value holds; whole numbers are texts there."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    ((name, held),) = value.items()
    return int(held) if name == "intValue" and str(held).lstrip("-").isdecimal() else held


def _nanoseconds(at: str) -> int:
    whole = read_moment(at) - datetime.fromtimestamp(0, UTC)
    return (whole.days * 86_400 + whole.seconds) * NANO + whole.microseconds * 1_000


def _moment(nanoseconds: int) -> str:
    try:
        return (
            datetime.fromtimestamp(nanoseconds // NANO, UTC)
            .replace(microsecond=nanoseconds % NANO // 1_000)
            .isoformat()
        )
    except (ValueError, OverflowError, OSError) as error:
        raise BrokenLine("“timeUnixNano” is no time that can be stored.") from error
