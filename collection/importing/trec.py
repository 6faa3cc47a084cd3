"""Runs, qrels and passages of TREC's kind."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence, Set
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from collection.formats.jsonl import PassageLine, RankingLine, RunLine, SystemLine, TopicLine
from collection.formats.problems import BrokenLine, InputFile, Missing, refuse_missing
from collection.formats.topics import read_topics
from collection.formats.trec import QrelsLine, read_passages, read_qrels, read_run
from collection.importing.collections import CollectionRows, collection_rows
from collection.importing.draws import DrawRows
from collection.importing.judgments import JudgmentRows
from collection.importing.rows import BATCH, Imported
from collection.importing.studies import ItemRows, criterion_of
from collection.judgments.services import NewJudgment
from collection.models import Collection, Criterion, Judgment, Passage, Rater, Scale, Study
from collection.models.studies import TaskType
from collection.questions.shapes import RELEVANCE_0_3, CriterionShape
from collection.scales import ScaleShape
from collection.thresholds import thresholds_of

LEADING_ZERO = re.compile(r"0+[1-9]\d*$")
# What other formats say under these keys is more than an attribute.
READ_ELSEWHERE = {
    *("nuggets", "nugget_bank", "claim_bank", "rubrics", "candidates", "judgment", "judgments", "relevance", "grade"),
    *("grades", "label", "rating", "rankings", "qrels", "responses", "self_ratings", "exam_grades"),
}


def note_unread(imported: Imported, number: int, attributes: Mapping[str, Any]) -> None:
    """Note the keys that are kept as attributes here, but mean more in another format."""
    for name in READ_ELSEWHERE & attributes.keys():
        imported.flaw(f"field “{name}” that was kept as an attribute and not read", f"line {number}")


def import_passages(*, file: InputFile, collection: Collection) -> Imported:
    """Bring in passages by id. Raises BrokenFile."""
    with collection_rows(collection, file) as rows:
        for number, line in read_passages(file):
            with file.line(number):
                rows.add(number, line)
                note_unread(rows.imported, number, line.attributes)
    return rows.imported


def import_topics(*, file: InputFile, collection: Collection) -> Imported:
    """Bring in topics; one that is here with its id alone gets its request. Raises BrokenFile."""
    zero = "topic id with a leading zero, which runs and qrels may leave out"
    with collection_rows(collection, file) as rows:
        for number, line in read_topics(file):
            with file.line(number):
                rows.add(number, line)
                note_unread(rows.imported, number, line.attributes)
                if LEADING_ZERO.match(line.topic_id):
                    rows.imported.flaw(zero, line.topic_id)
    return rows.imported


def import_run(
    *, file: InputFile, collection: Collection, run: str = "", system: str = "", with_topics: bool = False
) -> Imported:
    """Bring in a six-column run. Its name is `run`, or its tag; its system is `system`, or has the run's name.

    Ranks and scores stay as they stand. Topics that the collection lacks are refused, or with `with_topics` made with
    their ids alone. Raises BrokenFile, and ReferencesMissing where topics are all that it lacks.
    """
    with collection_rows(collection, file) as rows:
        tag = ""
        topics = Topics(rows, made=with_topics)
        for number, line in read_run(file):
            with file.line(number):
                if not tag:
                    tag = line.tag
                    rows.add(number, SystemLine(system or run or tag))
                    rows.add(number, RunLine(run or tag, system or run or tag))
                if line.tag != tag:
                    raise BrokenLine(f"The tag is “{line.tag}”, but “{tag}” above.", "A file may contain only one run.")
                if topics.has(number, line.topic_id):
                    rows.add(number, RankingLine(run or tag, line.topic_id, line.passage_id, line.rank, line.score))
        refuse_missing(topics.missing)
    return rows.imported


class Topics:
    """The topics that a run or qrels name: those the collection lacks are noted, or made with their ids alone."""

    def __init__(self, rows: CollectionRows, *, made: bool) -> None:
        self.rows = rows
        self.made = made
        self.missing = Missing(rows.file, "topics", "Import them, or create them with only an id.")

    def has(self, number: int, topic_id: str) -> bool:
        """Whether the topic is here, now at the latest."""
        if (topic_id,) in self.rows.topics.pks:
            return True
        if not self.made:
            self.missing.note(topic_id, number)
            return False
        self.rows.add(number, TopicLine(topic_id, request=""))
        self.rows.topics.flush()
        return True


UNREADABLE = Judgment.Ungraded.UNREADABLE
QRELS_GRADES = (0, 1, 2, 3)
# What trec_eval counts as relevant. TREC's Deep Learning track counts from 2 up.
RELEVANT_FROM = 1.0


def scale_of_grades(found: Set[float]) -> Sequence[float]:
    """Return the grades of a scale that these are on: the shipped one's where it has them."""
    return QRELS_GRADES if found <= set(QRELS_GRADES) else sorted(found)


