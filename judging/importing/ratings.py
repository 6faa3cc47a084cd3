"""CRUX's judge output: a line for each text with one rating per sub-question, in their order.

`{"id": topic, "docid": passage or run, "rating": [3, -1, …]}`, or in older files `example_id` and `pid`.
−1 stands for a reply without a digit: it becomes *ungraded*, never a grade.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from collection.formats.files import BrokenLine, InputFile
from collection.importing.judgments import JudgmentRows
from collection.importing.rows import Imported
from collection.importing.studies import ItemRows, criterion_of, known, topic_pks
from collection.models import Judgment, Rater, Report, RubricElement, Study
from collection.models.studies import TaskType
from collection.task_types import RUBRIC_0_5, TASK_TYPES, CriterionShape

REPORT_RATING = CriterionShape(
    "report_rating", "How well does the report answer this question?", RUBRIC_0_5, threshold=3
)
TIME_REMARK = "The file does not tell when anything was graded: judged_at is the time of this import."
UNREAD = -1


@dataclass(frozen=True)
class RatingLine:
    """One text's ratings."""

    topic_id: str
    text_id: str
    ratings: tuple[int, ...]


@transaction.atomic
def import_ratings(*, file: InputFile, study: Study, rater: Rater, at: datetime) -> Imported:
    """Bring in a file of ratings as this judge's. A text is a passage of the collection, or else a run's report.

    The same file again changes nothing. Raises BrokenFile, and ValidationError for a study of other scales.
    """
    imported = Imported(remarks=[TIME_REMARK])
    with file:
        ratings = _Ratings(study, file, imported, rater, at)
        for number, line in read_ratings(file):
            with file.line(number):
                ratings.add(number, line)
        ratings.flush()
    return imported


def read_ratings(file: InputFile) -> Iterator[tuple[int, RatingLine]]:
    """Yield the lines of the file."""
    for number, text in file.lines():
        with file.line(number):
            try:
                found = json.loads(text)
            except ValueError as error:
                raise BrokenLine(f"The line is no JSON ({error}).", "One object a line.") from error
            if not isinstance(found, dict):
                raise BrokenLine("The line is no JSON object.", "One object a line.")
            yield number, RatingLine(_name(found, "id", "example_id"), _name(found, "docid", "pid"), _ratings(found))


def _name(found: dict[str, Any], *names: str) -> str:
    for name in names:
        if isinstance(found.get(name), str) and found[name]:
            return str(found[name])
    raise BrokenLine(f"The line has no “{names[0]}”.", f"It names the text: {' or '.join(names)}.")


def _ratings(found: dict[str, Any]) -> tuple[int, ...]:
    ratings = found.get("rating")
    if not isinstance(ratings, list) or not ratings:
        raise BrokenLine("“rating” is not a list of grades.", "One for each sub-question, in their order.")
    for rating in ratings:
        if isinstance(rating, bool) or not isinstance(rating, int) or not UNREAD <= rating <= 5:
            raise BrokenLine(f"“rating” holds {rating!r}, which is no grade from 0 to 5, nor −1.")
    return tuple(ratings)


class _Ratings:
    def __init__(self, study: Study, file: InputFile, imported: Imported, rater: Rater, at: datetime) -> None:
        self.study, self.rater, self.at, self.imported = study, rater, at, imported
        collection = study.collection
        self.topics = topic_pks(collection)
        self.passages = dict(collection.passages.values_list("passage_id", "pk"))
        reports = Report.objects.filter(run__collection=collection)
        self.reports = {
            (run, topic): pk for pk, run, topic in reports.values_list("pk", "run__name", "topic__topic_id")
        }
        self.questions: dict[int, list[RubricElement]] = {}
        for element in RubricElement.objects.filter(
            topic__collection=collection, kind=RubricElement.Kind.SUB_QUESTION
        ).order_by("topic_id", "position"):
            self.questions.setdefault(element.topic_id, []).append(element)
        (self.rating_shape,) = TASK_TYPES[TaskType.RATING].criteria
        self.items = ItemRows(study, file=file, imported=imported)
        self.judgments = JudgmentRows(file=file, imported=imported)

    def add(self, number: int, line: RatingLine) -> None:
        """Take a line. Raises BrokenLine."""
        topic_pk = known(self.topics, line.topic_id, "topic")
        questions = self.questions.get(topic_pk, [])
        if len(questions) != len(line.ratings):
            raise BrokenLine(
                f"The topic “{line.topic_id}” has {len(questions)} sub-questions; the line rates {len(line.ratings)}.",
                "There is one rating for each, the masked ones too.",
            )
        passage_pk = self.passages.get(line.text_id)
        report_pk = None if passage_pk else self.reports.get((line.text_id, line.topic_id))
        if passage_pk is None and report_pk is None:
            raise BrokenLine(f"“{line.text_id}” is no passage and no run with a report on “{line.topic_id}”.")
        task_type = TaskType.RATING if passage_pk else TaskType.ANSWERABILITY
        criterion = criterion_of(self.study, task_type, self.rating_shape if passage_pk else REPORT_RATING)
        taken = [
            (
                self.items.add(
                    number, task_type, topic=(topic_pk, line.topic_id), text=line.text_id,
                    element=(question.pk, question.element_id), passage_pk=passage_pk, report_pk=report_pk,
                ),
                rating,
            )
            for question, rating in zip(questions, line.ratings, strict=True)
            if not question.masked
        ]  # fmt: skip
        self.items.flush()
        for item_id, rating in taken:
            unread = rating == UNREAD
            self.judgments.add(
                number,
                Judgment(
                    criterion=criterion, item_id=self.items.pk(item_id), rater=self.rater,
                    grade=None if unread else rating, ungraded=Judgment.Ungraded.UNREADABLE if unread else "",
                    judged_at=self.at,
                ),
            )  # fmt: skip

    def flush(self) -> None:
        self.judgments.flush()
