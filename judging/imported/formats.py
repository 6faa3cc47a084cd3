"""What files of grades from elsewhere there are, and how each is read."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from collection.formats.problems import BrokenLine, InputFile
from collection.formats.rubric_workbench import read_graded, with_judges
from collection.formats.trec import read_qrels
from collection.formats.values import read_number
from collection.models.studies import TaskType
from judging.imported.batch_outputs import read_batch_output
from judging.imported.crux_ratings import read_ratings
from judging.imported.rows import FileGrade

# What UMBRELA, CRUX and TREC write where there is no grade.
NO_GRADE = (-1.0,)


@dataclass(frozen=True)
class GradesFormat:
    """A format: what it is called, and what stands in it."""

    label: str
    about: str
    task_type: str | None = None


FORMATS = {
    "crux-ratings": GradesFormat(
        "CRUX ratings", "JSONL: one text a line, with a rating for each sub-question, 0 to 5; −1 is ungraded."
    ),
    "qrels": GradesFormat(
        "Qrels, of UMBRELA or another judge",
        "topic 0 docno grade: relevance of passages. −1, or the grades that you name, mean ungraded; pairs that are "
        "not listed are missing.",
        task_type=TaskType.RELEVANCE,
    ),
    "rubric": GradesFormat(
        "RUBRIC graded file",
        "The workbench’s JSONL, plain or gzipped: self-ratings of passages on questions or nuggets.",
    ),
    "batch": GradesFormat(
        "Batch output, of requests written by CRUX",
        "OpenAI’s or vLLM’s JSONL with custom_id topic::text::number. Import replies to requests written here on "
        "their job’s page.",
    ),
}


def read_no_grade(written: str) -> tuple[float, ...]:
    """Return the numbers that mean no grade, with commas between them. Raises ValueError."""
    try:
        return tuple(
            read_number(part.strip().replace("−", "-"), "number") for part in written.split(",") if part.strip()
        )
    except BrokenLine:
        raise ValueError("These are not numbers separated by commas. Write, for example: -1, -2") from None


def read_grades(file: InputFile, file_format: str, *, no_grade: Collection[float] = NO_GRADE) -> Iterator[FileGrade]:
    """Yield what the file tells, line after line."""
    match file_format:
        case "crux-ratings":
            return read_ratings(file)
        case "batch":
            return read_batch_output(file)
        case "rubric":
            return _read_rubric(file)
        case _:
            return _read_qrels(file, no_grade)


def _read_qrels(file: InputFile, no_grade: Collection[float]) -> Iterator[FileGrade]:
    for number, line in read_qrels(file):
        grade = None if line.grade in no_grade else line.grade
        yield FileGrade(number, line.topic_id, line.passage_id, None, grade)


def _read_rubric(file: InputFile) -> Iterator[FileGrade]:
    for number, topic in read_graded(file):
        for passage in topic.passages:
            for judge, grading in with_judges(passage.gradings):
                for element, told in grading.grades.items():
                    grade = None if told is None else float(told)
                    yield FileGrade(number, topic.topic_id, passage.passage_id, element, grade, judge=judge)