def relevance_criterion(name: str, grades: Sequence[float], *, relevant_from: float = RELEVANT_FROM) -> CriterionShape:
    """Return a criterion for qrels with these grades, of which those from `relevant_from` up count as relevant.

    Qrels give no words to their grades: the shipped scale's are taken where its numbers are the same.
    """
    values = sorted(grades)
    scale = RELEVANCE_0_3
    if values != scale.values:
        points = tuple((grade, f"{grade:g}", "") for grade in values)
        scale = ScaleShape(f"relevance {', '.join(f'{grade:g}' for grade in values)}", Scale.Level.ORDINAL, points)
    return CriterionShape(name, "How relevant is the passage to the topic?", scale, threshold=relevant_from)


def relevance_criterion_of(
    study: Study, *, name: str = "", grades: Sequence[float] = QRELS_GRADES, relevant_from: float | None = None
) -> Criterion:
    """Return the study's criterion of relevance (of this name, or its first), made if it is new.

    A new one counts grades from `relevant_from` up as relevant, from 1 if nothing is said. Raises ValidationError for
    what is none of its grades, and where the study counts from another grade already.
    """
    stored = study.criteria.select_related("scale").filter(task_type=TaskType.RELEVANCE)
    found = stored.filter(name=name).first() if name else stored.order_by("position").first()
    if found is None:
        shape = relevance_criterion(name or "relevance", grades, relevant_from=relevant_from or RELEVANT_FROM)
        found = criterion_of(study, TaskType.RELEVANCE, shape)
    if relevant_from is not None and relevant_from not in thresholds_of(found.scale):
        possible = ", ".join(f"{grade:g}" for grade in thresholds_of(found.scale))
        raise ValidationError(
            f"Relevant from {relevant_from:g} is not possible: “{found}” can count from {possible} up."
        )
    if relevant_from is not None and relevant_from != found.threshold:
        raise ValidationError(
            f"In the study “{study.name}”, “{found}” counts as relevant from {found.threshold:g} up, not from "
            f"{relevant_from:g}. Leave that out, or change the threshold first, on the study’s page or with "
            "manage.py study threshold."
        )
    return found


def threshold_remarks(criterion: Criterion) -> list[str]:
    """Say from which grade texts count as relevant, where there are more than two."""
    if criterion.task_type != TaskType.RELEVANCE or len(criterion.scale.values) <= 2:
        return []
    return [
        f"Grades from {criterion.threshold:g} up count as relevant (η of “{criterion}” in “{criterion.study.name}”); "
        "TREC’s Deep Learning track counts from 2. The study’s page and manage.py study threshold change it."
    ]


def relevance_scale_of(study: Study) -> list[float] | None:
    """Return the grades on which the study asks for relevance; None where it does not yet."""
    criterion = study.criteria.select_related("scale").filter(task_type=TaskType.RELEVANCE).order_by("position").first()
    return criterion.scale.values if criterion else None


def widen_scale(criterion: Criterion, grades: Sequence[float]) -> None:
    """Give the criterion a scale with these grades too. Raises ValidationError in a study that is not closed."""
    if set(grades) <= set(criterion.scale.values):
        return
    if criterion.study.state != Study.State.CLOSED:
        raise ValidationError(f"The scale of “{criterion}” cannot be widened: the study is not closed.")
    criterion.scale = relevance_criterion(criterion.name, grades).scale.stored()
    criterion.save(update_fields=["scale"])


