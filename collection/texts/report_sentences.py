"""The sentences of reports whose text came in before, found by the rule for passages."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet

from collection.judgments.bulk import insert_rows
from collection.models import Collection, Report, ReportSentence
from collection.texts.sentences import found_sentences

SPLITTER = "assize-1"
FIELDS = ("report", "position", "start", "end", "splitter", "attributes")
CHUNK = 200
# So many while somebody waits for an answer: a second or two.
MOST_AT_ONCE = 2_000


def reports_without_sentences(collection: Collection) -> QuerySet[Report]:
    """Return the reports that are one text."""
    return Report.objects.filter(run__collection=collection, sentences__isnull=True).exclude(text="")


@transaction.atomic
def split_reports(collection: Collection, *, most: int | None = None) -> int:
    """Give sentences, marked as found by the rule, to reports that have none; return to how many."""
    reports = reports_without_sentences(collection).order_by("pk")[:most]
    count = 0
    for report in reports.only("text").iterator(CHUNK):
        places = enumerate(found_sentences(report.text))
        insert_rows(
            ReportSentence,
            FIELDS,
            [(report.pk, position, start, end, SPLITTER, {}) for position, (start, end) in places],
        )
        count += 1
    return count
