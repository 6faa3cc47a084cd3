"""How judgments come into the table: one by one from people, in bulk from judges and files.

Everything that writes a Judgment goes through here, so that no earlier value is ever lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import QuerySet

from collection.finished_files import CannotBeWritten
from collection.judgments.bulk import insert_rows, inserted_unless_known
from collection.judgments.inserting import insert_together, insert_unless_there
from collection.models import (
    CopiedGrade,
    Criterion,
    EarlierJudgment,
    Guideline,
    Highlight,
    Item,
    Judgment,
    Rater,
    WrittenAnswer,
)
from collection.models.studies import TaskType
from collection.models.texts import text_hash


class GradeNotOnScale(ValueError):
    """The grade is none of the criterion's scale."""


class HighlightDoesNotFit(CannotBeWritten):
    """The quote does not stand at these offsets of the judged text."""


@dataclass(frozen=True)
class Span:
    """A span of a text in code points, end-exclusive, with the words that stand there.

    From 0 to 0 it is the passage's title, chosen as a sentence of a written answer: it stands before the text, and is
    stored without offsets.
    """

    start: int
    end: int
    quote: str
    purpose: str = Highlight.Purpose.SUPPORT

    @property
    def is_title(self) -> bool:
        return self.start == self.end == 0


@dataclass(frozen=True)
class Written:
    """An answer in the assessor's own words, with the names of what they confirmed of it."""

    text: str = ""
    confirmations: tuple[str, ...] = ()


NOTHING_WRITTEN = Written()


def check_grade(grade: float, criterion: Criterion) -> None:
    """Raise GradeNotOnScale unless the criterion's scale has this grade."""
    if grade not in criterion.scale.values:
        raise GradeNotOnScale(f"{grade:g} is not a grade of the scale “{criterion.scale}”.")


# Answers are written from sentences, of which the passage's title may be one.
TAKES_A_TITLE = (TaskType.WRITTEN_ANSWER, TaskType.ANSWER_REVISION)


def title_to_choose(item: Item) -> str:
    """Return the title that may be chosen as a sentence of the item; empty where none may."""
    return item.passage.title if item.passage and item.task_type in TAKES_A_TITLE else ""


def check_spans(spans: Iterable[Span], text: str, *, title: str = "") -> None:
    """Raise HighlightDoesNotFit unless every quote stands exactly at its offsets in the text, or is the title."""
    for span in spans:
        if span.is_title and title and span.quote == title:
            continue
        if not 0 <= span.start < span.end <= len(text):
            raise HighlightDoesNotFit(
                f"A highlight from {span.start} to {span.end} does not fit in a text of {len(text)} characters."
            )
        if text[span.start : span.end] != span.quote:
            raise HighlightDoesNotFit(
                f"The text from {span.start} to {span.end} is not what was highlighted. "
                "Reload the page and mark it again."
            )


def record_judgment(
    *,
    item: Item,
    criterion: Criterion,
    rater: Rater,
    grade: float,
    spans: Sequence[Span] = (),
    seconds: float | None = None,
    guideline: Guideline | int | None = None,
    written: Written | None = None,
    unsure: bool = False,
    at: datetime,
) -> Judgment:
    """Make this the rater's current judgment of the item; the one before goes into the history.

    `written` is the answer that goes with it, if one does; `guideline` may be given by its primary key. Sending the
    same judgment twice changes nothing. Raises GradeNotOnScale and HighlightDoesNotFit.
    """
    check_grade(grade, criterion)
    text = item.judged_text.text or ""
    check_spans(spans, text, title=title_to_choose(item))
    judgment = Judgment(
        item=item,
        criterion=criterion,
        rater=rater,
        grade=grade,
        judged_at=at,
        seconds=seconds,
        guideline_id=guideline.pk if isinstance(guideline, Guideline) else guideline,
        unsure=unsure,
    )

    with transaction.atomic(savepoint=False):
        if not insert_unless_there(judgment, unique=("criterion", "item", "rater")):
            current = Judgment.objects.select_for_update(of=("self",)).select_related("answer", "copied")
            stored = current.get(item=item, criterion=criterion, rater=rater)
            is_same = (stored.grade, stored.unsure, written_in(stored)) == (grade, unsure, written)
            if is_same and _stored_spans(stored) == list(spans):
                return stored
            judgment = _replace(stored, judgment, keeps_answer=written is not None)
        if written is not None:
            WrittenAnswer.objects.update_or_create(
                judgment=judgment, defaults={"text": written.text, "confirmations": list(written.confirmations)}
            )
        _add_highlights(judgment, spans, text)
        return judgment


def _stored_spans(judgment: Judgment) -> list[Span]:
    title = title_to_choose(judgment.item)
    return [
        Span(h.start or 0, h.end or 0, h.quote, h.purpose)
        for h in judgment.highlights.all()
        if h.start is not None or (title and h.quote == title)
    ]


def _replace(stored: Judgment, new: Judgment, *, keeps_answer: bool) -> Judgment:
    """Write the stored judgment into the history and the new one over it, as yet without highlights."""
    keep_earlier(stored, at=new.judged_at)
    for name in ("grade", "ungraded", "judged_at", "seconds", "guideline_id", "unsure"):
        setattr(stored, name, getattr(new, name))
    stored.save()
    stored.highlights.all().delete()
    if not keeps_answer and written_in(stored):
        stored.answer.delete()
    if hasattr(stored, "copied"):
        stored.copied.delete()
    return stored


def _add_highlights(judgment: Judgment, spans: Sequence[Span], text: str) -> None:
    sha256 = text_hash(text)
    insert_together(
        [
            Highlight(
                judgment=judgment,
                purpose=span.purpose,
                start=None if span.is_title else span.start,
                end=None if span.is_title else span.end,
                quote=span.quote,
                text_sha256="" if span.is_title else sha256,
            )
            for span in spans
        ]
    )


