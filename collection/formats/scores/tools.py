"""Scores as tools for LLM applications exchange them: one row inside, a small writer and a reader for each tool.

What a tool calls a trace, a span or a sample is an item here. A judgment without a grade goes out as the label
“ungraded” with its reason, or where a tool has no place for one not at all; it never becomes a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from collection.formats.json_fields import is_open, json_objects, whole_json
from collection.formats.problems import BrokenFile, InputFile, Problem
from collection.formats.scores import benchmarks, observability
from collection.formats.scores.benchmarks import SeveralCriteria
from collection.formats.scores.rows import RaterKind, ScoreRow, Unsaid, as_line
from collection.formats.tables import csv_rows

__all__ = ["LABELS", "READ", "RaterKind", "ScoreRow", "SeveralCriteria", "form_of", "read_scores", "written_scores"]
LABELS = {
    "langfuse": "Langfuse scores",
    "phoenix": "Phoenix annotations",
    "mlflow": "MLflow assessments",
    "inspect": "Inspect log",
    "opentelemetry": "OpenTelemetry events",
    "umbrela": "UMBRELA judgments",
    "ragas": "Ragas results",
    "alt_test": "AltTest labels",
}
# Those that write a line for each row, and those that need them all.
WRITERS: dict[str, Callable[[ScoreRow], dict[str, Any]]] = {
    "langfuse": observability.langfuse,
    "phoenix": observability.phoenix,
    "mlflow": observability.mlflow,
    "opentelemetry": observability.opentelemetry,
    "umbrela": benchmarks.umbrela,
}
WHOLE: dict[str, Callable[[Iterable[ScoreRow]], Iterator[str]]] = {
    "inspect": benchmarks.inspect,
    "ragas": benchmarks.ragas,
    "alt_test": benchmarks.alt_test,
}
READERS: dict[str, Callable[[dict[str, Any], Unsaid], Iterator[ScoreRow]]] = {
    "langfuse": observability.from_langfuse,
    "phoenix": observability.from_phoenix,
    "mlflow": observability.from_mlflow,
    "opentelemetry": observability.from_opentelemetry,
    "umbrela": benchmarks.from_umbrela,
    "ragas": benchmarks.from_ragas,
    "inspect": benchmarks.from_inspect,
    "alt_test": benchmarks.from_alt_test,
}
READ = tuple(READERS)
# Of tools whose file names the items by their texts.
BY_TEXTS = ("umbrela", "ragas")
# What lists of the tools' APIs are wrapped in.
LISTS = ("data", "assessments", "scores")


def written_scores(rows: Iterable[ScoreRow], form: str) -> Iterator[str]:
    """Yield the lines of a file of this form. Raises SeveralCriteria.

    Of Inspect and Ragas, rows of an item must follow one another.
    """
    if form in WHOLE:
        return WHOLE[form](rows)
    write = WRITERS[form]
    return (as_line(write(row)) for row in rows)


def read_scores(file: InputFile, form: str = "", unsaid: Unsaid | None = None) -> Iterator[tuple[int, ScoreRow]]:
    """Yield the number of each line and its rows; the form is told from the first object where it is not said.

    A file is JSON Lines, one JSON value over several lines, or (Ragas) CSV; of APIs' lists the entries are taken.
    Broken lines are noted with the file. Raises BrokenFile.
    """
    unsaid = unsaid or Unsaid()
    for number, found in _objects(file, form):
        with file.line(number):
            form = form or form_of(found)
            if not form:
                raise BrokenFile(file.name, [Problem(number, "These are no tool’s scores.", "Choose the form.")])
            yield from ((number, row) for row in list(READERS[form](found, unsaid)))


def form_of(found: dict[str, Any]) -> str:
    """Return the tool whose score or file of scores an object is; empty where it is none."""
    names = found.keys()
    nested = next((found[name] for name in LISTS if isinstance(found.get(name), list)), None)
    if "eval" in names and isinstance(found.get("samples"), list):
        return "inspect"
    if nested and isinstance(nested[0], dict):
        return form_of(nested[0])
    if "resourceLogs" in names:
        return "opentelemetry"
    if names >= {"query", "passage", "judgment"}:
        return "umbrela"
    if names >= {"name", "source", "dataType"} and names & {*observability.LANGFUSE_TARGETS, "subject"}:
        return "langfuse"
    if "annotator_kind" in names and "result" in names:
        return "phoenix"
    if isinstance(found.get("source"), dict) and names & {"feedback", "expectation"}:
        return "mlflow"
    if "user_input" in names:
        return "ragas"
    labels = list(found.values())
    if labels and all(isinstance(one, dict) and one and all(map(_is_label, one.values())) for one in labels):
        return "alt_test"
    return ""


def _is_label(found: Any) -> bool:
    return isinstance(found, int | float)


def _objects(file: InputFile, form: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number of a line and each object that stands there."""
    _, first = next(InputFile(file.path, name=file.name).lines(), (0, ""))
    start = first.strip()
    if not start:
        raise BrokenFile(file.name, [Problem(None, "The file is empty.")])
    if not start.startswith(("{", "[")) and form in ("", "ragas"):
        yield from csv_rows(file, needed=["user_input"], remedy="It is not a result of Ragas.")
    elif start.startswith("[") or is_open(start):
        yield from ((1, one) for one in _listed(whole_json(file), file))
    else:
        for number, found in json_objects(file):
            yield from ((number, one) for one in _listed(found, file))


def _listed(found: Any, file: InputFile) -> list[dict[str, Any]]:
    if isinstance(found, dict) and "eval" not in found:
        nested = next((found[name] for name in LISTS if isinstance(found.get(name), list)), None)
        found = [found] if nested is None else nested
    elif isinstance(found, dict):
        found = [found]
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise BrokenFile(file.name, [Problem(1, "This is no object, nor a list of objects.")])
    return found
