"""A study's judgments as the long table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from collection.formats.judgments import (
    COLUMNS,
    Format,
    WrittenHighlight,
    WrittenJudgment,
    written_csv,
    written_jsonl,
)
from collection.models import Highlight, Judgment, Passage, Report, Study
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
)
ORDER = ("item__topic__topic_id", "item__item_id", "criterion__name", "rater__kind", "rater__name", "id")
Texts = dict[tuple[str, int], str]


def exported_judgments(study: Study, *, table: Format) -> Iterator[str]:
    """Yield the lines of the study's table, in an order that does not change.

    A JSONL has the highlights, each checked against the stored text. Raises HighlightDoesNotFit.
    """
    judgments = Judgment.objects.of_study(study).order_by(*ORDER)
    if table == "csv":
        return written_csv(_rows(judgments))
    return written_jsonl(_highlighted_rows(judgments))


def _rows(judgments: QuerySet[Judgment]) -> Iterator[WrittenJudgment]:
    for row in judgments.values_list(*FIELDS).iterator(CHUNK):
        yield _written(row)


def _highlighted_rows(judgments: QuerySet[Judgment]) -> Iterator[WrittenJudgment]:
    rows = judgments.values_list("id", "item__passage_id", "item__report_id", *FIELDS).iterator(CHUNK)
    while chunk := list(islice(rows, CHUNK)):
        highlights: dict[int, list[Highlight]] = defaultdict(list)
        for highlight in Highlight.objects.filter(judgment__in=[row[0] for row in chunk]).order_by("id"):
            highlights[highlight.judgment_id].append(highlight)
        texts = _texts((row[1], row[2]) for row in chunk if row[0] in highlights)
        for pk, passage_pk, report_pk, *row in chunk:
            if pk in highlights:
                text = texts["passage", passage_pk] if passage_pk else texts["report", report_pk]
                yield _written(row, tuple(_written_highlight(highlight, text) for highlight in highlights[pk]))
            else:
                yield _written(row)


def _texts(keys: Iterable[tuple[int | None, int | None]]) -> Texts:
    """Return the texts of these passages and reports."""
    wanted = set(keys)
    passages = Passage.objects.filter(pk__in={passage for passage, _ in wanted if passage})
    reports = Report.objects.filter(pk__in={report for _, report in wanted if report})
    texts: Texts = {("passage", pk): text or "" for pk, text in passages.values_list("pk", "text")}
    texts.update({("report", pk): text for pk, text in reports.values_list("pk", "text")})
    return texts


def _written(row: Iterable[Any], highlights: tuple[WrittenHighlight, ...] = ()) -> WrittenJudgment:
    values = dict(zip(COLUMNS, row, strict=True))
    values["judged_at"] = values["judged_at"].astimezone(UTC).isoformat()
    for name in ("run", "passage_id", "element_id"):
        values[name] = values[name] or ""
    return WrittenJudgment(**values, highlights=highlights)


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
