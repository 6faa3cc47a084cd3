"""Which of the formats a file has, by keys and types over its first lines.

Where one form may hold two things (an object of an id and a text is a topic or a passage), the file's name decides,
then what the files beside it name, then how long the texts are; else it is asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from collection.formats.cited_reports import is_cited_report
from collection.formats.json_fields import LIST, is_open, whole_json
from collection.formats.jsonl import LINES
from collection.formats.natural_questions import is_question
from collection.formats.nugget_banks import are_scores, is_assignment, is_nugget_bank
from collection.formats.pools import is_pool
from collection.formats.problems import BrokenFile, BrokenLine, InputFile, Problem
from collection.formats.rubric_workbench import is_graded_topic
from collection.formats.scores.tools import form_of
from collection.formats.summaries import is_summary
from collection.formats.tables import delimiter_of, names_of, normal
from collection.formats.tags import TOP, XML_TOPIC
from collection.formats.topics import HEADER, ID_FIELDS, REQUEST_FIELDS
from collection.formats.trec import COLUMNS, TEXT_FIELDS, is_scores_by_topic, refuse_comment
from collection.formats.trec import ID_FIELDS as PASSAGE_IDS
from collection.formats.values import NUMBER, strict_json, strict_object

ROW_FIELDS = {"item_id", "criterion", "rater"}
# Where an object may be a topic or a passage, or a number a grade or a score, the file's name decides.
NAMED = {
    "topics": re.compile(r"topic|quer|question|request", re.IGNORECASE),
    "passages": re.compile(r"passage|corpus|collection|segment|docs?\b|document|psg|text", re.IGNORECASE),
    "qrels": re.compile(r"qrel", re.IGNORECASE),
    "run": re.compile(r"(?<![a-z])runs?(?![a-z])|bm25|rank", re.IGNORECASE),
}
NOT_TEXT = {
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"7z\xbc\xaf": "a 7z file",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF",
}
UNKNOWN = "Choose its format, or see which files can be imported (docs/formats.md)."
ITERATION = re.compile(r"\d+|[Qq]0")
WHOLE = re.compile(r"[+-]?\d+(\.0+)?")
# So many lines say it, or as many as are in so many characters.
MOST_LINES, MOST_CHARACTERS = 100, 1_000_000
# Texts of so many words on average are not requests; shorter ones may be either.
LONG_TEXT = 25


class UnclearFormat(BrokenFile):
    """A file may be of several formats, and nothing says which. `formats` are these."""

    def __init__(self, name: str, formats: Sequence[str], why: str, line: int | None = 1) -> None:
        self.formats = list(formats)
        either = " or ".join(formats)
        super().__init__(
            name, [Problem(line, f"{why} It may be {either}.", f"Choose one (--format {name}={formats[0]}).")]
        )


@dataclass(frozen=True)
class Named:
    """Ids that runs and qrels name, in the files beside this one or in the collection."""

    topics: Collection[str] = ()
    passages: Collection[str] = ()


def recognised(path: Path, *, name: str, named: Named | None = None) -> str:
    """Return the name of the file's format. Raises BrokenFile where it is none that is known, and
    UnclearFormat where it may be of several.
    """
    if is_zipfile(path):
        raise _unknown(name, "This is a zip in a zip.", "Unpack it.")
    with InputFile(path, name=name) as file:
        _, raw = next(file.raw_lines(), (0, b""))
        if known := next((known for mark, known in NOT_TEXT.items() if raw.startswith(mark)), ""):
            raise _unknown(name, f"This is {known}.", "Unpack it, or export its tables as text (docs/formats.md).")
        if b"\x00" in raw:
            raise _unknown(name, "This is not a text file.", UNKNOWN)
    file = InputFile(path, name=name)
    lines = list(_first_lines(file))
    if file.problems:
        raise BrokenFile(name, file.problems[:1])
    if not lines:
        raise _unknown(name, "The file is empty.", "Choose another, or leave it out.")
    number, first = lines[0]
    try:
        refuse_comment(first)
        if found := _Look(path, name, lines, named or Named()).format():
            return found
        raise BrokenLine("The format is not recognised from this line.", UNKNOWN)
    except BrokenLine as broken:
        raise BrokenFile(name, [Problem(number, broken.reason, broken.remedy)]) from broken


def _first_lines(file: InputFile) -> Iterator[tuple[int, str]]:
    """Yield the first lines; broken ones after the first are the reader's to say."""
    left = MOST_CHARACTERS
    for number, line in islice(file.lines(), MOST_LINES):
        yield number, line.strip()
        if (left := left - len(line)) < 0:
            return


def _is_assize(found: dict[str, Any]) -> bool:
    return found.get("type") in LINES


def _is_question_bank(found: dict[str, Any]) -> bool:
    return "query_id" in found and (isinstance(found.get("items"), list) or isinstance(found.get("questions"), list))


