"""The sentences of reports whose text came in before, found by the rule for passages."""

from __future__ import annotations

from django.db import transaction

from collection.judgments.bulk import insert_rows
from collection.models import Collection, Report, ReportSentence
from collection.texts.sentences import found_sentences

SPLITTER = "assize-1"
FIELDS = ("report", "position", "start", "end", "splitter", "attributes")
CHUNK = 200


@transaction.atomic
def split_reports(collection: Collection) -> int:
    """Give sentences, marked as found by the rule, to every report that has none; return to how many."""
    reports = Report.objects.filter(run__collection=collection, sentences__isnull=True).exclude(text="")
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
