"""What leaves as the field exchanges it: requests (topics), segments (passages) and candidate pools (rankings).

`topics`, `trec` and `pools` read them. Each writer gives the object that was read, equal to it.
"""

from __future__ import annotations

from typing import Any

from collection.formats.jsonl import PassageLine, TopicLine
from collection.formats.trec import document_of_segment

# What choosers call each form in which a collection's texts leave.
EXCHANGED = {
    "requests": "Requests (AutoJudge)",
    "rag25": "Topics (TREC RAG 2025)",
    "narratives": "Narratives (TREC RAG 2026)",
    "segments": "Segments (MS MARCO v2.1)",
    "pools": "Candidate pool of a run",
    "run": "TREC run file of a run",
    "runs": "TREC run files of all runs (zip)",
    "reports": "Cited reports",
}


def written_request(topic: TopicLine, *, id_field: str) -> dict[str, Any]:
    """Return the topic as a request: of AutoJudge (`request_id`), or of TREC RAG 2025 (`id`)."""
    title = topic.title or topic.request
    said = {"title": title, "problem_statement": topic.request} if topic.title else {"title": title}
    return {id_field: topic.topic_id} | said | topic.attributes


def written_narrative(topic: TopicLine) -> str:
    """Return the topic as a line of id, tab and narrative; a narrative of several lines becomes one."""
    return f"{topic.topic_id}\t{' '.join(topic.request.split())}\n"


def written_segment(passage: PassageLine) -> dict[str, Any]:
    """Return the passage as a segment of MS MARCO v2.1; what else it says stands beside these fields."""
    return {"docid": passage.passage_id, **written_document(passage, text_field="segment")}


def written_document(passage: PassageLine, *, text_field: str) -> dict[str, Any]:
    """Return what a passage says without its id."""
    document = {"title": passage.title} if passage.title or "start_char" in passage.attributes else {}
    if passage.document_id and (
        text_field != "segment" or passage.document_id != document_of_segment(passage.passage_id)
    ):
        document["document_id"] = passage.document_id
    return document | {text_field: passage.text} | passage.attributes