# The first that one of the first objects is.
OBJECTS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "assize": _is_assize,
    "judgments": lambda found: found.keys() >= ROW_FIELDS,
    "clapnq": lambda found: found.keys() >= {"input", "passages", "output"},
    "questions": _is_question_bank,
    "natural_questions": is_question,
    "reports": is_cited_report,
    "pools": is_pool,
    "summaries": is_summary,
    "assignments": is_assignment,
    "nuggets": lambda found: is_nugget_bank(found) or are_scores(found),
    "scores": lambda found: bool(form_of(found)) and not is_scores_by_topic(found),
}


class _Look:
    """The first lines of a file, and what may decide where they do not."""

    def __init__(self, path: Path, name: str, lines: list[tuple[int, str]], named: Named) -> None:
        self.path, self.name, self.lines, self.named = path, name, lines, named
        self.first = lines[0][1]

    def format(self) -> str:
        """Return the format; empty where it is none of these."""
        match self.first[:1]:
            case "{" | "[":
                return self._of_json()
            case "<":
                return self._of_tags()
        return self._of_table() or self._of_columns()

    def _of_tags(self) -> str:
        text = "\n".join(line for _, line in self.lines)
        return "topics" if TOP.search(text) or XML_TOPIC.search(text) else ""

    def _of_json(self) -> str:
        if is_graded_topic(self.first):
            return "graded"
        if is_open(self.first) or LIST.match(self.first):
            found = whole_json(InputFile(self.path, name=self.name))
        else:
            found = strict_json(self.first)
        if is_scores_by_topic(found):
            return self._of_numbers(found)
        if isinstance(found, list):
            return self._of_objects([one for one in found[:MOST_LINES] if isinstance(one, dict)])
        if is_open(self.first):
            return self._of_objects([found] if isinstance(found, dict) else [])
        return self._of_objects(list(self._objects()))

    def _objects(self) -> Iterator[dict[str, Any]]:
        for _, line in self.lines:
            try:
                yield strict_object(line)
            except BrokenLine:
                continue

    def _of_objects(self, objects: list[dict[str, Any]]) -> str:
        for found, is_one in OBJECTS.items():
            if any(map(is_one, objects)):
                return found
        keys = {name for one in objects for name in one}
        are_passages = bool(keys & set(TEXT_FIELDS)) and bool(keys & set(PASSAGE_IDS))
        are_topics = bool(keys & set(ID_FIELDS)) and bool(keys & set(REQUEST_FIELDS))
        if not are_passages or not are_topics:
            return "passages" if are_passages else "topics" if are_topics else ""
        if keys & (set(REQUEST_FIELDS) - {"text", "title", "description"}):
            return "passages" if keys & (set(TEXT_FIELDS) - {"text"}) else "topics"
        pairs = [(str(_first(one, PASSAGE_IDS)), str(_first(one, TEXT_FIELDS))) for one in objects]
        return self._topics_or_passages(pairs, has_titles="title" in keys or "url" in keys)

    def _topics_or_passages(self, pairs: list[tuple[str, str]], *, has_titles: bool = False) -> str:
        ids = {one for one, _ in pairs}
        for found, known in (("topics", self.named.topics), ("passages", self.named.passages)):
            if NAMED[found].search(self.name) and not _other_named(self.name, found):
                return found
            if known and 2 * len(ids.intersection(known)) > len(ids):
                return found
        words = sum(len(text.split()) for _, text in pairs) / len(pairs)
        if has_titles or words > LONG_TEXT:
            return "passages"
        if 2 * sum(text.rstrip().endswith("?") for _, text in pairs) > len(pairs):
            return "topics"
        raise UnclearFormat(self.name, ("passages", "topics"), "Each line has an id and a short text.")

    def _of_numbers(self, found: dict[str, dict[str, float]]) -> str:
        for one in ("qrels", "run"):
            if NAMED[one].search(self.name):
                return one
        values = [value for of_topic in found.values() for value in of_topic.values()]
        if any(value != int(value) for value in values):
            return "run"
        if self.named.topics and 2 * len(self.named.topics & found.keys()) > len(found):
            raise UnclearFormat(self.name, ("qrels", "run"), "The file has whole numbers by topic and document.")
        raise UnclearFormat(self.name, ("qrels", "run", "scores"), "The file has whole numbers by name and name.")

    def _of_table(self) -> str:
        """Return the format of a table whose first line names its columns; empty where it does not."""
        names = {normal(name) for name in self.first.split(delimiter_of(self.first))}
        if names >= ROW_FIELDS:
            return "judgments"
        if names >= {"user_input", "response"}:
            return "scores"
        if len(names) < 2:
            return ""
        if len(names & {"contents", "segment", "body", "text"}) and names_of(self.first, PASSAGE_IDS, TEXT_FIELDS):
            rows = [line.split(delimiter_of(self.first), 1) for _, line in self.lines[1:]]
            pairs = [(row[0].strip(), row[-1]) for row in rows]
            return self._topics_or_passages(pairs or [("", "")], has_titles="title" in names)
        return "topics" if names_of(self.first, *HEADER) and not names & {"docid", "corpus_id", "docno"} else ""

    def _of_columns(self) -> str:
        rows = [line.split() for _, line in self.lines]
        has_names = all(normal(cell) in COLUMNS for cell in rows[0]) and len(rows) > 1
        rows = rows[1:] if has_names else rows
        # A broken line among the first is the reader's to say.
        width, count = Counter(map(len, rows)).most_common(1)[0]
        even = [row for row in rows if len(row) == width]
        return (self._of_equal_columns(even) if 2 * count > len(rows) else "") or self._of_two_columns()

    def _of_equal_columns(self, rows: list[list[str]]) -> str:
        width = len(rows[0])
        if width == 6 and _most(NUMBER.fullmatch(row[3]) and NUMBER.fullmatch(row[4]) for row in rows):
            return "run"
        if width == 5 and self._is_run_without_tag(rows):
            reason = "This looks like a run without its last column, the tag."
            raise BrokenLine(reason, f"Add the run’s name to each line. For qrels choose --format {self.name}=qrels.")
        if width in (4, 5) and _most(
            all(map(NUMBER.fullmatch, row[3:])) and ITERATION.fullmatch(row[1]) for row in rows
        ):
            return "qrels"
        if width == 3 and all(WHOLE.fullmatch(row[2]) for row in rows) and rows[0][1] != "all":
            return self._run_or_qrels(rows)
        return ""

    def _is_run_without_tag(self, rows: list[list[str]]) -> bool:
        """Whether a fifth column is a score, and not the inclusion probability of qrels."""
        if NAMED["qrels"].search(self.name):
            return False
        return bool(NAMED["run"].search(self.name)) or _most(row[1] in ("Q0", "q0") for row in rows)

    def _run_or_qrels(self, rows: list[list[str]]) -> str:
        """Distinguish MS MARCO's runs, which end in ranks from 1 up, from BEIR's qrels, which end in grades."""
        for found in ("qrels", "run"):
            if NAMED[found].search(self.name):
                return found
        if [normal(cell) for cell in self.first.split()][-1] in ("score", "grade", "rel", "relevance", "label"):
            return "qrels"
        ranks = [int(float(row[2])) for row in rows]
        topics = [row[0] for row in rows]
        steps = [after - before for before, after in pairwise(ranks)]
        within = [step for step, (one, two) in zip(steps, pairwise(topics), strict=True) if one == two]
        if any(step != 1 for step in within):
            return "qrels"
        if len(within) >= 3:
            return "run"
        if ranks and not within and len(set(ranks)) > 1:
            return "qrels"
        raise UnclearFormat(self.name, ("qrels", "run"), "The third column may be grades or ranks.")

    def _of_two_columns(self) -> str:
        rows = [line.split("\t") for _, line in self.lines]
        if any(len(row) != 2 for row in rows[:2]) or sum(len(row) == 2 for row in rows) < len(rows) * 0.9:
            return ""
        pairs = [(row[0].strip(), row[-1].strip()) for row in rows if len(row) == 2]
        if all(NUMBER.fullmatch(text) for _, text in pairs):
            raise _unknown(self.name, "These are names with numbers, for example measures.", UNKNOWN)
        if all(text.startswith(("[", '"[')) for _, text in pairs):
            said = "These are questions with lists of answers, without ids."
            raise _unknown(self.name, said, "Put an id and a tab before each question, and leave out the answers.")
        if all(" " in one for one, _ in pairs):
            said = "The first column has texts with blanks, which are not ids."
            raise _unknown(self.name, said, "Put the id first, then a tab.")
        others = pairs[1:]
        if others and all(re.search(r"\d", one) for one, _ in others) and not re.search(r"\d", pairs[0][0]):
            reason = f"“{self.first[:60]}” may be the names of columns."
            remedy = "Remove the line, or put “id”, a tab and “request” (or “text”) above it."
            raise BrokenFile(self.name, [Problem(self.lines[0][0], reason, remedy)])
        return self._topics_or_passages(pairs)


def _first(found: dict[str, Any], names: Sequence[str]) -> Any:
    return next((found[name] for name in names if found.get(name) is not None), "")


def _other_named(name: str, found: str) -> bool:
    other = "passages" if found == "topics" else "topics"
    return bool(NAMED[other].search(name))


def _most(fitting: Iterable[object]) -> bool:
    found = list(map(bool, fitting))
    return 2 * sum(found) > len(found)


def _unknown(name: str, reason: str, remedy: str) -> BrokenFile:
    return BrokenFile(name, [Problem(None, reason, remedy)])