@transaction.atomic
def import_qrels(
    *,
    file: InputFile,
    criterion: Criterion,
    rater: Rater,
    without_texts: bool = False,
    with_topics: bool = False,
    stray: Container[float] = (),
    at: datetime,
) -> Imported:
    """Bring in qrels as the judgments of one rater, about passages with their topics. `stray` grades are ungraded.

    Passages that the collection lacks are refused, or with `without_texts` made with their ids alone; so are topics,
    with `with_topics`. When it was judged is not in the file: it is said to be `at`. Raises BrokenFile,
    and ReferencesMissing where topics and passages are all that it lacks.
    """
    remark = "Qrels do not say when anything was judged: judged_at is the time of this import."
    imported = Imported(remarks=[remark, *threshold_remarks(criterion)], asks_for_rater=True)
    with file:
        qrels = _Qrels(file=file, imported=imported, criterion=criterion, rater=rater, at=at, with_topics=with_topics)
        qrels.stray = stray
        pending: list[tuple[int, QrelsLine]] = []
        iterations: set[str] = set()
        for number, line in read_qrels(file):
            iterations.add(line.iteration)
            pending.append((number, line))
            if len(pending) >= BATCH:
                qrels.add(pending, without_texts=without_texts)
                pending.clear()
        qrels.add(pending, without_texts=without_texts)
        refuse_missing(qrels.topics.missing, qrels.missing)
        qrels.judgments.flush()
        qrels.draws.flush()
        if len(iterations) > 1:
            listed = ", ".join(sorted(iterations)[:5])
            imported.remarks.append(f"The second column of {file.name} has several values ({listed}): it is not read.")
    return imported


class _Qrels:
    def __init__(
        self,
        *,
        file: InputFile,
        imported: Imported,
        criterion: Criterion,
        rater: Rater,
        at: datetime,
        with_topics: bool,
    ) -> None:
        self.file = file
        self.criterion = criterion
        self.rater = rater
        self.at = at
        self.collection = criterion.study.collection
        self.rows = CollectionRows(self.collection, file=file, imported=imported)
        self.topics = Topics(self.rows, made=with_topics)
        self.missing = Missing(file, "passages", "Import their texts first, or create them with only an id.")
        self.items = ItemRows(criterion.study, file=file, imported=imported)
        self.judgments = JudgmentRows(file=file, imported=imported)
        self.draws = DrawRows(criterion.study, file=file, imported=imported, at=at)
        self.stray: Container[float] = ()

    def add(self, lines: list[tuple[int, QrelsLine]], *, without_texts: bool) -> None:
        """Take a batch of lines, with the passages they name."""
        passages = self._passages(lines)
        if without_texts:
            for number, line in lines:
                if line.passage_id not in passages:
                    with self.file.line(number):
                        self.rows.add(number, PassageLine(line.passage_id, text=None))
            self.rows.flush()
            passages = self._passages(lines)
        taken: list[tuple[int, QrelsLine, str]] = []
        for number, line in lines:
            with self.file.line(number):
                if item := self._item(number, line, passages):
                    taken.append((number, line, item))
        self.items.flush()
        for number, line, item_id in taken:
            with self.file.line(number):
                said = (None, self.at, UNREADABLE) if line.grade in self.stray else (line.grade, self.at)
                pk = self.items.pk(item_id)
                self.judgments.add(number, NewJudgment(pk, self.criterion.pk, self.rater.pk, *said))
                self.draws.add(number, pk, line.inclusion_probability)

    def _passages(self, lines: list[tuple[int, QrelsLine]]) -> dict[str, int]:
        wanted = {line.passage_id for _, line in lines}
        rows = Passage.objects.filter(collection=self.collection, passage_id__in=wanted)
        return dict(rows.values_list("passage_id", "pk"))

    def _item(self, number: int, line: QrelsLine, passages: dict[str, int]) -> str:
        """Return the id of the line's item; empty where its topic or its passage is missing."""
        is_asked = self.topics.has(number, line.topic_id)
        passage_pk = passages.get(line.passage_id)
        if passage_pk is None:
            self.missing.note(line.passage_id, number)
        if passage_pk is None or not is_asked:
            return ""
        return self.items.add(
            number,
            TaskType.RELEVANCE,
            topic=(self.rows.topic_pk(line.topic_id), line.topic_id),
            text=line.passage_id,
            passage_pk=passage_pk,
        )
