"""TREC's runs and qrels, those of MS MARCO, BEIR and ranx, and passages by id.

The readers of ir_measures give no line numbers and drop rank and tag, hence ours. `#` stands inside
real ids and never begins a comment. Any white space separates columns, as in trec_eval.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, cast

from collection.formats.json_fields import Fields, first_present, json_objects, whole_json
from collection.formats.jsonl import PassageLine
from collection.formats.problems import BrokenFile, BrokenLine, InputFile, Problem
from collection.formats.tables import named_rows, names_of, two_columns
from collection.formats.values import read_number, read_whole, refuse_unstorable

ID_FIELDS = ("id", "passage_id", "docid", "docno", "_id", "pid")
TEXT_FIELDS = ("contents", "text", "segment", "body")
# What the columns of runs and qrels are called where a line names them.
COLUMNS = {
    *("topic", "topic_id", "qid", "query", "query_id", "q0", "iter", "iteration", "docid", "doc_id", "docno", "pid"),
    *("corpus_id", "passage_id", "document_id", "rank", "score", "grade", "rel", "relevance", "label", "judgment"),
    *("tag", "run", "run_id", "system"),
}
MOST_ITERATIONS = 100


@dataclass(frozen=True)
class RunLine:
    """`topic Q0 docno rank score tag`."""

    topic_id: str
    passage_id: str
    rank: int
    score: float
    tag: str


@dataclass(frozen=True)
class QrelsLine:
    """`topic 0 docno grade`, and with which probability the passage was drawn to be judged where the file has it."""

    topic_id: str
    passage_id: str
    grade: float
    iteration: str = ""
    inclusion_probability: float | None = None


def read_run(file: InputFile) -> Iterator[tuple[int, RunLine]]:
    """Yield the lines of a run: of six columns, of MS MARCO's three, or of one JSON object of scores by topic.

    What has no tag is called like the file. Where ranks stand without scores, a score is 1/rank, as trec_eval needs
    one.
    """
    tag = Path(file.name.removesuffix(".gz")).stem.replace(" ", "_")
    for number, cells in _cells(file, {6: "topic Q0 docno rank score tag", 3: "topic docno rank"}):
        with file.line(number):
            if len(cells) == 3:
                topic_id, passage_id, rank = cells
                if read_whole(rank, "rank") < 1:
                    raise BrokenLine(f"The rank is {rank}.", "Ranks without scores count from 1.")
                score, named = str(1 / read_whole(rank, "rank")), tag
            else:
                topic_id, _, passage_id, rank, score, named = cells
            yield (
                number,
                RunLine(topic_id, passage_id, read_whole(rank, "rank"), read_number(score, "score"), named or tag),
            )


def written_run_line(line: RunLine) -> str:
    """Return the line as it is read, with the score to its last digit. Names must be words."""
    return f"{line.topic_id} Q0 {line.passage_id} {line.rank} {line.score!r} {line.tag}\n"


def read_qrels(file: InputFile) -> Iterator[tuple[int, QrelsLine]]:
    """Yield the lines of qrels: of four columns, of BEIR's three, or of one JSON object of grades by topic.

    A fifth column is the probability with which the passage was drawn to be judged.
    Raises BrokenFile where a passage is judged several times for a topic under another second column, as subtopics are.
    """
    iterations: set[str] = set()
    forms = {4: "topic 0 docno grade", 3: "topic docno grade", 5: "topic 0 docno grade inclusion_probability"}
    for number, cells in _cells(file, forms):
        with file.line(number):
            topic_id, iteration, passage_id, grade = cells[:4] if len(cells) > 3 else (cells[0], "", *cells[1:3])
            probability = read_number(cells[4], "inclusion_probability") if len(cells) == 5 else None
            if len(iterations) < MOST_ITERATIONS:
                iterations.add(iteration)
            yield number, QrelsLine(topic_id, passage_id, read_number(grade, "grade"), iteration, probability)
    if len(iterations) > 1:
        _refuse_subtopics(file)


def _refuse_subtopics(file: InputFile) -> None:
    first: dict[tuple[str, str], str] = {}
    for number, line in InputFile(file.path, name=file.name).lines():
        topic_id, iteration, passage_id, *_ = [*line.split(), "", ""]
        before = first.setdefault((topic_id, passage_id), iteration)
        if before != iteration:
            reason = (
                f"“{passage_id}” is judged for “{topic_id}” under “{before}” and under “{iteration}”: these are qrels "
                "with subtopics, which have no place here."
            )
            remedy = "Keep one line for each topic and passage, for example the highest grade."
            raise BrokenFile(file.name, [Problem(number, reason, remedy)])


def _cells(file: InputFile, forms: dict[int, str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the columns of each line, between any white space, without a line of names.

    The first line says how many columns there are. Of a JSON object of numbers by topic, each is a line of as many
    columns as the first of the `forms`; ranks are places by falling value.
    """
    lines = file.lines()
    number, first = next(lines, (0, ""))
    if first.lstrip().startswith("{"):
        for topic_id, of_topic in scores_by_topic(file).items():
            in_order = sorted(of_topic.items(), key=lambda one: -one[1])
            for rank, (passage_id, value) in enumerate(in_order, start=1):
                is_run = max(forms) == 6
                yield number, [topic_id, "0", passage_id, *([str(rank), str(value), ""] if is_run else [str(value)])]
        return
    if names_of(first.replace(" ", "\t") if "\t" not in first else first, COLUMNS, COLUMNS, COLUMNS):
        number, first = next(lines, (0, ""))
    width = len(first.split())
    wanted = width if width in forms else next(iter(forms))
    for place, line in chain([(number, first)] if first else [], lines):
        with file.line(place):
            yield place, columns(line, wanted, forms[wanted])


