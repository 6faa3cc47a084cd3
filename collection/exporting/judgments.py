"""A study's judgments as the long table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from itertools import islice
from typing import Any

from django.db.models import Exists, QuerySet, Value

from collection.formats.judgments_reader import AnswerLine, Format, OrderLine, RevisesLine
from collection.formats.judgments_writer import (
    Extras,
    SuggestionLine,
    WrittenHighlight,
    WrittenJudgment,
    written_csv,
    written_jsonl,
)
from collection.judgments.services import HighlightDoesNotFit
from collection.models import (
    AnswerToRevise,
    ChangedPage,
    Highlight,
    Judgment,
    PairOrder,
    Passage,
    Rater,
    Report,
    Study,
    Suggestion,
    WrittenAnswer,
)
from collection.models.studies import TaskType
from collection.models.texts import text_hash
from collection.questions.shapes import TASK_TYPES

CHUNK = 2_000
# The columns of the table, in their order: `_written` takes the row apart.
FIELDS = (
    "item__topic__topic_id",
    "item__item_id",
    "criterion__name",
    "rater__name",
    "rater__kind",
    "rater__origin",
    "grade",
    "ungraded",
    "judged_at",
    "seconds",
    "guideline__version",
    "item__task_type",
    "item__report__run__name",
    "item__passage__passage_id",
    "item__element__element_id",
    "item__other_report__run__name",
    "unsure",
    "page_changed",
)
ORDER = ("item__topic__topic_id", "item__item_id", "criterion__name", "rater__kind", "rater__name", "id")
A_LABEL = ("item_id", "criterion_id", "rater_id")
SUGGESTED = ("arm", "probability", "judge__name", "grade", "own_grade")
HIGHLIGHT_FIELDS = ("purpose", "start", "end", "quote", "text_sha256")
Texts = dict[tuple[str, int], "_Text"]
Rows = Iterator[tuple[int, WrittenJudgment]]
ROUNDS: dict[str, int] = {TaskType.WRITTEN_ANSWER: 1, TaskType.ANSWER_REVISION: 2}


def exported_judgments(
    study: Study,
    *,
    table: Format,
    crowd_ids: Mapping[str, str] | None = None,
    chosen: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Yield the lines of the study's table, in an order that does not change: of all judgments, or of those `chosen`.

    A JSONL has the highlights, each checked against the stored text. Written answers and the orders of pairs are
    in it where the study asks for them. `crowd_ids`, by the names of raters who judged here, become a column;
    without it people are named by user name: a pseudonym where they were recruited. Raises HighlightDoesNotFit.
    """
    told, extras = _table(study, highlighted=table != "csv", crowd_ids=crowd_ids, chosen=chosen)
    yield from written_csv(told, extras) if table == "csv" else written_jsonl(told, extras)


def exported_parquet(
    study: Study, *, crowd_ids: Mapping[str, str] | None = None, chosen: Mapping[str, str] | None = None
) -> Iterator[bytes]:
    """Yield what the JSONL holds as a Parquet file, row group by row group. Raises HighlightDoesNotFit."""
    from collection.exporting.judgments_parquet import written_parquet

    yield from written_parquet(*_table(study, highlighted=True, crowd_ids=crowd_ids, chosen=chosen))


def _table(
    study: Study, *, highlighted: bool, crowd_ids: Mapping[str, str] | None, chosen: Mapping[str, str] | None
) -> tuple[Iterator[WrittenJudgment], Extras]:
    """Return the rows of the table, and what it holds beyond the usual columns."""
    judgments = Judgment.objects.of_study(study).filter(**chosen or {}).order_by(*ORDER)
    asked = set(study.criteria.values_list("task_type", flat=True))
    suggestions, unsure, page_changed = Study.objects.values_list(
        Exists(Suggestion.objects.filter(criterion__study=study)),
        Exists(judgments.filter(unsure=True)),
        Exists(ChangedPage.objects.filter(item__study=study)),
    ).get(pk=study.pk)
    extras = Extras(
        answers=bool(asked & ROUNDS.keys()),
        orders=any(TASK_TYPES[one].text == "pair" for one in asked),
        crowd_ids=crowd_ids is not None,
        suggestions=suggestions,
        unsure=unsure,
        page_changed=page_changed,
    )
    # As quickly read as before where there is none.
    judgments = judgments.with_changed_pages() if page_changed else judgments.annotate(page_changed=Value(value=False))
    rows = _highlighted_rows(judgments) if highlighted else _rows(judgments)
    if extras.orders:
        rows = _with_orders(rows)
    if extras.answers:
        rows = _with_answers(rows)
    if extras.suggestions:
        rows = _with_suggestions(rows)
    told = (row for _, row in rows)
    if crowd_ids is not None:
        told = (_with_crowd_id(row, crowd_ids) for row in told)
    return told, extras


def _with_crowd_id(row: WrittenJudgment, crowd_ids: Mapping[str, str]) -> WrittenJudgment:
    """Fill the column. An imported rater may be called like one who judges here, and is somebody else."""
    is_one_of_ours = row.rater_kind == Rater.Kind.ASSESSOR and row.rater_origin == Rater.Origin.HERE
    return replace(row, crowd_id=crowd_ids.get(row.rater, "") if is_one_of_ours else "")


def _rows(judgments: QuerySet[Judgment]) -> Rows:
    for pk, *row in judgments.values_list("id", *FIELDS).iterator(CHUNK):
        yield pk, _written(row)


