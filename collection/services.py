"""How judgments come into the table: one by one from people, in bulk from judges and files.

Everything that writes a Judgment goes through here, so that no earlier value is ever lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction

from collection.bulk import insert_rows
from collection.models import (
    Criterion,
    EarlierJudgment,
    Guideline,
    Highlight,
    Item,
    Judgment,
    Rater,
    WrittenAnswer,
)
from collection.models.texts import text_hash


class GradeNotOnScale(ValueError):
    """The grade is none of the criterion's scale."""


class HighlightDoesNotFit(ValueError):
    """The quote does not stand at these offsets of the judged text."""


@dataclass(frozen=True)
class Span:
    """A span of a text in code points, end-exclusive, with the words that stand there."""

    start: int
    end: int
    quote: str
    purpose: str = Highlight.Purpose.SUPPORT


@dataclass(frozen=True)
class Written:
    """An answer in the assessor's own words, with the names of what they confirmed of it."""

    text: str = ""
    confirmations: tuple[str, ...] = ()


NOTHING_WRITTEN = Written()


def check_grade(grade: float, criterion: Criterion) -> None:
    """Raise GradeNotOnScale unless the criterion's scale has this grade."""
    if grade not in criterion.scale.values:
        raise GradeNotOnScale(f"{grade:g} is no grade of the scale “{criterion.scale}”.")


def check_spans(spans: Iterable[Span], text: str) -> None:
    """Raise HighlightDoesNotFit unless every quote stands exactly at its offsets in the text."""
    for span in spans:
        if not 0 <= span.start < span.end <= len(text):
            raise HighlightDoesNotFit(
                f"A highlight from {span.start} to {span.end} does not fit a text of {len(text)} characters."
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
    guideline: Guideline | None = None,
    written: Written | None = None,
    at: datetime,
) -> Judgment:
    """Make this the rater's current judgment of the item; the one before goes into the history.

    `written` is the answer that goes with it, if one does. Sending the same judgment twice changes nothing.
    Raises GradeNotOnScale and HighlightDoesNotFit.
    """
    check_grade(grade, criterion)
    text = item.judged_text.text or ""
    check_spans(spans, text)
    sha256 = text_hash(text)

    with transaction.atomic(savepoint=False):
        fresh = {"grade": grade, "ungraded": "", "judged_at": at, "seconds": seconds, "guideline": guideline}
        current = Judgment.objects.select_for_update(of=("self",)).select_related("answer")
        judgment, created = current.get_or_create(item=item, criterion=criterion, rater=rater, defaults=fresh)
        if not created:
            stored_spans = [
                Span(h.start, h.end, h.quote, h.purpose)
                for h in judgment.highlights.all()
                if h.start is not None and h.end is not None
            ]
            if judgment.grade == grade and stored_spans == list(spans) and written_in(judgment) == written:
                return judgment
            keep_earlier(judgment, at=at)
            for name, value in fresh.items():
                setattr(judgment, name, value)
            judgment.save()
            judgment.highlights.all().delete()
            if written is None and written_in(judgment):
                judgment.answer.delete()
        if written is not None:
            WrittenAnswer.objects.update_or_create(
                judgment=judgment, defaults={"text": written.text, "confirmations": list(written.confirmations)}
            )
        Highlight.objects.bulk_create(
            Highlight(
                judgment=judgment,
                purpose=span.purpose,
                start=span.start,
                end=span.end,
                quote=span.quote,
                text_sha256=sha256,
            )
            for span in spans
        )
        return judgment


@transaction.atomic
def withdraw_judgment(
    *, item: Item, criterion: Criterion, rater: Rater, at: datetime, reason: str = "withdrawn"
) -> bool:
    """Take the rater's current judgment back into the history. Returns whether there was one."""
    current = Judgment.objects.select_for_update(of=("self",)).select_related("answer")
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
        highlights=[highlight.as_dict() for highlight in judgment.highlights.all()],
        answer=written.text if written else "",
        replaced_at=at,
        reason=reason,
    )


def add_judgments(judgments: Iterable[Judgment], *, batch_size: int = 2_000) -> None:
    """Insert judgments in bulk, leaving in place those that (item, criterion, rater) already has.

    For judges and imports: grading a pair twice keeps the first grade. Grades are the caller's to check.
    """
    Judgment.objects.bulk_create(judgments, batch_size=batch_size, ignore_conflicts=True)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge made of an item: a grade, or the kind of ungraded that it is."""

    item_id: int
    grade: float | None
    ungraded: str = ""


@transaction.atomic
def add_verdicts(verdicts: Sequence[Verdict], *, criterion: Criterion, rater: Rater, at: datetime) -> None:
    """Insert a judge's judgments of different items as fast as the database takes them; a stored one stays as it is.

    The caller sees to it that nobody else writes for this rater meanwhile; if somebody does, the
    database refuses (IntegrityError). Grades are the caller's to check.
    """
    fields = ("item_id", "criterion_id", "rater_id", "grade", "ungraded", "judged_at")
    rows = [(verdict.item_id, criterion.pk, rater.pk, verdict.grade, verdict.ungraded, at) for verdict in verdicts]
    try:
        with transaction.atomic():
            insert_rows(Judgment, fields, rows)
    except IntegrityError:
        stored = set(
            Judgment.objects.filter(
                criterion=criterion, rater=rater, item__in=[verdict.item_id for verdict in verdicts]
            ).values_list("item_id", flat=True)
        )
        insert_rows(Judgment, fields, (row for row in rows if row[0] not in stored))


@transaction.atomic
def withdraw_ungraded(items: Iterable[int], *, criterion: Criterion, rater: Rater, at: datetime, reason: str) -> None:
    """Move a judge's ungraded judgments of these items into the history, in bulk: there is room for new ones then."""
    stored = Judgment.objects.filter(criterion=criterion, rater=rater, grade__isnull=True, item__in=list(items))
    EarlierJudgment.objects.bulk_create(
        (
            EarlierJudgment(
                item_id=judgment.item_id,
                criterion=criterion,
                rater=rater,
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
