"""CLAPNQ's files: questions with their passages, and the answers of both rounds as judgments of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction

from collection.formats.clapnq import FIRST, NOBODY, ClapnqLine, Output, Sentence, read_clapnq
from collection.formats.jsonl import PassageLine, RankingLine, RunLine, SystemLine, TopicLine
from collection.formats.judgments_reader import AnswerLine
from collection.formats.problems import BrokenLine, InputFile
from collection.importing.collections import CollectionRows
from collection.importing.judgments import JudgmentRows
from collection.importing.rows import BATCH, Imported
from collection.importing.studies import ItemRows, criterion_of
from collection.importing.written_answers import WrittenAnswers
from collection.judgments.recording import imported_rater
from collection.models import (
    AnswerToRevise,
    Collection,
    Criterion,
    Highlight,
    Judgment,
    Passage,
    Rater,
    Study,
    Topic,
)
from collection.models.studies import TaskType
from collection.models.texts import text_hash
from collection.questions.shapes import TASK_TYPES
from collection.texts.sentences import SENTENCES

GOLD = "gold"
# Where a title stands that is chosen as a sentence: before the text.
TITLE = (0, 0)
LONGEST_TITLE = 500
COMPLETE, SKIPPED, KEPT, CHANGED = 5, -1, 0, 1
OUTCOME_REMARK = (
    "The files do not say whether an answer is complete: each counts as complete. A skipped question of round 1 is "
    "ungraded, because the files do not say why it was skipped."
)
TIME_REMARK = "The files do not say when anything was written: judged_at is the time of this import."


@transaction.atomic
def import_clapnq(*, file: InputFile, study: Study, at: datetime) -> Imported:
    """Bring a CLAPNQ file into the study and its collection. Raises BrokenFile, and has then changed nothing."""
    imported = Imported(remarks=[OUTCOME_REMARK, TIME_REMARK])
    with file:
        lines = list(read_clapnq(file))
        import_texts(lines, study.collection, file, imported)
    with file:
        answers = Answers(study, file, imported, at)
        for number, line in lines:
            with file.line(number):
                answers.add(number, line)
        answers.flush()
    return imported


def import_texts(
    lines: Sequence[tuple[int, ClapnqLine]], collection: Collection, file: InputFile, imported: Imported
) -> None:
    """Bring in the questions and passages, and that each passage is its question's."""
    rows = CollectionRows(collection, file=file, imported=imported)
    for number, line in lines:
        with file.line(number):
            if number == lines[0][0]:
                rows.add(number, SystemLine(GOLD))
                rows.add(number, RunLine(GOLD, GOLD))
            unanswerable = any(output.round == NOBODY for output in line.outputs)
            attributes = {"answerable": False} if unanswerable else {}
            title = line.question if len(line.question) <= LONGEST_TITLE else ""
            rows.add(number, TopicLine(line.question_id, line.question, title, attributes))
            sentences = {SENTENCES: [list(place) for place in line.sentences]}
            rows.add(number, PassageLine(line.question_id, line.text, line.title, attributes=sentences))
    for number, line in lines:
        with file.line(number):
            rows.add(number, RankingLine(GOLD, line.question_id, line.question_id, 1, 1.0))
    rows.flush()


@dataclass(frozen=True)
class Said:
    """What one person said of an item, named by its id."""

    number: int
    item: str
    criterion: Criterion
    rater: Rater
    grade: int | None
    output: Output
    line: ClapnqLine


@dataclass(frozen=True)
class HandedOn:
    """An answer of round 1 that was revised: the items of both rounds by their ids, and what it was."""

    item: str
    answered: str
    writer: Rater
    text: str
    spans: list[dict[str, object]]