def scores_by_topic(file: InputFile) -> dict[str, dict[str, float]]:
    """Return the one object that a file is: numbers by topic and document. Raises BrokenFile."""
    found = whole_json(file)
    if not is_scores_by_topic(found):
        reason = "These are not numbers by topic and document."
        raise BrokenFile(file.name, [Problem(1, reason, 'It looks like {"topic": {"docno": 1.5}}.')])
    return cast("dict[str, dict[str, float]]", found)


def is_scores_by_topic(found: Any) -> bool:
    """Whether a value is an object of objects of numbers, as ranx, BEIR and pytrec_eval write runs and qrels."""
    return (
        isinstance(found, dict)
        and bool(found)
        and all(isinstance(one, dict) and one and all(map(_is_number, one.values())) for one in found.values())
    )


def _is_number(found: Any) -> bool:
    return isinstance(found, int | float) and not isinstance(found, bool)


def read_passages(file: InputFile) -> Iterator[tuple[int, PassageLine]]:
    """Yield passages: an id (`id`, `docid`, …) and a text (`contents`, `text`, …) an object or a row of a table that
    names its columns, or a line of id, tab and text.
    """
    _, first = next(InputFile(file.path, name=file.name).lines(), (0, ""))
    if first.lstrip().startswith(("{", "[")) or names_of(first, ID_FIELDS, TEXT_FIELDS):
        objects = json_objects(file) if first.lstrip().startswith(("{", "[")) else named_rows(file)
        for number, found in objects:
            with file.line(number):
                yield number, passage_of(found, first_present(found, *ID_FIELDS))
        return
    for number, (passage_id, text) in two_columns(file, "an id and a text", "A tab stands between them."):
        yield number, PassageLine(passage_id, text)


def passage_of(found: dict[str, Any], id_field: str) -> PassageLine:
    """Return the passage that an object is; fields without a place are kept in its attributes.

    A segment of MS MARCO v2.1 names its document before the `#` of its id.
    """
    fields = Fields(found)
    text_field = first_present(found, *TEXT_FIELDS)
    passage_id = fields.identifier(id_field)
    return PassageLine(
        passage_id=passage_id,
        text=fields.text(text_field),
        title=fields.optional_text("title"),
        document_id=fields.optional_text("document_id")
        or (document_of_segment(passage_id) if text_field == "segment" else ""),
        translation=fields.translation("translation"),
        attributes=fields.attributes(),
    )


def document_of_segment(passage_id: str) -> str:
    """Return the document of which `DOCUMENT#…` is a segment; empty for another id."""
    document, mark, _ = passage_id.partition("#")
    return document if mark else ""


def columns(line: str, wanted: int, names: str) -> list[str]:
    """Return the line's columns. Raises BrokenLine if there are more or fewer."""
    refuse_unstorable(line)
    found = line.split()
    if len(found) != wanted:
        refuse_comment(line)
        raise BrokenLine(f"The line has {len(found)} columns, not {wanted}.", f"The columns are: {names}.")
    return found


def refuse_comment(line: str) -> None:
    """Raise BrokenLine where the line begins as comments do elsewhere."""
    if line.lstrip().startswith("#"):
        raise BrokenLine("The line begins with # like a comment, which these files cannot have.", "Remove the line.")
