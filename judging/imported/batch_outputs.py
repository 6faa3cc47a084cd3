"""Outputs of OpenAI's or vLLM's batches whose requests were written by CRUX: `custom_id` is `topic::text::number`.

The reply is read by the strict rule of every judge here: its first line is a grade from 0 to 5 and nothing else.
What was asked for by a job of ours is read on that job's page, where it is known what the judge may reply.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from collection.formats.problems import BrokenLine, InputFile
from collection.formats.values import strict_object
from judging.engines import GradeRequest
from judging.engines.responses import Question, read_answer
from judging.grading.batch_files import SERVICES, as_answer
from judging.imported.rows import FileGrade
from judging.prompts.grade_parsing import read

GRADES = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
REQUEST = GradeRequest(0, tuple(f"{grade:g}" for grade in GRADES), query="", text="", values=GRADES)


def read_batch_output(file: InputFile) -> Iterator[FileGrade]:
    """Yield the grade of each line, or the kind of ungraded that its reply is."""
    for number, text in file.lines():
        with file.line(number):
            found = strict_object(text)
            topic_id, text_id, position = _pair(found)
            if "response" not in found and "error" not in found:
                raise BrokenLine("The line has neither a response nor an error.", "This looks like a file of requests.")
            answer = as_answer(found)
            (reply,) = read_answer(answer, [REQUEST], Question(_model(answer.content), SERVICES["openai"], seconds=0.0))
            reading = read(REQUEST, reply)
            yield FileGrade(number, topic_id, text_id, position, reading.grade, reading.ungraded)


def _pair(found: dict[str, Any]) -> tuple[str, str, int]:
    custom_id = found.get("custom_id")
    if not isinstance(custom_id, str):
        raise BrokenLine("The line has no custom_id.", "Give the service’s output file as it came.")
    if custom_id.startswith("assize-"):
        job = custom_id.split("-")[1]
        raise BrokenLine(f"The line is of job {job} of this installation.", "Read the file on that job’s page.")
    topic_id, _, rest = custom_id.partition("::")
    text_id, _, position = rest.rpartition("::")
    if not topic_id or not text_id or not (position.isascii() and position.isdecimal() and len(position) < 6):
        raise BrokenLine(f"The custom_id “{custom_id}” is not topic::text::number (number of the sub-question).")
    return topic_id, text_id, int(position)


def _model(content: bytes) -> str:
    """Return the model that the answer names: a file from elsewhere tells which model it was, and is not asked."""
    try:
        said = json.loads(content)
    except ValueError:
        return ""
    return str(said.get("model", "")) if isinstance(said, dict) else ""