def _highlighted_rows(judgments: QuerySet[Judgment]) -> Rows:
    rows = judgments.values_list("id", "item__passage_id", "item__report_id", *FIELDS).iterator(CHUNK)
    while chunk := list(islice(rows, CHUNK)):
        marked = Highlight.objects.filter(judgment__in=[row[0] for row in chunk]).order_by("id")
        highlights: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
        for judgment, *highlight in marked.values_list("judgment_id", *HIGHLIGHT_FIELDS):
            highlights[judgment].append(tuple(highlight))
        texts = _texts((row[1], row[2]) for row in chunk if row[0] in highlights)
        for pk, passage_pk, report_pk, *row in chunk:
            found: tuple[WrittenHighlight, ...] = ()
            if pk in highlights:
                text = texts["passage", passage_pk] if passage_pk else texts["report", report_pk]
                try:
                    found = tuple(text.highlight(*one) for one in highlights[pk])
                except HighlightDoesNotFit as misplaced:
                    one = Judgment.objects.select_related("item", "criterion", "rater").get(pk=pk)
                    where = f"{one.rater}’s judgment of “{one.item}” under “{one.criterion}”"
                    raise HighlightDoesNotFit(f"{where} cannot be exported: {misplaced}") from misplaced
            yield pk, _written(row, found)


def _with_orders(rows: Rows) -> Rows:
    """Add in which orders pairs were seen."""
    while chunk := list(islice(rows, CHUNK)):
        orders: dict[int, list[OrderLine]] = defaultdict(list)
        stored = PairOrder.objects.filter(judgment__in=[pk for pk, row in chunk if row.other_run])
        for judgment, swapped, grade in stored.order_by("judgment", "swapped").values_list(
            "judgment__pk", "swapped", "grade"
        ):
            orders[judgment].append(OrderLine(swapped, grade))
        for pk, row in chunk:
            yield pk, replace(row, orders=tuple(orders[pk])) if pk in orders else row


def _with_answers(rows: Rows) -> Rows:
    """Add what was written in both rounds, and whose answer was read in the second."""
    while chunk := list(islice(rows, CHUNK)):
        written = [pk for pk, row in chunk if row.task_type in ROUNDS]
        stored = WrittenAnswer.objects.filter(judgment__in=written)
        answers = {
            pk: AnswerLine(text, tuple(confirmations), attributes)
            for pk, text, confirmations, attributes in stored.values_list(
                "judgment__pk", "text", "confirmations", "attributes"
            )
        }
        handed_on = AnswerToRevise.objects.filter(item__judgments__in=written)
        revised = {
            pk: RevisesLine(item_id, writer)
            for pk, item_id, writer in handed_on.values_list("item__judgments", "answered__item_id", "writer__name")
        }
        for pk, row in chunk:
            number = ROUNDS.get(row.task_type)
            yield pk, replace(row, round=number, answer=answers.get(pk), revises=revised.get(pk))


def _with_suggestions(rows: Rows) -> Rows:
    """Add in which arm, and with what of a judge before them, people gave their labels."""
    while chunk := list(islice(rows, CHUNK)):
        labels = Judgment.objects.filter(pk__in=[pk for pk, _ in chunk])
        keys = {pk: tuple(key) for pk, *key in labels.values_list("pk", *A_LABEL)}
        stored = Suggestion.objects.filter(item__in=labels.values("item")).values_list(*A_LABEL, *SUGGESTED)
        lines = {tuple(row[: len(A_LABEL)]): SuggestionLine(*row[len(A_LABEL) :]) for row in stored}
        for pk, row in chunk:
            yield pk, replace(row, suggestion=lines.get(keys[pk]))


def _texts(keys: Iterable[tuple[int | None, int | None]]) -> Texts:
    """Return the texts of these passages and reports."""
    wanted = set(keys)
    passages = Passage.objects.filter(pk__in={passage for passage, _ in wanted if passage})
    reports = Report.objects.filter(pk__in={report for _, report in wanted if report})
    texts: Texts = {("passage", pk): _Text(text or "") for pk, text in passages.values_list("pk", "text")}
    texts.update({("report", pk): _Text(text) for pk, text in reports.values_list("pk", "text")})
    return texts


def _written(row: Sequence[Any], highlights: tuple[WrittenHighlight, ...] = ()) -> WrittenJudgment:
    *before, judged_at, seconds, version, task_type, run, passage, element, other_run, unsure, page_changed = row
    at = judged_at.astimezone(UTC).isoformat()
    names = (run or "", passage or "", element or "", other_run or "")
    values = [*before, at, seconds, version, task_type, *names, highlights, unsure, page_changed]
    return WrittenJudgment(*values)


class _Text:
    """A judged text, against which the highlights in it are checked."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sha256 = text_hash(text)
        # In ASCII all three ways of counting are one.
        self.is_ascii = text.isascii()

    def highlight(self, purpose: str, start: int | None, end: int | None, quote: str, sha256: str) -> WrittenHighlight:
        """Return the highlight in all three ways of counting. Raises HighlightDoesNotFit."""
        if start is None or end is None:
            return WrittenHighlight(purpose, None, None, quote, "", None, None, None, None)
        if self.text[start:end] != quote or self.sha256 != sha256:
            raise HighlightDoesNotFit(f"“{quote}” is not at {start} to {end} of the stored text.")
        if self.is_ascii:
            return WrittenHighlight(purpose, start, end, quote, sha256, start, end, start, end)
        before, upto = self.text[:start], self.text[:end]
        return WrittenHighlight(
            purpose=purpose,
            start=start,
            end=end,
            quote=quote,
            text_sha256=sha256,
            start_utf16=utf16_units(before),
            end_utf16=utf16_units(upto),
            start_utf8=len(before.encode()),
            end_utf8=len(upto.encode()),
        )


def utf16_units(text: str) -> int:
    """Return how many UTF-16 code units the text takes, as JavaScript counts."""
    return len(text.encode("utf-16-le")) // 2
