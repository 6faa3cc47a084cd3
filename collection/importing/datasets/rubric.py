"""The RUBRIC workbench's files: question banks, and graded files with passages, self-ratings and relevance."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.db import transaction
from django.db.models import Model

from collection.formats.jsonl import PassageLine, RankingLine, RubricElementLine, RunLine, SystemLine, TopicLine
from collection.formats.problems import BrokenLine, InputFile, Missing, refuse_missing
from collection.formats.rubric_frames import framed
from collection.formats.rubric_workbench import (
    Grading,
    RelevanceGrading,
    WorkbenchPassage,
    WorkbenchTopic,
    read_graded,
    read_question_bank,
    stored_name,
    with_judges,
)
from collection.importing.collections import CollectionRows, collection_rows
from collection.importing.judgments import JudgmentRows
from collection.importing.origins import QrelsRater, judge_of_a_file
from collection.importing.rows import Imported
from collection.importing.studies import ItemRows, criterion_of
from collection.importing.trec import Topics, relevance_criterion_of, scale_of_grades, threshold_remarks
from collection.models import (
    Collection,
    Criterion,
    GradedLine,
    Highlight,
    Passage,
    Rater,
    RubricElement,
    Study,
)
from collection.models.studies import TaskType
from collection.models.texts import text_hash
from collection.questions.shapes import TASK_TYPES

TIME_REMARK = "The files do not say when anything was judged: judged_at is the time of this import."
IDS_REMARK = "Questions that came without a question bank have their ids instead of texts, until it is imported."
OTHERS_REMARK = "People’s relevance in {name} is not taken, because qrels came with it."
KINDS = {"question": RubricElement.Kind.SUB_QUESTION, "nugget": RubricElement.Kind.NUGGET}
RELEVANT = "relevant"
NO_YES = (0, 1)
REMEDY = "Import the question bank too, or create them with only an id."
# A reply that is a grade and nothing else gives no reason.
GRADE_ALONE = re.compile(r"\W*\d*\W*")


def import_question_bank(*, file: InputFile, collection: Collection) -> Imported:
    """Bring in a bank's topics, questions and nuggets. Raises BrokenFile.

    A topic keeps the request that it has; topics and elements that have only an id get their texts.
    """
    with collection_rows(collection, file) as rows:
        _know_more(rows)
        requests = dict(collection.topics.values_list("topic_id", "request"))
        for number, topic in read_question_bank(file):
            with file.line(number):
                told = topic.request or requests.get(topic.topic_id, "")
                stored = requests.setdefault(topic.topic_id, told) or told
                if stored != told:
                    rows.imported.flaw("requests that differ from the collection’s, which stay", f"“{topic.topic_id}”")
                rows.add(number, TopicLine(topic.topic_id, stored))
                for position, item in enumerate(topic.items):
                    kind = KINDS[item.kind]
                    rows.add(number, RubricElementLine(topic.topic_id, kind, item.element_id, item.text, position))
    return rows.imported


@transaction.atomic
def import_graded(
    *,
    file: InputFile,
    study: Study,
    rater: QrelsRater | None,
    relevant_from: float | None = None,
    grades: Sequence[float] = (),
    with_topics: bool = False,
    at: datetime,
) -> Imported:
    """Bring in a graded file: passages and rankings, each judge's self-ratings and relevance, and people's relevance.

    People's relevance becomes that of `rater`, or is left out if there is none; `grades` are those that its criterion
    needs besides the file's. Each model with a prompt is a judge, and so is each further attempt of theirs. What a
    model wrote besides a grade is kept as a rationale. Topics, questions and nuggets must be in the collection, or are
    made with their ids alone (`with_topics`). Ranks stay as they stand: the workbench counts from 0. Raises BrokenFile,
    ValidationError, and ReferencesMissing where topics and elements are all that it lacks.
    """
    imported = Imported(remarks=[TIME_REMARK])
    with file:
        graded = _Graded(file, study, imported, with_topics=with_topics, at=at)
        for number, topic in read_graded(file):
            with file.line(number):
                graded.add(number, topic)
        refuse_missing(graded.topics.missing, graded.missing)
        graded.rows.flush()
        graded.add_relevance(rater, relevant_from=relevant_from, grades=grades)
        graded.judgments.flush()
        graded.keep_lines()
    return imported


def _know_more(rows: CollectionRows) -> None:
    """Let the collection know more of its texts and runs than these files say."""
    rows.topics.decided = _knows("title", "attributes")
    rows.elements.decided = _knows("position", "importance", "masked", "masking_id", "replaces_id", "attributes")
    rows.passages.decided = _knows("title", "document_id", "attributes")
    rows.systems.decided = _knows("family", "attributes")
    rows.runs.decided = _knows("system_id", "attributes")
    rows.ranking.decided = _knows("rank")


def _knows(*names: str) -> Callable[[Model], Container[str]]:
    return lambda _: names


@dataclass(frozen=True)
class _Relevance:
    """A relevance label until all of the file's grades are known; `judge` is None where people gave it."""

    number: int
    item: str
    grade: int
    judge: Rater | None = None
    is_no_or_yes: bool = False
    reasons: tuple[Highlight, ...] = ()


