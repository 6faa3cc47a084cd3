"""Reports as sentences with citations, from files of the tracks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from collection.formats.cited_reports import CitedReport, read_cited_reports
from collection.formats.jsonl import CitationLine, ReportLine, SentenceLine
from collection.formats.problems import InputFile, refuse_missing
from collection.importing.collections import CollectionRows, collection_rows
from collection.importing.rows import Imported
from collection.importing.trec import Topics
from collection.models import Collection, Passage
from collection.models.texts import text_hash

# Sentences wait for their reports, and citations for their sentences: so many reports are stored at once.
REPORTS = 200
LEAST_WEIGHT, MOST_WEIGHT = 0, 100


def import_cited_reports(*, file: InputFile, collection: Collection, with_topics: bool = False) -> Imported:
    """Bring in reports with their sentences and citations. A run's system has its name.

    A run is made from the run that its first report names, where the collection has that one; else it is noted.

    Topics that the collection lacks are refused, or with `with_topics` made with their ids alone. A report whose text
    is here already gets its sentences. Raises BrokenFile, and ReferencesMissing where topics are all that it lacks.
    """
    with collection_rows(collection, file) as rows:
        topics = Topics(rows, made=with_topics)
        lines = read_cited_reports(file)
        while batch := list(islice(lines, REPORTS)):
            _add(rows, [(number, report) for number, report in batch if topics.has(number, report.topic_id)])
        refuse_missing(topics.missing)
    return rows.imported


def _add(rows: CollectionRows, reports: Sequence[tuple[int, CitedReport]]) -> None:
    _add_documents(rows, reports)
    for number, report in reports:
        with rows.file.line(number):
            rows.add_run(number, report.run, made_from=_context_of(rows, report))
            rows.add(number, ReportLine(report.run, report.topic_id, report.text, report.attributes))
            _note_flaws(rows.imported, report)
    for number, report in reports:
        with rows.file.line(number):
            for position, (sentence, (start, end)) in enumerate(zip(report.sentences, report.spans, strict=True)):
                rows.add(
                    number,
                    SentenceLine(report.run, report.topic_id, position, start, end, attributes=sentence.attributes),
                )
    for number, report in reports:
        with rows.file.line(number):
            for place, sentence in enumerate(report.sentences):
                for position, cited in enumerate(sentence.citations):
                    line = CitationLine(
                        report.run, report.topic_id, place, position, cited.docno, cited.weight, cited.place
                    )
                    rows.add(number, line)


def _context_of(rows: CollectionRows, report: CitedReport) -> str:
    """Return the run that the report was written from, as far as it is here."""
    if report.run in rows.named_runs or not report.made_from or (report.made_from,) in rows.runs.pks:
        return report.made_from
    rows.imported.flaw("runs that reports were written from, which are not here", f"“{report.made_from}”")
    return ""


def _add_documents(rows: CollectionRows, reports: Sequence[tuple[int, CitedReport]]) -> None:
    """Add the documents whose texts AutoJudge's reports carry; one that is here with another text stays as it is."""
    documents = [(number, one) for number, report in reports for one in report.documents(rows.file, number)]
    ids = {one.passage_id for _, one in documents}
    stored = Passage.objects.filter(collection=rows.collection, passage_id__in=ids).exclude(text_sha256="")
    hashes = dict(stored.values_list("passage_id", "text_sha256"))
    for number, one in documents:
        with rows.file.line(number):
            sha256 = text_hash(one.text or "")
            if one.passage_id not in hashes:
                rows.add(number, one)
            elif hashes[one.passage_id] != sha256:
                rows.imported.flaw("documents whose text is another here, which stays", f"“{one.passage_id}”")
            hashes.setdefault(one.passage_id, sha256)


def _note_flaws(imported: Imported, report: CitedReport) -> None:
    where = f"run “{report.run}”, topic “{report.topic_id}”"
    references = set(report.references)
    for number, sentence in enumerate(report.sentences, start=1):
        if sentence.n_cited > len(sentence.citations):
            imported.flaw("documents cited twice by a sentence, kept once", f"{where}, sentence {number}")
        for cited in sentence.citations:
            if references and cited.docno not in references:
                imported.flaw("cited documents that are no references", f"{where}, sentence {number}: {cited.docno}")
            if cited.weight is not None and not LEAST_WEIGHT <= cited.weight <= MOST_WEIGHT:
                imported.flaw("weights outside 0 to 100", f"{where}, sentence {number}: {cited.weight:g}")
