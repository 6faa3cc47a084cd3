"""Candidate pools: their topics, passages and one run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from collection.formats.jsonl import PassageLine, RankingLine, RunLine, SystemLine, TopicLine
from collection.formats.pools import Candidate, Pool, Spelling, read_pools
from collection.formats.problems import BrokenFile, BrokenLine, InputFile
from collection.importing.collections import CollectionRows, collection_rows
from collection.importing.rows import CHANGED_TEXT, Imported
from collection.importing.trec import note_unread
from collection.models import Collection, Passage, Topic
from collection.models.texts import text_hash


def import_pools(*, file: InputFile, collection: Collection, run: str = "", system: str = "") -> Imported:
    """Bring in the queries as topics, the documents as passages and the candidates as one run, named like the file.

    A topic or a passage that is here with the same text stays as it is, whatever else the file says of it. Raises
    BrokenFile.
    """
    name = run or Path(file.name).stem
    with collection_rows(collection, file) as rows:
        rows.add(1, SystemLine(system or name))
        rows.add(1, RunLine(name, system or name, _what_else_it_says(file)))
        requests = dict(Topic.objects.filter(collection=collection).values_list("topic_id", "request"))
        for number, pool in read_pools(file):
            with file.line(number):
                _add_topic(rows, number, pool.topic, requests)
                _add_passages(rows, number, [one.passage for one in pool.candidates if one.passage])
                note_unread(rows.imported, number, pool.rest)
                for place, one in enumerate(pool.candidates, start=1):
                    note_unread(rows.imported, number, one.rest)
                    rows.add(number, RankingLine(name, pool.topic.topic_id, one.docno, place, one.score))
    return rows.imported


def _add_topic(rows: CollectionRows, number: int, topic: TopicLine, requests: dict[str, str]) -> None:
    stored = requests.get(topic.topic_id)
    if stored and stored != topic.request:
        raise BrokenLine(
            f"The topic “{topic.topic_id}” is already there with another request.", "Give the new one its own id."
        )
    if stored:
        rows.imported.known[rows.topics.names] += 1
        return
    rows.add(number, topic)
    requests[topic.topic_id] = topic.request


def _add_passages(rows: CollectionRows, number: int, passages: Sequence[PassageLine]) -> None:
    ids = [passage.passage_id for passage in passages]
    stored = Passage.objects.filter(collection=rows.collection, passage_id__in=ids)
    hashes = dict(stored.values_list("passage_id", "text_sha256"))
    for passage in passages:
        found = hashes.get(passage.passage_id)
        if not found:
            rows.add(number, passage)
        elif passage.text is not None and found != text_hash(passage.text):
            raise BrokenLine(f"The passage “{passage.passage_id}” is already there with another text.", CHANGED_TEXT)
        else:
            rows.imported.known[rows.passages.names] += 1


def _what_else_it_says(file: InputFile) -> dict[str, Any]:
    """Return the run's attributes: what lines and candidates say besides, and how the first document is spelled.

    The file is read once for this alone: the run stands before its rankings. What is broken is told by the second
    reading.
    """
    lines: dict[str, Any] = {}
    candidates: dict[str, dict[str, Any]] = {}
    first: Candidate | None = None
    try:
        for _, pool in read_pools(InputFile(file.path, name=file.name)):
            first = first or next((one for one in pool.candidates if one.passage), None)
            _note(pool, lines, candidates)
    except BrokenFile:
        return {}
    spelling = first.spelling if first else Spelling()
    return {"pool": {"text": spelling.text, "docno": spelling.docno, "lines": lines, "candidates": candidates}}


def _note(pool: Pool, lines: dict[str, Any], candidates: dict[str, dict[str, Any]]) -> None:
    if pool.rest:
        lines[pool.topic.topic_id] = pool.rest
    if besides := {one.docno: one.rest for one in pool.candidates if one.rest}:
        candidates[pool.topic.topic_id] = besides
