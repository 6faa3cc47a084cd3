"""Written answers of a judgments table: they come in behind their judgments, those of round 1 before round 2."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from collection.formats.judgments_reader import AnswerLine, JudgmentLine, RevisesLine
from collection.formats.problems import BrokenLine, InputFile
from collection.importing.judgments import Key, key_of
from collection.importing.rows import BATCH, Imported
from collection.judgments.services import NewJudgment, stored_among
from collection.models import AnswerToRevise, Item, Judgment, Rater, Study, WrittenAnswer
from collection.models.studies import TaskType

Line = tuple[int, JudgmentLine]
ANOTHER_STUDY = "Import the table into a study where nobody has written yet."
TAKES_AN_ANSWER = (TaskType.WRITTEN_ANSWER, TaskType.ANSWER_REVISION)


@dataclass
class WrittenAnswers:
    """What was written beside the judgments of one file."""

    file: InputFile
    imported: Imported
    pending: dict[Key, tuple[int, AnswerLine]] = field(default_factory=dict)

    def add(self, number: int, judgment: NewJudgment, answer: AnswerLine, item_id: str, task_type: str) -> None:
        """Take the answer of this line. Raises BrokenLine for a judgment that has none."""
        if task_type not in TAKES_AN_ANSWER:
            raise BrokenLine(f"No answers are written for the item “{item_id}”.", "Remove “answer”.")
        _, before = self.pending.setdefault(judgment.key, (number, answer))
        if before != answer:
            raise BrokenLine("The same judgment has another answer above.", "Remove one of the two lines.")

    def flush(self) -> None:
        """Store what is new, beside the judgments, which are stored."""
        pending, self.pending = self.pending, {}
        for keys in batched(pending):
            judgments = stored_among(keys).select_related("answer", "rater")
            stored = {key_of(judgment): judgment for judgment in judgments}
            new = []
            for key in keys:
                number, answer = pending[key]
                with self.file.line(number):
                    if judgment := stored.get(key):
                        new += self._new(judgment, answer)
            WrittenAnswer.objects.bulk_create(new)
            self.imported.new["written answers"] += len(new)
            self.imported.known["written answers"] += len(keys) - len(new)

    def _new(self, judgment: Judgment, answer: AnswerLine) -> list[WrittenAnswer]:
        """Return the row that is missing, if one is. Raises BrokenLine where another answer is stored."""
        stored = getattr(judgment, "answer", None)
        if stored is None:
            fields = {"text": answer.text, "confirmations": list(answer.confirmations), "attributes": answer.attributes}
            return [WrittenAnswer(judgment=judgment, **fields)]
        if stored.text != answer.text:
            raise BrokenLine(
                f"“{judgment.rater}” has already written another answer here.",
                "A file never replaces a stored answer: remove the line, or rename the rater.",
            )
        return []


@dataclass
class Revisions:
    """Items of round 2 that a table names: each is one person's answer of round 1, as its second reader saw it.

    Another study has no such item before that answer is in it, so the lines about them are read last.
    """

    study: Study
    imported: Imported
    at: datetime
    rater: Callable[[str, str], Rater | None]

    def items_of(self, lines: Sequence[Line], file: InputFile) -> dict[str, Item]:
        """Return the items of these lines by id, made where they are new; broken lines are noted, and lack theirs."""
        items: dict[str, Item] = {}
        known = self._known({line.item_id for _, line in lines})
        for number, line in lines:
            with file.line(number):
                assert line.revises is not None  # only such lines are read last
                if line.item_id not in known:
                    known[line.item_id] = self._make(line.item_id, line.revises)
                handed_on = known[line.item_id]
                refuse_another_answer(line.item_id, handed_on, line.revises)
                items[line.item_id] = handed_on.item
        return items

    def _known(self, ids: set[str]) -> dict[str, AnswerToRevise]:
        handed_on = AnswerToRevise.objects.filter(item__study=self.study, item__item_id__in=ids)
        related = ("item__topic", "item__passage", "item__report", "answered", "writer")
        return {one.item.item_id: one for one in handed_on.select_related(*related)}

    def _make(self, item_id: str, revises: RevisesLine) -> AnswerToRevise:
        writer = self.rater(Rater.Kind.ASSESSOR, revises.writer)
        answers = WrittenAnswer.objects.filter(
            judgment__item__study=self.study,
            judgment__item__item_id=revises.item_id,
            judgment__item__task_type=TaskType.WRITTEN_ANSWER,
            judgment__rater=writer,
        ).select_related("judgment__rater", "judgment__item__topic", "judgment__item__passage")
        answer = answers.first() if writer else None
        if answer is None:
            raise BrokenLine(
                f"“{revises.writer}” has written no answer to “{revises.item_id}”, neither here nor in the file.",
                "Add the answers of round 1 to the same file.",
            )
        answered = answer.judgment.item
        others = AnswerToRevise.objects.filter(answered=answered, writer=answer.judgment.rater_id)
        if other := others.select_related("item").first():
            raise BrokenLine(
                f"The answer of “{revises.writer}” to “{revises.item_id}” is the item “{other.item}” here.",
                ANOTHER_STUDY,
            )
        if Item.objects.filter(study=self.study, item_id=item_id).exists():
            raise BrokenLine(f"The item “{item_id}” is not an answer of round 1.", "Remove “revises”.")
        item = Item.objects.create(
            study=self.study,
            task_type=TaskType.ANSWER_REVISION,
            item_id=item_id,
            topic=answered.topic,
            passage=answered.passage,
        )
        self.imported.new["items"] += 1
        self.imported.new["answers to revise"] += 1
        return AnswerToRevise.objects.create(
            item=item,
            answered=answered,
            writer=answer.judgment.rater,
            text=answer.text,
            spans=[
                {"start": highlight.start, "end": highlight.end, "quote": highlight.quote}
                for highlight in answer.judgment.highlights.all()
                if highlight.start is not None
            ],
            handed_on_at=self.at,
        )


def refuse_another_answer(item_id: str, handed_on: AnswerToRevise, revises: RevisesLine) -> None:
    """Raise BrokenLine unless this item is the answer that the line says was read."""
    writer, answered = handed_on.writer.name, handed_on.answered.item_id
    if (answered, writer) != (revises.item_id, revises.writer):
        raise BrokenLine(f"The item “{item_id}” is here the answer of “{writer}” to “{answered}”.", ANOTHER_STUDY)


def batched(keys: Iterable[Key]) -> Iterator[list[Key]]:
    remaining = iter(keys)
    while batch := list(islice(remaining, BATCH)):
        yield batch
