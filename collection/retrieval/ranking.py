"""Ranks a collection's passages for its topics by BM25, and keeps the ranking as a run.

Passages are read one by one; what stays in memory of each is a few bytes. Nothing is written before all is ranked.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import transaction

from collection.judgments.bulk import insert_rows
from collection.models import Collection, Passage, RankedPassage, Retrieval, Run, System, Topic
from collection.retrieval.bm25 import Bm25Index, Scores, Weighting, Windows, first
from collection.retrieval.serializers import PARTS
from stats.refusals import Refused

Advance = Callable[[int], object]
STEP = 500
# Passages of each part of a request that are ranked together (LONG²RAG, section 3.2).
DEPTH_OF_PARTS = 5
COLUMNS = ("run", "topic", "passage_id", "rank", "score")


class NothingToRank(Refused):
    """The collection has no topic with a query, or no passage with a text."""


class RunExists(Refused):
    """The collection has a run of this name."""


@dataclass
class Ranked:
    """For each topic, by primary key, its best passages by primary key with their scores; and how it was made."""

    topics: list[tuple[int, array[int], Scores]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    made_with: dict[str, Any] = field(default_factory=dict)


def check(collection: Collection, run: str, query: str) -> None:
    """Raise RunExists, or NothingToRank, before anybody waits."""
    if Run.objects.filter(collection=collection, name=run).exists():
        raise RunExists(f"The collection has a run “{run}” already. Choose another name.")
    if not queries_of(collection, query)[0]:
        raise NothingToRank("No topic has what is to be searched for. Import topics with their requests first.")
    if not with_texts(collection).exists():
        raise NothingToRank("No passage has a text. Import passages, or fetch their texts, first.")


def with_texts(collection: Collection) -> Any:
    return Passage.objects.filter(collection=collection, text__isnull=False)


def queries_of(collection: Collection, query: str) -> tuple[list[tuple[int, str]], int]:
    """Return each topic's primary key with its query, and how many topics have none."""
    found = [(topic.pk, query_of(topic, query)) for topic in collection.topics.all()]
    asked = [(pk, text) for pk, text in found if text.strip()]
    return asked, len(found) - len(asked)


def query_of(topic: Topic, query: str) -> str:
    match query:
        case "title":
            return topic.title
        case "title_and_request":
            return f"{topic.title}\n{topic.request}"
        case "request_and_background":
            return f"{topic.request}\n{topic.background}"
    return topic.request


def parts_of(collection: Collection, query: str) -> dict[int, list[str]]:
    """Return the shorter questions of each topic that has some, where they are what is searched for."""
    if query != PARTS:
        return {}
    said = {topic.pk: topic.attributes.get("sub_questions") for topic in collection.topics.all()}
    listed = {pk: parts for pk, parts in said.items() if isinstance(parts, list)}
    texts = {pk: [one for one in parts if isinstance(one, str) and one.strip()] for pk, parts in listed.items()}
    return {pk: parts for pk, parts in texts.items() if parts}


def rank_by_bm25(collection: Collection, options: dict[str, Any], advance: Advance) -> Ranked:
    """Rank the passages for every topic. `advance` is told of each step, and may raise to end it all."""
    topics, unasked = queries_of(collection, options["query"])
    weighting = Weighting(**{name: options[name] for name in Weighting.__dataclass_fields__})
    parts = parts_of(collection, options["query"])
    of_parts = [(topic, text) for topic, _ in topics for text in parts.get(topic, ())]
    index = Bm25Index([text for _, text in (*topics, *of_parts)], weighting, windows_of(options))
    pks, texts = array("q"), hashlib.sha256()
    for pk, docno, title, text, sha256 in in_order(collection):
        index.add(title, text)
        pks.append(pk)
        texts.update(f"{docno}\0{title}\0{sha256}\n".encode("utf-8", "surrogatepass"))
        if len(pks) % STEP == 0:
            advance(STEP)
    advance(len(pks) % STEP)
    index.close(advance)
    ranked = Ranked()
    for number, (topic, _) in enumerate(topics):
        scores = index.scores(number)
        if topic in parts:
            of_topic = [len(topics) + place for place, (pk, _) in enumerate(of_parts) if pk == topic]
            scores = of_those(scores, [first(index.scores(part), DEPTH_OF_PARTS) for part in of_topic])
        places = first(scores, options["depth"])
        ranked.topics.append((topic, array("q", (pks[place] for place in places)), scores[places]))
        advance(0)
    ranked.counts = counts_of(collection, ranked, n=len(pks), windows=index.n_windows, unasked=unasked)
    ranked.made_with = {"library": f"bm25s {version('bm25s')}", "texts_sha256": texts.hexdigest()}
    return ranked


def of_those(scores: Scores, found: Sequence[npt.NDArray[np.intp]]) -> Scores:
    """Return the scores of the places that were found, and 0 for all others."""
    kept = np.zeros_like(scores)
    for places in found:
        kept[places] = scores[places]
    return kept


def windows_of(options: dict[str, Any]) -> Windows:
    words = options["window"]
    return Windows(words, options["stride"] or -(-words // 2))


def in_order(collection: Collection) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield the passages that have a text, by docno."""
    columns = ("pk", "passage_id", "title", "text", "text_sha256")
    yield from with_texts(collection).order_by("passage_id").values_list(*columns).iterator(chunk_size=STEP)


def counts_of(collection: Collection, ranked: Ranked, *, n: int, windows: int, unasked: int) -> dict[str, int]:
    return {
        "passages": n,
        "without_text": Passage.objects.filter(collection=collection, text__isnull=True).count(),
        "windows": windows,
        "topics": len(ranked.topics),
        "topics_without_query": unasked,
        "topics_without_hits": sum(not len(pks) for _, pks, _ in ranked.topics),
        "lines": sum(len(pks) for _, pks, _ in ranked.topics),
    }


@transaction.atomic
def keep_run(retrieval: Retrieval, ranked: Ranked, *, system: str, at: datetime) -> Run:
    """Store the ranking as a run, with how it was made. Raises RunExists."""
    collection, name = retrieval.collection, retrieval.run_name
    if Run.objects.filter(collection=collection, name=name).exists():
        raise RunExists(f"The collection has a run “{name}” by now. Choose another name.")
    made_by, _ = System.objects.get_or_create(collection=collection, name=system or name)
    making = {"method": retrieval.method, **retrieval.options, **ranked.made_with, **ranked.counts}
    attributes = {"retrieval": {**making, "made_at": at.isoformat()}}
    run = Run.objects.create(collection=collection, system=made_by, name=name, attributes=attributes)
    for topic, pks, scores in ranked.topics:
        # Whole lists: while rows are on their way to PostgreSQL, its connection answers no other question.
        insert_rows(RankedPassage, COLUMNS, _lines(run, topic, pks, scores))
    return run


def _lines(run: Run, topic: int, pks: array[int], scores: Scores) -> list[tuple[Any, ...]]:
    docnos = dict(Passage.objects.filter(pk__in=list(pks)).values_list("pk", "passage_id"))
    scored = [(float(score), docnos[pk]) for pk, score in zip(pks, scores, strict=True) if pk in docnos]
    ordered = sorted(scored, reverse=True)  # ties as trec_eval has them
    return [(run.pk, topic, docno, rank, score) for rank, (score, docno) in enumerate(ordered, start=1)]
