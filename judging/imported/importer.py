"""Grades that were made elsewhere become those of an imported judge: looked at first, then brought in, or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from itertools import islice
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from collection.formats.problems import InputFile
from collection.importing.judgments import JudgmentRows
from collection.importing.rows import Imported
from collection.importing.studies import criterion_of
from collection.importing.trec import relevance_criterion_of, threshold_remarks
from collection.models import Criterion, Judgment, Rater, Study
from collection.models.studies import TaskType
from collection.questions.shapes import TASK_TYPES
from judging.data.missing_grades import MissingGrades, missing_grades_of
from judging.imported.formats import NO_GRADE, read_grades
from judging.imported.matching import MatchedPair, Outside, Places
from judging.imported.provenance import Origin, judge_from_elsewhere
from judging.imported.rows import FileGrade
from judging.judges import report_rating
from stats.plurals import counted

BATCH = 500
TIME_REMARK = "The file does not say when the pairs were graded: judged_at is the time of this import."
KIND_REMARK = "The file does not say why a pair has no grade: such a pair is ungraded (unreadable)."


@dataclass(frozen=True)
class Wanted:
    """What an importer says of a file: what it is, whose grades these are, and what becomes of pairs without an item.

    `criterion` names the criterion of qrels, `relevant_from` is the η of a new one; `no_grade` are the numbers that
    stand for no grade in them. `add_items` makes items of pairs whose texts are here, `add_passages` passages of qrels
    that are not here, too.
    """

    file_format: str
    judge: str
    origin: Origin
    criterion: str = ""
    relevant_from: float | None = None
    no_grade: tuple[float, ...] = NO_GRADE
    add_items: bool = False
    add_passages: bool = False

    @classmethod
    def of(cls, sent: Mapping[str, Any]) -> Wanted:
        """Return what a form, the API or a command was told, each under its own name."""
        origin = Origin(**{one.name: sent[one.name] for one in fields(Origin)})
        told = {one.name: sent[one.name] for one in fields(cls) if one.name != "origin"}
        told["add_passages"] = sent["add_passages"] and sent["file_format"] == "qrels"
        return cls(**told, origin=origin)


@dataclass
class GivenGrades:
    """What a file says under one criterion as one judge, and what the judge still lacks there afterwards."""

    rater: Rater
    criterion: Criterion
    grades: Counter[float] = field(default_factory=Counter)
    ungraded: Counter[str] = field(default_factory=Counter)
    missing_grades: MissingGrades | None = None

    @property
    def pairs(self) -> int:
        return self.grades.total() + self.ungraded.total()

    def by_grade(self) -> list[tuple[Mapping[str, object], int]]:
        """Return each grade of the scale with how often it was given."""
        return [(point, self.grades[point["value"]]) for point in self.criterion.scale.points]

    def by_kind(self) -> list[tuple[str, int]]:
        """Return each kind of ungraded that came up, in words, with how often."""
        return [(Judgment.Ungraded(kind).label, count) for kind, count in sorted(self.ungraded.items())]


@dataclass
class GradesRead:
    """What a file of grades brings, or would bring: pairs by what became of them."""

    told: int = 0
    masked: int = 0
    given: list[GivenGrades] = field(default_factory=list)
    outside: Outside = field(default_factory=Outside)
    imported: Imported = field(default_factory=Imported)

    @property
    def taken(self) -> int:
        return sum(given.pairs for given in self.given)

    @property
    def new(self) -> int:
        return self.imported.new["judgments"]

    @property
    def known(self) -> int:
        return self.imported.known["judgments"]

    @property
    def new_items(self) -> int:
        return self.imported.new["items"]

    def lines(self) -> list[str]:
        """Tell it in lines."""
        lines = [
            f"{given.rater} on {given.criterion}: {counted(given.pairs, 'pairs')}, "
            f"{given.ungraded.total():,} of them ungraded"
            + (
                f"; not in its files: {counted(given.missing_grades.missing, 'pairs')} of the study"
                if given.missing_grades
                else ""
            )
            for given in self.given
        ]
        lines.append(f"{counted(self.new, 'judgments')} new, {self.known:,} already there")
        if not self.imported.changed:
            lines.append(
                "All judgments were already stored: nothing changed." if self.known else "Nothing was imported."
            )
        for why, count, first in self.outside.rows():
            lines.append(f"{counted(count, 'pairs')} left out: {why}: {'; '.join(first)}")
        return lines + self.imported.remarks


class NothingTaken(ValidationError):
    """No pair of the file is an item of the study."""


@transaction.atomic
def try_grades(*, file: InputFile, study: Study, wanted: Wanted, at: datetime) -> GradesRead:
    """Bring the file in and take it all back: what is returned or raised is what the import would do."""
    read = import_grades(file=file, study=study, wanted=wanted, at=at)
    transaction.set_rollback(True)
    return read


@transaction.atomic
def import_grades(*, file: InputFile, study: Study, wanted: Wanted, at: datetime) -> GradesRead:
    """Bring in a file of grades as those of an imported judge, all or nothing. The same file again adds nothing.

    Raises BrokenFile, and ValidationError for a judge that is somebody else, a study with other scales, and a
    file of which no pair is in the study.
    """
    with file:
        taking = _Taking(file, study, wanted, at)
        for batch in in_batches(read_grades(file, wanted.file_format, no_grade=wanted.no_grade), BATCH):
            taking.take(batch)
        taking.judgments.flush()
    return taking.told()


class _Taking:
    def __init__(self, file: InputFile, study: Study, wanted: Wanted, at: datetime) -> None:
        self.file, self.study, self.wanted, self.at = file, study, wanted, at
        self.read = GradesRead(imported=Imported(remarks=[TIME_REMARK]))
        self.places = Places(
            study, file=file, imported=self.read.imported, add=wanted.add_items, add_passages=wanted.add_passages
        )
        self.judgments = JudgmentRows(file=file, imported=self.read.imported)
        self.raters: dict[str, Rater] = {}
        self.criteria: dict[str, Criterion] = {}
        self.given: dict[tuple[int, int], GivenGrades] = {}
        # A second line about a pair is no second grade; if it says something else, it is refused.
        self.seen: set[tuple[int, int, int]] = set()

    def take(self, batch: Sequence[FileGrade]) -> None:
        self.read.told += len(batch)
        for place in self.places.of(batch):
            with self.file.line(place.told.number):
                self._judge(place)

    def told(self) -> GradesRead:
        read = self.read
        read.masked, read.outside = self.places.masked, self.places.outside
        read.given = sorted(self.given.values(), key=lambda given: (given.criterion.position, given.rater.name))
        if not read.given:
            raise NothingTaken(_nothing(read))
        for given in read.given:
            given.missing_grades = missing_grades_of(given.criterion, given.rater)
        if any(given.ungraded for given in read.given) and self.wanted.file_format != "batch":
            read.imported.remarks.append(KIND_REMARK)
        return read

    def _judge(self, place: MatchedPair) -> None:
        told = place.told
        rater, criterion = self._rater(told.judge), self._criterion(place.task_type)
        assert place.item is not None  # Places.of keeps items alone
        self.judgments.grade(told.number, place.item, criterion, rater, told.grade, at=self.at, ungraded=told.ungraded)
        pair = (criterion.pk, rater.pk, place.item)
        if pair in self.seen:
            return
        self.seen.add(pair)
        given = self.given.setdefault(pair[:2], GivenGrades(rater, criterion))
        if told.grade is None:
            given.ungraded[told.ungraded] += 1
        else:
            given.grades[told.grade] += 1

    def _rater(self, called: str) -> Rater:
        """Return the judge of a line. Where the file names several, each has its own name behind the chosen one."""
        if called not in self.raters:
            origin, name = self.wanted.origin, self.wanted.judge
            if called:
                name = f"{name} · {called}"[:200]
                origin = replace(origin, model=origin.model or called)
            self.raters[called] = judge_from_elsewhere(
                self.study.collection,
                name=name,
                origin=origin,
                file=self.file,
                file_format=self.wanted.file_format,
                at=self.at,
            )
        return self.raters[called]

    def _criterion(self, task_type: str) -> Criterion:
        if task_type not in self.criteria:
            self.criteria[task_type] = criterion_for(
                self.study, task_type, name=self.wanted.criterion, relevant_from=self.wanted.relevant_from
            )
            self.read.imported.remarks += threshold_remarks(self.criteria[task_type])
        return self.criteria[task_type]


def criterion_for(study: Study, task_type: str, *, name: str = "", relevant_from: float | None = None) -> Criterion:
    """Return the criterion that such grades come under, made if the study lacks it. The rest is for relevance alone.

    A criterion with the same grades in other words will do. Raises ValidationError if its grades are others.
    """
    if task_type == TaskType.RELEVANCE:
        return relevance_criterion_of(study, name=name, relevant_from=relevant_from)
    shape = report_rating.SHAPE if task_type == TaskType.ANSWERABILITY else TASK_TYPES[task_type].criteria[0]
    found = study.criteria.select_related("scale").filter(name=shape.name, task_type=task_type).first()
    if found is not None and found.scale.values == shape.scale.values:
        return found
    return criterion_of(study, task_type, shape)


def _nothing(read: GradesRead) -> str:
    if not read.told:
        return "The file holds no grades."
    if read.masked == read.told:
        return "All its pairs are about masked questions."
    why = "; ".join(f"{count:,} are about {why}" for why, count in read.outside.counts.items())
    first = next((lines[0] for lines in read.outside.examples.values()), "")
    where = f"{why} (the first: {first})"
    return f"None of its {read.told:,} pairs is in the study: {where}. Choose another study, or add them to this one."


def in_batches(told: Iterator[FileGrade], size: int) -> Iterator[list[FileGrade]]:
    """Yield so many at a time."""
    while batch := list(islice(told, size)):
        yield batch
