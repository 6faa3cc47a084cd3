"""The files of CRUX's labelling platform.

`id`s may begin with the name of a run (`bm25_duc04-testb-3`); without, they are the run `oracle`'s.
Grades below 0 are no grades: −2 says that the sub-question is masked, −1 that nobody judged it, and
in a judge's file that its reply held no digit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collection.formats.json_fields import Fields, json_objects
from collection.formats.problems import BrokenFile, BrokenLine, InputFile, Problem
from collection.formats.values import read_whole, shown

ORACLE = "oracle"
UNJUDGED = -1
MASKED = -2
# What stands for the text of a masked sub-question; all of a topic's share it.
NO_QUESTION = "NA"


@dataclass(frozen=True)
class CruxReport:
    """A line of a topic file: the report of one run on one topic, with its 15 sub-questions.

    `names_its_run` says whether the id did, or only the file's name.
    """

    run: str
    topic_id: str
    names_its_run: bool
    request: str
    questions: tuple[str | None, ...]
    summary: str
    text: str
    attributes: dict[str, Any]


@dataclass(frozen=True)
class CruxLabels:
    """One person's labels of a report: a label for each sub-question, a span for each question's text."""

    run: str
    topic_id: str
    labels: tuple[int, ...]
    spans: dict[str, str]


@dataclass(frozen=True)
class CruxRatings:
    """One person's ratings of a passage, by the sub-question's number."""

    topic_id: str
    passage_id: str
    grades: dict[int, int]
    rationales: dict[int, str]


@dataclass(frozen=True)
class CruxGrades:
    """A model's grades of a report, one for each sub-question in order."""

    run: str
    topic_id: str
    model: str
    grades: tuple[int, ...]


class Folder:
    """The files that the folder holds; a run's file tells which topic file belongs to it."""

    def __init__(self, path: Path, advance: Callable[[int], object] | None, *, name: str = "") -> None:
        self.path = path
        self.advance = advance
        self.runs = sorted(run.stem for run in path.glob("*.run") if run.with_suffix(".jsonl").is_file())
        self.topic_files = [f"{run}.jsonl" for run in self.runs]
        if not self.runs or not self.open("documents.jsonl").path.is_file():
            reason = "This is not a folder of CRUX’s labelling platform."
            remedy = "It must contain documents.jsonl, and for each run NAME.run and NAME.jsonl."
            raise BrokenFile(name or str(path), [Problem(None, reason, remedy)])

    def open(self, name: str) -> InputFile:
        """Return the file of this name, relative to the folder."""
        return InputFile(self.path / name, name=name, advance=self.advance)

    def named(self, pattern: str) -> list[str]:
        """Return the names that match the pattern, in order."""
        return [str(found.relative_to(self.path)) for found in sorted(self.path.glob(pattern))]


def split_id(found: str, runs: Sequence[str]) -> tuple[str | None, str]:
    """Return the run that the id names, or None, and the topic's id."""
    for run in sorted(runs, key=len, reverse=True):
        if found.startswith(f"{run}_"):
            return run, found.removeprefix(f"{run}_")
    return None, found


def read_reports(file: InputFile, *, run: str, runs: Sequence[str]) -> Iterator[tuple[int, CruxReport]]:
    """Yield the reports of a topic file, which is named after the `run` of the ids that name none."""
    for number, found in json_objects(file):
        with file.line(number):
            fields = Fields(found)
            named, topic_id = split_id(fields.name("qid"), runs)
            report = CruxReport(
                run=named or run,
                topic_id=topic_id,
                names_its_run=named is not None or run == ORACLE,
                request=fields.name("topic"),
                questions=_questions(fields.take("questions")),
                summary=fields.optional_text("report"),
                text=fields.name("response"),
                attributes=fields.attributes(),
            )
            yield number, report


def read_labels(file: InputFile, *, runs: Sequence[str]) -> Iterator[tuple[int, CruxLabels]]:
    """Yield a person's labels (task T1)."""
    for number, found in json_objects(file):
        with file.line(number):
            fields = Fields(found)
            run, topic_id = split_id(fields.name("id"), runs)
            spans = _texts("question_based_nugget", fields.take("question_based_nugget"))
            labels = _grades("answerability", fields.take("answerability"), lowest=MASKED, highest=1)
            yield number, CruxLabels(run or ORACLE, topic_id, labels, spans)


def written_labels(line: CruxLabels) -> dict[str, Any]:
    """Return the line as the platform writes it.

    `coverage` is answered sub-questions of all, masked ones too, as there; None where a sub-question is not judged yet.
    """
    complete = line.labels and UNJUDGED not in line.labels
    return {
        "id": line.topic_id if line.run == ORACLE else f"{line.run}_{line.topic_id}",
        "question_based_nugget": line.spans,
        "answerability": list(line.labels),
        "coverage": line.labels.count(1) / len(line.labels) if complete else None,
    }


def written_ratings(line: CruxRatings) -> dict[str, Any]:
    """Return the line as the platform writes it; every sub-question has a rationale, empty where nobody gave one."""
    return {
        "id": line.topic_id,
        "document": line.passage_id,
        "relevances": {str(place): grade for place, grade in line.grades.items()},
        "rationales": {str(place): line.rationales.get(place, "") for place in line.grades},
    }


def read_ratings(file: InputFile) -> Iterator[tuple[int, CruxRatings]]:
    """Yield a person's ratings (task T2)."""
    for number, found in json_objects(file):
        with file.line(number):
            fields = Fields(found)
            topic_id, passage_id = fields.name("id"), fields.name("document")
            relevances = fields.take("relevances")
            if not isinstance(relevances, dict):
                raise BrokenLine(f"“relevances” is {shown(relevances)}, not an object.")
            grades = _grades("relevances", list(relevances.values()), lowest=MASKED, highest=5)
            numbers = [_place(key) for key in relevances]
            rationales = _texts("rationales", fields.rest.get("rationales") or {})
            yield (
                number,
                CruxRatings(
                    topic_id,
                    passage_id,
                    grades=dict(zip(numbers, grades, strict=True)),
                    rationales={_place(key): text for key, text in rationales.items() if text},
                ),
            )


def read_grades(file: InputFile, *, runs: Sequence[str]) -> Iterator[tuple[int, CruxGrades]]:
    """Yield a model's grades of reports."""
    for number, found in json_objects(file):
        with file.line(number):
            fields = Fields(found)
            run, topic_id = split_id(fields.name("id"), runs)
            grades = _grades("rating", fields.take("rating"), lowest=UNJUDGED, highest=5)
            yield number, CruxGrades(run or ORACLE, topic_id, fields.name("model"), grades)


def _questions(found: Any) -> tuple[str | None, ...]:
    if not isinstance(found, list) or not all(question is None or isinstance(question, str) for question in found):
        raise BrokenLine("“questions” is not a list of texts, null where one is masked.")
    return tuple(found)


def _grades(name: str, found: Any, *, lowest: int, highest: int) -> tuple[int, ...]:
    if not isinstance(found, list):
        raise BrokenLine(f"“{name}” is {shown(found)}, not a list of grades.")
    for grade in found:
        if isinstance(grade, bool) or not isinstance(grade, int) or not lowest <= grade <= highest:
            raise BrokenLine(f"“{name}” contains {shown(grade)}, which is not a grade from {lowest} to {highest}.")
    return tuple(found)


def _texts(name: str, found: Any) -> dict[str, str]:
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise BrokenLine(f"“{name}” is {shown(found)}, not an object of texts.")
    return found


def _place(key: str) -> int:
    return read_whole(key, "number of a sub-question")
