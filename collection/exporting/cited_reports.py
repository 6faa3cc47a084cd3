"""Reports as sentences with citations, as the tracks exchange them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from django.db.models import QuerySet

from collection.exporting.runs import NoSuchRun
from collection.formats.cited_reports import MADE_FROM, CitedDocument, CitedReport, CitedSentence, written_report
from collection.models import Collection, Report, Run

CHUNK = 200


def chosen_runs(collection: Collection, names: Sequence[str] = ()) -> list[Run]:
    """Return the runs of these names, or all that have reports, by name. Raises NoSuchRun."""
    found = {run.name: run for run in collection.runs.filter(reports__isnull=False).distinct().order_by("name")}
    if not found:
        raise NoSuchRun("The collection has no reports.")
    if missing := [name for name in names if name not in found]:
        raise NoSuchRun(
            f"The collection has no reports of a run “{missing[0]}”. Choose one of {', '.join(list(found)[:20])}."
        )
    return [run for name, run in found.items() if not names or name in names]


def exported_cited_reports(collection: Collection, runs: Sequence[str] = ()) -> Iterator[str]:
    """Return a line for each report that has sentences: as it came in, or in the shared schema. Raises NoSuchRun."""
    chosen = {"run__in": chosen_runs(collection, runs)} if runs else {}
    return _lines(Report.objects.filter(run__collection=collection, sentences__isnull=False, **chosen).distinct())


def _lines(reports: QuerySet[Report]) -> Iterator[str]:
    found = (
        reports.select_related("run__made_from", "topic")
        .prefetch_related("sentences__citations")
        .order_by("run__name", "pk")
    )
    for report in found.iterator(CHUNK):
        yield json.dumps(written_report(cited_report(report)), ensure_ascii=False, allow_nan=False) + "\n"


def cited_report(report: Report) -> CitedReport:
    """Return a stored report with its sentences and what they cite."""
    sentences = tuple(
        CitedSentence(
            report.text[sentence.start : sentence.end],
            tuple(CitedDocument(one.passage_id, one.weight, one.place) for one in sentence.citations.all()),
            sentence.attributes,
        )
        for sentence in report.sentences.all()
    )
    if "sentences" in report.attributes:
        return CitedReport(report.run.name, report.topic.topic_id, sentences, report.attributes)
    metadata = {"team_id": "", "run_id": report.run.name, "topic_id": report.topic.topic_id}
    metadata |= {MADE_FROM: report.run.made_from.name} if report.run.made_from else {}
    cited = dict.fromkeys(document.docno for sentence in sentences for document in sentence.citations)
    attributes = {"metadata": metadata, "references": list(cited), "sentences": "responses"}
    return CitedReport(report.run.name, report.topic.topic_id, sentences, attributes)