class _Graded:
    """Takes a graded file, topic after topic."""

    def __init__(self, file: InputFile, study: Study, imported: Imported, *, with_topics: bool, at: datetime) -> None:
        self.file = file
        self.study = study
        self.imported = imported
        self.at = at
        self.rows = CollectionRows(study.collection, file=file, imported=imported)
        _know_more(self.rows)
        self.topics = Topics(self.rows, made=with_topics)
        self.missing = Missing(file, "rubric elements", REMEDY)
        self.items = ItemRows(study, file=file, imported=imported)
        self.judgments = JudgmentRows(file=file, imported=imported)
        self.raters: dict[str, Rater] = {}
        self.relevance: list[_Relevance] = []
        self.lines: dict[str, tuple[bytes, bool]] = {}
        self.people: Rater | None = None
        self._rating: Criterion | None = None

    @property
    def rating(self) -> Criterion:
        """The study's criterion of self-ratings, made when the first is there."""
        if self._rating is None:
            (shape,) = TASK_TYPES[TaskType.RATING].criteria
            self._rating = criterion_of(self.study, TaskType.RATING, shape)
        return self._rating

    def add(self, number: int, topic: WorkbenchTopic) -> None:
        """Take a topic's passages with their places in runs, their grades, and their relevance for later."""
        if not self.topics.has(number, topic.topic_id):
            return
        self._add_elements(number, topic)
        self.lines[topic.topic_id] = framed(topic.line)
        for passage in topic.passages:
            self.rows.add(number, PassageLine(passage.passage_id, passage.text))
            for place in passage.rankings:
                if (place.run,) not in self.rows.runs.pks:
                    self.rows.add(number, SystemLine(place.run))
                    self.rows.add(number, RunLine(place.run, place.run))
                    self.rows.runs.flush()
                self.rows.add(
                    number, RankingLine(place.run, topic.topic_id, passage.passage_id, place.rank, place.score)
                )
        self.rows.passages.flush()
        stored = Passage.objects.filter(
            collection=self.study.collection, passage_id__in=[passage.passage_id for passage in topic.passages]
        )
        pks = dict(stored.values_list("passage_id", "pk"))
        taken = [
            one
            for passage in topic.passages
            for one in self._ratings(number, topic.topic_id, passage, pks[passage.passage_id])
        ]
        for passage in topic.passages:
            self.relevance += self._relevance(number, topic.topic_id, passage, pks[passage.passage_id])
        self.items.flush()
        for item, rater, grade, reasons in taken:
            self.judgments.grade(number, self.items.pk(item), self.rating, rater, grade, reasons, at=self.at)

    def add_relevance(self, rater: QrelsRater | None, *, relevant_from: float | None, grades: Sequence[float]) -> None:
        """Take the relevance labels of all topics, on one scale that has all of their grades."""
        by_people = [one for one in self.relevance if one.judge is None]
        people = None
        if by_people and rater is None:
            self.imported.remarks.append(OTHERS_REMARK.format(name=self.file.name))
        elif by_people and rater is not None:
            source = f"the relevance in {Path(self.file.name).name}"
            people = self.people = rater.stored(self.study.collection, source=source)
            self.imported.asks_for_rater = True
        numbered = [one for one in self.relevance if not one.is_no_or_yes and (one.judge or people)]
        criteria: dict[bool, Criterion] = {}
        if numbered:
            scale = scale_of_grades({float(one.grade) for one in numbered} | set(grades))
            criteria[False] = relevance_criterion_of(self.study, grades=scale, relevant_from=relevant_from)
            self.imported.remarks += threshold_remarks(criteria[False])
        if any(one.is_no_or_yes for one in self.relevance):
            criteria[True] = relevance_criterion_of(self.study, name=RELEVANT, grades=NO_YES)
        for one in self.relevance:
            if judge := one.judge or people:
                with self.file.line(one.number):
                    item, criterion = self.items.pk(one.item), criteria[one.is_no_or_yes]
                    self.judgments.grade(one.number, item, criterion, judge, one.grade, one.reasons, at=self.at)

    def keep_lines(self) -> None:
        """Keep what the file says besides, so that it can go out again."""
        for topic_id, (frame, exact) in self.lines.items():
            GradedLine.objects.update_or_create(
                study=self.study,
                file_name=Path(self.file.name).name,
                topic_id=self.rows.topic_pk(topic_id),
                defaults={"frame": frame, "exact": exact, "people": self.people},
            )

    def _add_elements(self, number: int, topic: WorkbenchTopic) -> None:
        """Note the elements that the collection lacks, or make them."""
        graded = {
            (element, grading.kind): None
            for passage in topic.passages
            for grading in passage.gradings
            for element in grading.grades
        }
        for element, kind in graded:
            if self._element(topic.topic_id, element, kind) is not None:
                continue
            if not self.topics.made:
                self.missing.note(element, number)
                continue
            self.rows.add(number, RubricElementLine(topic.topic_id, KINDS[kind], element, element))
            if IDS_REMARK not in self.imported.remarks:
                self.imported.remarks.append(IDS_REMARK)
        self.rows.elements.flush()

    def _element(self, topic_id: str, name: str, kind: str) -> int | None:
        """Return the stored element's primary key: a question or a nugget, whichever is there, first what is told."""
        topic = self.rows.topic_pk(topic_id)
        pks = self.rows.elements.pks
        return next(
            (
                pks[key]
                for one in {KINDS[kind]: None} | dict.fromkeys(KINDS.values())
                if (key := (topic, one, name)) in pks
            ),
            None,
        )

    def _ratings(
        self, number: int, topic_id: str, passage: WorkbenchPassage, passage_pk: int
    ) -> Iterator[tuple[str, Rater, int | None, tuple[Highlight, ...]]]:
        """Yield item, judge, grade and reasons of each self-rating."""
        for name, grading in with_judges(passage.gradings):
            if not grading.grades:
                self.imported.flaw("gradings without self-ratings (left out)", f"“{passage.passage_id}”, {name}")
                continue
            rater = self._rater(name, grading)
            for element, grade in grading.grades.items():
                pk = self._element(topic_id, element, grading.kind)
                if pk is None:
                    continue  # it is noted among the missing ones
                item = self.items.add(
                    number,
                    TaskType.RATING,
                    topic=(self.rows.topic_pk(topic_id), topic_id),
                    text=passage.passage_id,
                    element=(pk, element),
                    passage_pk=passage_pk,
                )
                yield item, rater, grade, _reasons(grading.reply(element), passage.text)

    def _relevance(
        self, number: int, topic_id: str, passage: WorkbenchPassage, passage_pk: int
    ) -> Iterator[_Relevance]:
        """Yield what people and judges said of the passage as a whole. Raises BrokenLine."""
        if not passage.relevance and not passage.relevance_gradings:
            return
        if len(set(passage.relevance)) > 1:
            raise BrokenLine(f"“{passage.passage_id}” has several different relevances.", "Keep one.")
        item = self.items.add(
            number,
            TaskType.RELEVANCE,
            topic=(self.rows.topic_pk(topic_id), topic_id),
            text=passage.passage_id,
            passage_pk=passage_pk,
        )
        for grade in passage.relevance[:1]:
            yield _Relevance(number, item, grade)
        for name, grading in with_judges(passage.relevance_gradings):
            is_no_or_yes = grading.grade is None
            grade = int(grading.relevant) if grading.grade is None else grading.grade
            reasons = _reasons(grading.reply, passage.text)
            yield _Relevance(number, item, grade, self._rater(name, grading), is_no_or_yes, reasons)

    def _rater(self, name: str, grading: Grading | RelevanceGrading) -> Rater:
        """Return the rater that an attempt of a model with a prompt is."""
        name = stored_name(name, grading)
        if name not in self.raters:
            rater = judge_of_a_file(
                self.study.collection,
                name=name,
                tool="RUBRIC workbench",
                path=self.file.path,
                file_name=Path(self.file.name).name,
            )
            if "model" not in rater.attributes:
                about = {"model": grading.llm or "unnamed model", "prompt_class": grading.prompt_class}
                rater.attributes |= about | {"prompt_type": grading.prompt_type}
                rater.save(update_fields=["attributes"])
            self.raters[name] = rater
        return self.raters[name]


def _reasons(reply: str, text: str) -> tuple[Highlight, ...]:
    """Return what a model wrote as a rationale, with offsets where it is in the text exactly once."""
    if GRADE_ALONE.fullmatch(reply):
        return ()
    start = text.find(reply)
    rationale = Highlight(purpose=Highlight.Purpose.RATIONALE, quote=reply)
    if start >= 0 and text.find(reply, start + 1) < 0:
        rationale.start, rationale.end, rationale.text_sha256 = start, start + len(reply), text_hash(text)
    return (rationale,)
