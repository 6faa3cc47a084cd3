"""AutoNuggetizer’s assignments on their way to judgments about reports."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from collection.formats.jsonl import ReportLine
from collection.formats.nugget_banks import AssignedAnswer
from collection.formats.problems import BrokenLine
from collection.importing.datasets.nugget_banks.banks import Banks
from collection.importing.judgments import JudgmentRows
from collection.importing.studies import ItemRows, criterion_of
from collection.models import Rater, Report, Study
from collection.models.studies import TaskType
from collection.questions.shapes import TASK_TYPES

# So many objects are held at once.
BATCH = 50


@dataclass(frozen=True)
class Assigning:
    """Where assignments go: the study, and whose judgments they are."""

    study: Study
    rater: Rater


class Answers:
    """Assignments on their way to judgments about reports."""

    def __init__(self, banks: Banks, assigning: Assigning, at: datetime) -> None:
        self.banks = banks
        self.at = at
        self.assigning = assigning
        shape = next(one for one in TASK_TYPES[TaskType.NUGGET].criteria if one.name == "support")
        self.criterion = criterion_of(assigning.study, TaskType.NUGGET, shape)
        self.items = ItemRows(assigning.study, file=banks.file, imported=banks.imported)
        self.judgments = JudgmentRows(file=banks.file, imported=banks.imported)
        self.waiting: list[tuple[int, AssignedAnswer, int]] = []
        self.asked: set[int] = set()

    def add(self, number: int, one: AssignedAnswer) -> None:
        """Take an answer: its report, and its nuggets if the topic has none of them yet. Raises BrokenLine."""
        topic = self.banks.rows.topic_pk(one.topic.topic_id)
        self._add_report(number, one, topic)
        if topic not in self.asked:
            known = self.banks.elements[topic].by_text
            is_new = any(not known.get((nugget.kind, nugget.text)) for nugget in one.topic.nuggets)
            self.asked.add(topic)
            if is_new:
                self.banks.add(number, one.topic)
        self.waiting.append((number, one, topic))
        if len(self.waiting) >= BATCH:
            self.flush_waiting()

    def _add_report(self, number: int, one: AssignedAnswer, topic: int) -> None:
        stored = Report.objects.filter(run__collection=self.banks.collection, run__name=one.run, topic=topic).first()
        if stored is None:
            if not one.answer:
                raise BrokenLine(
                    f"There is no report of “{one.run}” on “{one.topic.topic_id}”, and the line has no answer_text.",
                    "Import the reports first.",
                )
            rows = self.banks.rows
            rows.add_run(number, one.run)
            attributes = {"assigned": one.attributes} if one.attributes else {}
            rows.add(number, ReportLine(one.run, one.topic.topic_id, one.answer, attributes))
            return
        if one.attributes and stored.attributes.get("assigned") != one.attributes:
            names = ", ".join(sorted(one.attributes))
            self.banks.imported.flaw("fields of reports that are here already, not kept", f"{one.run}: {names}")
        if one.answer and stored.text.split() != one.answer.split():
            raise BrokenLine(
                f"The report of “{one.run}” on “{one.topic.topic_id}” is here with another text.",
                "Judgments of one text do not hold for another: import the answers under another run’s name.",
            )

    def flush_waiting(self) -> None:
        """Store the reports and items that are waiting, and take their judgments."""
        waiting, self.waiting = self.waiting, []
        self.banks.rows.flush()
        taken: list[tuple[int, str, float | None]] = []
        for number, one, topic in waiting:
            with self.banks.file.line(number):
                taken += [(number, item, grade) for item, grade in self._items(number, one, topic)]
        self.items.flush()
        for number, item_id, grade in taken:
            with self.banks.file.line(number):
                item = self.items.pk(item_id)
                self.judgments.grade(number, item, self.criterion, self.assigning.rater, grade, at=self.at)

    def _items(self, number: int, one: AssignedAnswer, topic: int) -> list[tuple[str, float | None]]:
        rows, topic_id = self.banks.rows, one.topic.topic_id
        report = rows.reports.pk(rows.run_pk(one.run), topic, what=f"report of “{one.run}” on “{topic_id}”")
        taken: set[int] = set()
        found = []
        for nugget, grade in zip(one.topic.nuggets, one.grades, strict=True):
            element = self.banks.element_of(topic, nugget, taken)
            if element is None:
                raise BrokenLine(
                    f"“{nugget.text[:60]}” is none of the topic’s nuggets.",
                    "All answers on a topic are held against the same nuggets.",
                )
            taken.add(element.pk)
            item = self.items.add(
                number,
                TaskType.NUGGET,
                topic=(topic, topic_id),
                text=one.run,
                element=(element.pk, element.element_id),
                report_pk=report,
            )
            found.append((item, grade))
        return found

    def flush(self) -> None:
        """Store what is still waiting."""
        self.flush_waiting()
        self.judgments.flush()
