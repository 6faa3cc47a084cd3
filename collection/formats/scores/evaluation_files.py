"""Evaluation files: what measures make of runs, topic by topic, in the spellings that are exchanged.

`FORMS` has their columns. The topic `all` is the value over all topics. Where the first line names the columns, it says
which they are; without it two of the forms, of four columns each, are told apart by what stands in the columns, and
refused where that does not tell. Judges' grades of whole answers, as qrels (`topic 0 run grade`), are read as well.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collection.formats.json_fields import Fields, first_present
from collection.formats.problems import BrokenFile, BrokenLine, InputFile, Problem
from collection.formats.values import NUMBER, read_number, refuse_unstorable, strict_object

ALL = "all"
GRADE = "grade"
FORMS: dict[str, tuple[str, ...]] = {
    "trec_eval": ("measure", "topic", "value"),
    "tot": ("run", "measure", "topic", "value"),
    "ir_measures": ("run", "topic", "measure", "value"),
    "ranking": ("topic", "Q0", "run", "rank", "value", "measure"),
    "jsonl": ("run_id", "topic_id", "measure", "value"),
}
QRELS = ("topic", "0", "run", "value")
# How first lines and objects name the columns.
NAMES = {
    "run": ("run_id", "run", "runid", "runtag", "system"),
    "topic": ("topic_id", "topic", "request_id", "query_id", "narrative_id", "qid", "query"),
    "measure": ("measure", "metric", "eval_metric"),
    "value": ("value", "score"),
}

# What trec_eval calls a measure, without and with a cutoff; the grade from which a text is relevant is its option -l,
# and no part of the name.
NAMED_BY_TREC_EVAL = {
    "AP": ("map", "map_cut_{}"),
    "nDCG": ("ndcg", "ndcg_cut_{}"),
    "P": ("", "P_{}"),
    "R": ("", "recall_{}"),
    "RR": ("recip_rank", ""),
    "Success": ("", "success_{}"),
    "Rprec": ("Rprec", ""),
    "Bpref": ("bpref", ""),
    "infAP": ("infAP", ""),
    "SetP": ("set_P", ""),
    "SetR": ("set_recall", ""),
    "SetF": ("set_F", ""),
    "NumRet": ("num_ret", ""),
    "NumRel": ("num_rel", ""),
    "NumRelRet": ("num_rel_ret", ""),
}
OF_TREC_EVAL = re.compile(r"(?P<family>\w+)(\(rel=[^,()]+\))?(@(?P<k>\d+))?")


def trec_eval_name(measure: str) -> str:
    """Return what trec_eval calls the measure, `ndcg_cut_10`; the name as it is where trec_eval has none."""
    found = OF_TREC_EVAL.fullmatch(measure)
    whole, cut = NAMED_BY_TREC_EVAL.get(found["family"], ("", "")) if found else ("", "")
    return (cut.format(found["k"]) if found and found["k"] else whole) or measure


@dataclass(frozen=True)
class EvaluationRow:
    """What a measure makes of a run on a topic; `topic` is “all” for the value over all of them."""

    run: str
    topic: str
    measure: str
    value: float


def read_evaluation(file: InputFile, *, form: str = "") -> list[EvaluationRow]:
    """Return the file's rows. `form`: one of FORMS, “qrels”, or empty to tell it from the file.

    A trec_eval file is of one run, which its line `runid` names, or else the file's name without its suffix. Raises
    BrokenFile, also where the form cannot be told.
    """
    with file:
        lines = list(file.lines())
        if not lines:
            raise BrokenFile(file.name, [Problem(None, "The file is empty.")])
        if form == "jsonl" or (not form and lines[0][1].lstrip().startswith("{")):
            rows = [row for number, line in lines if (row := _from_object(file, number, line))]
        else:
            rows = list(_from_columns(file, lines, form))
    _refuse_contradictions(file, rows)
    return [row for _, row in rows]


def _from_object(file: InputFile, number: int, line: str) -> tuple[int, EvaluationRow] | None:
    with file.line(number):
        found = strict_object(line)
        fields = Fields(found)
        run, topic, measure = (
            fields.identifier(first_present(found, *NAMES[name])) for name in ("run", "topic", "measure")
        )
        value = fields.number(first_present(found, *NAMES["value"]))
        return number, EvaluationRow(run, topic, measure, value)
    return None


def _from_columns(file: InputFile, lines: Sequence[tuple[int, str]], form: str) -> Iterator[tuple[int, EvaluationRow]]:
    named = _named_columns(_cells(lines[0][1]))
    body = lines[1:] if named else lines
    columns = (QRELS if form == "qrels" else FORMS[form]) if form else named or _told_columns(file, body)
    run = ""
    for number, line in body:
        with file.line(number):
            refuse_unstorable(line)
            cells = _cells(line)
            if len(cells) != len(columns):
                raise BrokenLine(
                    f"The line has {len(cells)} columns, not {len(columns)}.", f"They are: {' '.join(columns)}."
                )
            found = dict(zip(columns, cells, strict=True))
            if "run" not in found and found["measure"] == "runid":
                run = found["value"]
                continue
            value = read_number(found["value"], "value")
            of_run = found.get("run") or run or Path(file.name).stem
            yield number, EvaluationRow(of_run, found["topic"], found.get("measure", GRADE), value)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("\t")] if line.count("\t") > 1 else line.split()


def _named_columns(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a first line names; empty where it is no such line."""
    found = tuple(next((name for name, known in NAMES.items() if cell.lower() in known), "") for cell in cells)
    return found if "value" in found and "measure" in found and len(set(found)) == len(found) else ()


