"""One sentence on what a run made here would rank."""

from __future__ import annotations

from collection.models import Collection, Passage
from collection.retrieval.ranking import queries_of, with_texts
from stats.plurals import counted


def what_is_ranked(collection: Collection) -> str:
    """Return how many passages a run would rank for how many topics, and what is left out."""
    n = with_texts(collection).count()
    lacking = Passage.objects.filter(collection=collection).count() - n
    topics, unasked = queries_of(collection, "request")
    if not n or not topics:
        lack = "passage has a text" if topics else "topic has a request"
        return f"There is nothing to rank: no {lack}."
    said = f"A run made here ranks {counted(n, 'passages')} for {counted(len(topics), 'topics')}."
    left_out = [counted(lacking, "passages") + " without a text"] if lacking else []
    left_out += [counted(unasked, "topics") + " without a request"] if unasked else []
    return f"{said} Left out: {' and '.join(left_out)}." if left_out else said
