"""A collection's texts as the field exchanges them: requests, narratives, segments, candidate pools, runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from collection.exporting.cited_reports import exported_cited_reports
from collection.exporting.runs import chosen_run, exported_run, exported_runs
from collection.formats.jsonl import PassageLine, TopicLine
from collection.formats.requests import written_document, written_narrative, written_request, written_segment
from collection.models import Collection, Passage, RankedPassage, Run, Topic

CHUNK = 500


# The lines of a file, of one run where its form takes one; of a zip, its bytes.
Export = Callable[[Collection, str], Iterator[str] | Iterator[bytes]]
SUFFIXES = {"narratives": "tsv", "run": "run", "runs": "zip"}


def exchanged_file(collection: Collection, form: str) -> str:
    """Return what the file of this form is called."""
    return f"{collection.name}-{form}.{SUFFIXES.get(form, 'jsonl')}"


def _written(found: Any) -> str:
    return json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n"


def topic_line(topic: Topic) -> TopicLine:
    return TopicLine(topic.topic_id, topic.request, topic.title, topic.attributes)


def passage_line(passage: Passage) -> PassageLine:
    return PassageLine(passage.passage_id, passage.text, passage.title, passage.document_id, passage.attributes)


def _topics(collection: Collection) -> Iterator[TopicLine]:
    topics = Topic.objects.filter(collection=collection).exclude(request="").order_by("pk")
    return map(topic_line, topics.iterator(CHUNK))


def exported_requests(collection: Collection, _run: str = "") -> Iterator[str]:
    """Yield AutoJudge's requests."""
    return (_written(written_request(topic, id_field="request_id")) for topic in _topics(collection))


def exported_rag25(collection: Collection, _run: str = "") -> Iterator[str]:
    """Yield TREC RAG 2025's topics."""
    return (_written(written_request(topic, id_field="id")) for topic in _topics(collection))


def exported_narratives(collection: Collection, _run: str = "") -> Iterator[str]:
    """Yield TREC RAG 2026's narratives."""
    return map(written_narrative, _topics(collection))


def exported_segments(collection: Collection, _run: str = "") -> Iterator[str]:
    """Yield the passages that have a text, as MS MARCO v2.1's segments."""
    passages = Passage.objects.filter(collection=collection, text__isnull=False).order_by("pk")
    return (_written(written_segment(passage_line(passage))) for passage in passages.iterator(CHUNK))


def exported_pools(collection: Collection, run: str) -> Iterator[str]:
    """Return a run's topics with their candidates, a line each. Raises NoSuchRun."""
    return _pools(chosen_run(collection, run, what="A pool"))


def _pools(run: Run) -> Iterator[str]:
    said = run.attributes.get("pool", {})
    ranking = RankedPassage.objects.filter(run=run).select_related("topic").order_by("topic_id", "rank", "pk")
    for topic, ranked in groupby(ranking.iterator(CHUNK), key=lambda one: one.topic):
        candidates = list(ranked)
        ids = [one.passage_id for one in candidates]
        held = Passage.objects.filter(collection_id=run.collection_id, passage_id__in=ids, text__isnull=False)
        passages = {passage.passage_id: passage_line(passage) for passage in held}
        besides = said.get("candidates", {}).get(topic.topic_id, {})
        query = {"qid": topic.topic_id, "text": topic.request} | ({"title": topic.title} if topic.title else {})
        listed = [
            {"docid": one.passage_id, "score": one.score}
            | _document(passages.get(one.passage_id), said)
            | besides.get(one.passage_id, {})
            for one in candidates
        ]
        line = {"query": query | topic.attributes, "candidates": listed}
        yield _written(line | said.get("lines", {}).get(topic.topic_id, {}))


def _document(passage: PassageLine | None, said: dict[str, Any]) -> dict[str, Any]:
    """Return the candidate's document, spelled as the file spelled its first."""
    if passage is None:
        return {}
    text = said.get("text", "segment" if "start_char" in passage.attributes else "contents")
    if not text:
        return {"doc": passage.text}
    own_id = {said["docno"]: passage.passage_id} if said.get("docno") else {}
    return {"doc": own_id | written_document(passage, text_field=text)}


EXPORTS: dict[str, Export] = {
    "requests": exported_requests,
    "rag25": exported_rag25,
    "narratives": exported_narratives,
    "segments": exported_segments,
    "pools": exported_pools,
    "run": exported_run,
    "runs": exported_runs,
    "reports": lambda collection, run: exported_cited_reports(collection, [run] if run else []),
}