@transaction.atomic
def withdraw_judgment(
    *, item: Item, criterion: Criterion, rater: Rater, at: datetime, reason: str = "withdrawn"
) -> bool:
    """Take the rater's current judgment back into the history. Returns whether there was one."""
    current = Judgment.objects.select_for_update(of=("self",)).select_related("answer", "copied")
    judgment = current.filter(item=item, criterion=criterion, rater=rater).first()
    if judgment is None:
        return False
    keep_earlier(judgment, at=at, reason=reason)
    judgment.delete()
    return True


def written_in(judgment: Judgment) -> Written | None:
    """Return the answer that goes with the judgment, if one does."""
    answer = getattr(judgment, "answer", None)
    return Written(answer.text, tuple(answer.confirmations)) if answer else None


def copy_grade(judgment: Judgment, *, item: Item, guideline: Guideline | int | None, at: datetime) -> Judgment:
    """Give another item of the same rubric element this judgment's grade, and say where it comes from."""
    copy = record_judgment(
        item=item,
        criterion=judgment.criterion,
        rater=judgment.rater,
        grade=judgment.grade,  # type: ignore[arg-type]  # people's judgments have one
        guideline=guideline,
        unsure=judgment.unsure,
        at=at,
    )
    CopiedGrade.objects.get_or_create(judgment=copy, defaults={"source_id": judgment.item_id})
    return copy


def keep_earlier(judgment: Judgment, *, at: datetime, reason: str = "changed") -> EarlierJudgment:
    """Write the judgment as it stands into the history."""
    written = written_in(judgment)
    return EarlierJudgment.objects.create(
        item_id=judgment.item_id,
        criterion_id=judgment.criterion_id,
        rater_id=judgment.rater_id,
        grade=judgment.grade,
        ungraded=judgment.ungraded,
        judged_at=judgment.judged_at,
        seconds=judgment.seconds,
        guideline_id=judgment.guideline_id,
        unsure=judgment.unsure,
        highlights=[highlight.as_dict() for highlight in judgment.highlights.all()],
        answer=written.text if written else "",
        replaced_at=at,
        reason=f"{reason} (the grade was copied)" if hasattr(judgment, "copied") else reason,
    )


class NewJudgment(NamedTuple):
    """A judgment as a row, by primary keys: files bring a hundred thousand, and a model's instance costs ten rows."""

    item_id: int
    criterion_id: int
    rater_id: int
    grade: float | None
    judged_at: datetime
    ungraded: str = ""
    seconds: float | None = None
    guideline_id: int | None = None
    unsure: bool = False

    @property
    def key(self) -> tuple[int, int, int]:
        """What no other judgment shares."""
        return self.criterion_id, self.item_id, self.rater_id


def add_judgments(judgments: Sequence[NewJudgment]) -> None:
    """Insert judgments in bulk, leaving in place those that (item, criterion, rater) already has.

    For judges and imports: grading a pair twice keeps the first grade. Grades are the caller's to check. The caller
    sees to it that nobody else writes for these raters meanwhile; if somebody does, the database refuses.
    """
    if not all_added(judgments):
        stored = set(stored_among(one.key for one in judgments).values_list("criterion_id", "item_id", "rater_id"))
        insert_rows(Judgment, NewJudgment._fields, (one for one in judgments if one.key not in stored))


def all_added(judgments: Sequence[NewJudgment]) -> bool:
    """Insert the judgments. Returns False, and has then inserted none, where one of them is there already."""
    return inserted_unless_known(Judgment, NewJudgment._fields, judgments)


def stored_among(keys: Iterable[tuple[int, int, int]]) -> QuerySet[Judgment]:
    """Return the stored judgments of these keys (criterion, item and rater), and perhaps others."""
    criteria, items, raters = ({*column} for column in zip(*keys, strict=True))
    return Judgment.objects.filter(criterion_id__in=criteria, item_id__in=items, rater_id__in=raters)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge made of an item: a grade, or the kind of ungraded that it is."""

    item_id: int
    grade: float | None
    ungraded: str = ""


def add_verdicts(verdicts: Sequence[Verdict], *, criterion: Criterion, rater: Rater, at: datetime) -> None:
    """Insert a judge's judgments of different items as fast as the database takes them; a stored one stays as it is.

    The caller sees to it that nobody else writes for this rater meanwhile; if somebody does, the
    database refuses (IntegrityError). Grades are the caller's to check.
    """
    add_judgments([NewJudgment(one.item_id, criterion.pk, rater.pk, one.grade, at, one.ungraded) for one in verdicts])


@transaction.atomic
def withdraw_verdicts(
    items: Iterable[int], *, criterion: Criterion, rater: Rater, only_ungraded: bool = False, at: datetime, reason: str
) -> None:
    """Move a judge's judgments of these items into the history, in bulk: there is room for new ones then.

    Verdicts have neither highlights nor written answers, which are a person's.
    """
    stored = Judgment.objects.filter(criterion=criterion, rater=rater, item__in=list(items))
    if only_ungraded:
        stored = stored.filter(grade__isnull=True)
    EarlierJudgment.objects.bulk_create(
        (
            EarlierJudgment(
                item_id=judgment.item_id,
                criterion=criterion,
                rater=rater,
                grade=judgment.grade,
                ungraded=judgment.ungraded,
                judged_at=judgment.judged_at,
                replaced_at=at,
                reason=reason,
            )
            for judgment in stored
        ),
        batch_size=1_000,
    )
    stored.delete()