@dataclass
class Answers:
    """The answers of one file on their way in: judgments first, then what was written beside them."""

    study: Study
    file: InputFile
    imported: Imported
    at: datetime
    said: list[Said] = field(default_factory=list)
    revised: list[HandedOn] = field(default_factory=list)

    def __post_init__(self) -> None:
        collection = self.study.collection
        (outcome,) = TASK_TYPES[TaskType.WRITTEN_ANSWER].criteria
        (revision,) = TASK_TYPES[TaskType.ANSWER_REVISION].criteria
        self.outcome = criterion_of(self.study, TaskType.WRITTEN_ANSWER, outcome)
        self.revision = criterion_of(self.study, TaskType.ANSWER_REVISION, revision)
        self.topics = dict(Topic.objects.filter(collection=collection).values_list("topic_id", "pk"))
        self.passages = dict(Passage.objects.filter(collection=collection).values_list("passage_id", "pk"))
        self.items = ItemRows(self.study, file=self.file, imported=self.imported)
        self.judgments = JudgmentRows(file=self.file, imported=self.imported)
        self.written = WrittenAnswers(self.file, self.imported)
        self.raters: dict[str, Rater] = {}
        handed_on = AnswerToRevise.objects.filter(answered__study=self.study).select_related("item", "answered")
        self.handed_on = {
            (one.answered.item_id, one.writer_id): HandedOn(
                one.item.item_id, one.answered.item_id, one.writer, one.text, one.spans
            )
            for one in handed_on.select_related("writer")
        }
        self.names_in_use = {one.item for one in self.handed_on.values()}

    def add(self, number: int, line: ClapnqLine) -> None:
        """Take the line's answers. Raises BrokenLine."""
        item = self._item(number, TaskType.WRITTEN_ANSWER, line, line.question_id)
        before: tuple[Rater, Output] | None = None
        for output in line.outputs:
            people = [self._rater(name) for name in output.annotators]
            if output.round == FIRST or len(people) > 1:
                grade = None if output.skip else COMPLETE
                self.said.append(Said(number, item, self.outcome, people[0], grade, output, line))
            if output.round == FIRST:
                before = before if output.skip else (people[0], output)
            elif len(people) > 1:
                before = (people[0], output)
                for person in people[1:]:
                    self._add_revision(number, item, before, person, KEPT, output, line)
            elif people and before:
                grade = SKIPPED if output.skip else CHANGED
                self._add_revision(number, item, before, people[0], grade, output, line)

    def _item(self, number: int, task_type: str, line: ClapnqLine, text: str) -> str:
        return self.items.add(
            number,
            task_type,
            topic=(self.topics[line.question_id], line.question_id),
            text=text,
            passage_pk=self.passages[line.question_id],
        )

    def _rater(self, name: str) -> Rater:
        if name not in self.raters:
            self.raters[name] = imported_rater(
                self.study.collection, kind=Rater.Kind.ASSESSOR, name=name, source=self.file.name
            )
        return self.raters[name]

    def _add_revision(
        self,
        number: int,
        item: str,
        before: tuple[Rater, Output],
        rater: Rater,
        grade: int,
        output: Output,
        line: ClapnqLine,
    ) -> None:
        writer, answer = before
        if rater == writer:
            raise BrokenLine(f"“{rater}” revises their own answer.", "The second reader must be another person.")
        revised = self._to_revise(number, item, writer, answer, line)
        self.said.append(Said(number, revised, self.revision, rater, grade, output, line))

    def _to_revise(self, number: int, item: str, writer: Rater, answer: Output, line: ClapnqLine) -> str:
        """Return the id of the item under which this answer is revised."""
        known = self.handed_on.get((item, writer.pk))
        spans = [
            {"start": place[0], "end": place[1], "quote": sentence.quote}
            for sentence in answer.chosen
            if (place := sentence.place or (TITLE if sentence.quote == line.title else None))
        ]
        if known:
            if (known.text, _without_title(known.spans)) != (answer.answer, _without_title(spans)):
                raise BrokenLine(
                    f"The answer of “{writer}” that was revised is already there with other words or sentences.",
                    "Remove the line, or rename the annotator.",
                )
            return known.item
        n = 1
        stem = f"{TaskType.ANSWER_REVISION.value}/{line.question_id}/{line.question_id}"
        while (name := f"{stem}/{n}") in self.names_in_use:
            n += 1
        self.names_in_use.add(name)
        self._item(number, TaskType.ANSWER_REVISION, line, f"{line.question_id}/{n}")
        handed_on = HandedOn(name, item, writer, answer.answer, spans)
        self.handed_on[item, writer.pk] = handed_on
        self.revised.append(handed_on)
        return name

    def _highlight(self, number: int, sentence: Sentence, said: Said) -> Highlight:
        if sentence.place is None and sentence.quote == said.line.title:
            return Highlight(quote=sentence.quote)
        if sentence.place is None:
            flaw = "chosen sentences that are not in the passage (kept without offsets)"
            self.imported.flaw(flaw, f"{self.file.name} line {number}")
            return Highlight(quote=sentence.quote)
        start, end = sentence.place
        return Highlight(start=start, end=end, quote=sentence.quote, text_sha256=text_hash(said.line.text))

    def flush(self) -> None:
        """Store what is new."""
        self.items.flush()
        for said in self.said:
            with self.file.line(said.number):
                self._judge(said)
        self.judgments.flush()
        AnswerToRevise.objects.bulk_create(
            [
                AnswerToRevise(
                    item_id=self.items.pk(one.item),
                    answered_id=self.items.pk(one.answered),
                    writer=one.writer,
                    text=one.text,
                    spans=one.spans,
                    handed_on_at=self.at,
                )
                for one in self.revised
            ],
            batch_size=BATCH,
        )
        self.imported.new["answers to revise"] += len(self.revised)
        self.imported.known["answers to revise"] += len(self.handed_on) - len(self.revised)
        self.written.flush()

    def _judge(self, said: Said) -> None:
        output = said.output
        highlights = [self._highlight(said.number, one, said) for one in output.chosen]
        judgment = self.judgments.grade(
            said.number,
            self.items.pk(said.item),
            said.criterion,
            said.rater,
            said.grade,
            highlights,
            at=self.at,
            ungraded=Judgment.Ungraded.REFUSED,
        )
        if output.answer:
            flags = {"has_minimal_answer": output.has_minimal_answer, "non_consecutive": output.non_consecutive}
            answer = AnswerLine(output.answer, attributes=flags)
            self.written.add(said.number, judgment, answer, said.item, said.criterion.task_type)


def _without_title(spans: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """Return the spans in the text: what was imported before titles were kept has no more."""
    return [span for span in spans if span["end"]]
