"""A study's judgments as the long table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from collection.formats.judgments import (
    COLUMNS,
    Format,
    OrderLine,
    WrittenHighlight,
    WrittenJudgment,
    written_csv,
    written_jsonl,
)
from collection.models import Highlight, Judgment, PairOrder, Passage, Rater, Report, Study
from collection.models.texts import text_hash
from collection.services import HighlightDoesNotFit

CHUNK = 2_000
# The columns of the table, in their order.
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
)
ORDER = ("item__topic__topic_id", "item__item_id", "criterion__name", "rater__kind", "rater__name", "id")
Texts = dict[tuple[str, int], str]


def exported_judgments(study: Study, *, table: Format, crowd_ids: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the lines of the study's table, in an order that does not change.

    A JSONL has the highlights, each checked against the stored text. `crowd_ids`, by the names of raters who
    judged here, become a column; without it nobody is named but by pseudonym. Raises HighlightDoesNotFit.
    """
    judgments = Judgment.objects.of_study(study).order_by(*ORDER)
    rows = _rows(judgments) if table == "csv" else _highlighted_rows(judgments)
    if crowd_ids is not None:
        rows = (_with_crowd_id(row, crowd_ids) for row in rows)
    written = written_csv if table == "csv" else written_jsonl
    return written(rows, with_crowd_ids=crowd_ids is not None)


def _with_crowd_id(row: WrittenJudgment, crowd_ids: Mapping[str, str]) -> WrittenJudgment:
    """Fill the column. An imported rater may be called like one who judges here, and is somebody else."""
    is_one_of_ours = row.rater_kind == Rater.Kind.ASSESSOR and row.rater_origin == Rater.Origin.HERE
    return replace(row, crowd_id=crowd_ids.get(row.rater, "") if is_one_of_ours else "")


def _rows(judgments: QuerySet[Judgment]) -> Iterator[WrittenJudgment]:
    for row in judgments.values_list(*FIELDS).iterator(CHUNK):
        yield _written(row)


def _highlighted_rows(judgments: QuerySet[Judgment]) -> Iterator[WrittenJudgment]:
    rows = judgments.values_list("id", "item__passage_id", "item__report_id", *FIELDS).iterator(CHUNK)
    while chunk := list(islice(rows, CHUNK)):
        highlights: dict[int, list[Highlight]] = defaultdict(list)
        for highlight in Highlight.objects.filter(judgment__in=[row[0] for row in chunk]).order_by("id"):
            highlights[highlight.judgment_id].append(highlight)
        orders = _orders(row[0] for row in chunk if row[-1])
        texts = _texts((row[1], row[2]) for row in chunk if row[0] in highlights)
        for pk, passage_pk, report_pk, *row in chunk:
            written = _written(row)
            if pk in highlights:
                text = texts["passage", passage_pk] if passage_pk else texts["report", report_pk]
                written = replace(written, highlights=tuple(_written_highlight(one, text) for one in highlights[pk]))
            yield replace(written, orders=tuple(orders[pk])) if pk in orders else written


def _orders(pairs: Iterable[int]) -> dict[int, list[OrderLine]]:
    """Return the orders in which these pairs were seen, by judgment."""
    orders: dict[int, list[OrderLine]] = defaultdict(list)
    if wanted := list(pairs):
        rows = PairOrder.objects.filter(judgment__in=wanted).order_by("judgment", "swapped")
        for judgment, swapped, grade in rows.values_list("judgment__pk", "swapped", "grade"):
            orders[judgment].append(OrderLine(swapped, grade))
    return orders


def _texts(keys: Iterable[tuple[int | None, int | None]]) -> Texts:
    """Return the texts of these passages and reports."""
    wanted = set(keys)
    passages = Passage.objects.filter(pk__in={passage for passage, _ in wanted if passage})
    reports = Report.objects.filter(pk__in={report for _, report in wanted if report})
    texts: Texts = {("passage", pk): text or "" for pk, text in passages.values_list("pk", "text")}
    texts.update({("report", pk): text for pk, text in reports.values_list("pk", "text")})
    return texts


def _written(row: Iterable[Any]) -> WrittenJudgment:
    values = dict(zip(COLUMNS, row, strict=True))
    values["judged_at"] = values["judged_at"].astimezone(UTC).isoformat()
    for name in ("run", "passage_id", "element_id", "other_run"):
        values[name] = values[name] or ""
    return WrittenJudgment(**values)


def _written_highlight(highlight: Highlight, text: str) -> WrittenHighlight:
    """Return the highlight in all three ways of counting. Raises HighlightDoesNotFit."""
    start, end = highlight.start, highlight.end
    if start is None or end is None:
        return WrittenHighlight(highlight.purpose, None, None, highlight.quote, "", None, None, None, None)
    if text[start:end] != highlight.quote or text_hash(text) != highlight.text_sha256:
        raise HighlightDoesNotFit(f"“{highlight.quote}” does not stand at {start} to {end} of the stored text.")
    return WrittenHighlight(
        purpose=highlight.purpose,
        start=start,
        end=end,
        quote=highlight.quote,
        text_sha256=highlight.text_sha256,
        start_utf16=utf16_units(text[:start]),
        end_utf16=utf16_units(text[:end]),
        start_utf8=len(text[:start].encode()),
        end_utf8=len(text[:end].encode()),
    )


def utf16_units(text: str) -> int:
    """Return how many UTF-16 code units the text takes, as JavaScript counts."""
    return len(text.encode("utf-16-le")) // 2
