"""What every reader of grades from elsewhere yields: a pair, and what was said about it."""

from __future__ import annotations

from dataclasses import dataclass

from collection.models import Judgment


@dataclass(frozen=True, slots=True)
class FileGrade:
    """A grade that a file tells, or the kind of ungraded in place of one: unreadable where it tells none.

    `text_id` names a passage, or a run for its report on the topic. `element` is a rubric element's id, or the
    number of a sub-question from 0, or None where the topic alone is asked about; `of_elements` says how many
    sub-questions the line tells of, where it tells of all. `judge` is what the file itself calls the judge.
    """

    number: int
    topic_id: str
    text_id: str
    element: str | int | None
    grade: float | None
    ungraded: str = ""
    of_elements: int | None = None
    judge: str = ""

    def __post_init__(self) -> None:
        if self.grade is None and not self.ungraded:
            object.__setattr__(self, "ungraded", Judgment.Ungraded.UNREADABLE.value)
