"""Human summaries and their documents: topics, a run of summaries, and a run that ranks each topic's documents."""

from __future__ import annotations

from collection.formats.jsonl import PassageLine, RankingLine, ReportLine, TopicLine
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.summaries import Summary, read_summaries
from collection.importing.collections import CollectionRows, collection_rows
from collection.importing.rows import Imported
from collection.models import Collection, Topic

SUMMARIES = "human_summary"
DOCUMENTS = "documents"
EMPTY = "empty documents, left out"
ALONE = "topics with one document, which CRUX leaves out"


def import_summaries(*, file: InputFile, collection: Collection) -> Imported:
    """Bring in each line as a topic with its summary, a report of the run `human_summary`, and its documents.

    The documents are passages `topic:0`, `topic:1`, …, as the run `documents` ranks them: those of other topics are
    irrelevant by origin. A request is left blank where the line has none. Raises BrokenFile.
    """
    with collection_rows(collection, file) as rows:
        rows.add_run(1, SUMMARIES)
        rows.add_run(1, DOCUMENTS)
        requests = dict(Topic.objects.filter(collection=collection).values_list("topic_id", "request"))
        seen: set[str] = set()
        for number, found in read_summaries(file):
            with file.line(number):
                if found.topic_id in seen:
                    raise BrokenLine(f"The topic “{found.topic_id}” is there twice.", "Give each line its own id.")
                seen.add(found.topic_id)
                _add(rows, number, found, requests)
    return rows.imported


def _add(rows: CollectionRows, number: int, found: Summary, requests: dict[str, str]) -> None:
    topic = found.topic_id
    if topic in requests and not found.request:  # a request was written since
        rows.imported.known[rows.topics.names] += 1
    else:
        rows.add(number, TopicLine(topic, found.request, attributes=found.attributes))
    rows.add(number, ReportLine(SUMMARIES, topic, found.summary))
    for place, text in enumerate(found.documents):
        rows.add(number, PassageLine(f"{topic}:{place}", text, document_id=f"{topic}:{place}"))
        rows.add(number, RankingLine(DOCUMENTS, topic, f"{topic}:{place}", place + 1, 1 / (place + 1)))
    if found.n_empty:
        rows.imported.flaw(EMPTY, f"{found.n_empty} of “{topic}”")
    if len(found.documents) == 1:
        rows.imported.flaw(ALONE, f"“{topic}”")