def _told_columns(file: InputFile, lines: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """Return the columns that a file without their names has. Raises BrokenFile where that cannot be told."""
    rows = [cells for _, line in lines if (cells := _cells(line))]
    width = len(rows[0]) if rows else 0
    for name, columns in FORMS.items():
        if width == len(columns) != 4 and name != "jsonl":
            return columns
    if width == 4:
        # What stands second and third: topics may be numbers or “all”, measures are neither.
        second, third = ({cells[place] for cells in rows if len(cells) == 4} for place in (1, 2))
        if second <= {"0", "Q0"}:
            return QRELS
        topics_second, topics_third = (ALL in found or all(map(NUMBER.fullmatch, found)) for found in (second, third))
        if topics_second != topics_third:
            return FORMS["ir_measures" if topics_second else "tot"]
        reason = "The columns may be run, topic, measure, value, or run, measure, topic, value."
        raise BrokenFile(file.name, [Problem(None, reason, "Say which it is: the form ir_measures, or tot.")])
    forms = "; ".join(f"{name}: {' '.join(columns)}" for name, columns in FORMS.items())
    raise BrokenFile(
        file.name, [Problem(1, f"An evaluation file does not have {width} columns.", f"Its forms are {forms}.")]
    )


def _refuse_contradictions(file: InputFile, rows: Sequence[tuple[int, EvaluationRow]]) -> None:
    seen: dict[tuple[str, str, str], EvaluationRow] = {}
    for number, row in rows:
        known = seen.setdefault((row.run, row.topic, row.measure), row)
        if known.value != row.value:
            said = f"{row.measure} of “{row.run}” on “{row.topic}” is {row.value:g} here, and {known.value:g} above."
            raise BrokenFile(file.name, [Problem(number, said, "Keep one of them.")])


def written_evaluation(rows: Iterable[EvaluationRow], *, form: str) -> Iterator[str]:
    """Yield a line for each row. Of `trec_eval` the rows of one run, by `by_run`, make a file under its names."""
    rows = list(rows)
    ranks = _ranks(rows) if form == "ranking" else {}
    for row in rows:
        if form == "jsonl":
            found = {"run_id": row.run, "topic_id": row.topic, "measure": row.measure, "value": row.value}
            yield json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n"
            continue
        measure = trec_eval_name(row.measure) if form == "trec_eval" else row.measure
        said = {**vars(row), "measure": measure, "value": repr(row.value), "Q0": "Q0", "rank": str(ranks.get(row, ""))}
        yield "\t".join(_without_spaces(said[name]) for name in FORMS[form]) + "\n"


def by_run(rows: Iterable[EvaluationRow]) -> dict[str, list[EvaluationRow]]:
    """Return the rows of each run."""
    found: dict[str, list[EvaluationRow]] = defaultdict(list)
    for row in rows:
        found[row.run].append(row)
    return dict(found)


def _ranks(rows: Iterable[EvaluationRow]) -> dict[EvaluationRow, int]:
    """Return each row's rank among the runs of its topic and measure, the highest value first, ties alike."""
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    rows = list(rows)
    for row in rows:
        values[row.topic, row.measure].append(row.value)
    return {row: 1 + sum(value > row.value for value in values[row.topic, row.measure]) for row in rows}


def _without_spaces(cell: Any) -> str:
    return "_".join(str(cell).split())
