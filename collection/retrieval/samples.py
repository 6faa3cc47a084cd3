"""Contexts at random: runs made of another run, each of passages drawn from the first ones of its rankings.

They tell how far measures of contexts and of the reports made from them agree where quality varies. Source: Ju et al.,
CRUX (2025), Figure 5: 16 contexts a retriever, each 10 passages of the first 50.
"""

from __future__ import annotations

from datetime import datetime
from random import Random
from typing import Any

from django.db import transaction

from collection.judgments.bulk import insert_rows
from collection.models import Collection, RankedPassage, Run, System
from collection.rankings import read_ranking_of
from collection.retrieval.ranking import COLUMNS, NothingToRank, RunExists


@transaction.atomic
def sample_contexts(
    *, collection: Collection, run: str, passages: int, top: int, contexts: int, seed: int, at: datetime
) -> list[Run]:
    """Make so many runs of so many passages each, drawn without replacement from the first `top` of a run's rankings.

    They are called “RUN-sample-1” and so on, and stand in the run's order. A topic that ranks no more than `passages`
    gives all it has. Which passages are drawn depends on the seed, the name of the run, the context's number and the
    topic alone, so that more contexts of the same seed begin with the same ones. Raises RunExists and NothingToRank.
    """
    source = Run.objects.filter(collection=collection, name=run).first()
    if source is None:
        raise NothingToRank(f"The collection has no run “{run}”. Choose one that ranks passages.")
    rankings = {topic: docnos[:top] for topic, docnos in read_ranking_of(source).items()}
    if not any(len(docnos) > passages for docnos in rankings.values()):
        raise NothingToRank(
            f"“{run}” ranks no more than {passages:,} passages for any topic among its first {top:,}: all contexts "
            "would be the same. Ask for fewer passages, or choose a deeper run."
        )
    names = [f"{run}-sample-{number}" for number in range(1, contexts + 1)]
    if taken := Run.objects.filter(collection=collection, name__in=names).order_by("pk").first():
        raise RunExists(f"The collection has a run “{taken.name}” already: these contexts were drawn before.")
    topics = dict(collection.topics.filter(pk__in=list(rankings)).values_list("pk", "topic_id"))
    asked: dict[str, Any] = {"of": run, "passages": passages, "top": top, "seed": seed}
    return [
        _make(source, name, asked | {"number": number, "made_at": at.isoformat()}, rankings, topics)
        for number, name in enumerate(names, start=1)
    ]


def _make(source: Run, name: str, asked: dict[str, Any], rankings: dict[int, list[str]], topics: dict[int, str]) -> Run:
    system, _ = System.objects.get_or_create(collection=source.collection, name=name)
    attributes = {"retriever": source.name, "sample": asked}
    made = Run.objects.create(
        collection=source.collection, system=system, name=name, made_from=source, attributes=attributes
    )
    lines: list[tuple[Any, ...]] = []
    for topic, docnos in rankings.items():
        chance = Random(f"{asked['seed']}/{source.name}/{asked['number']}/{topics[topic]}")  # noqa: S311 - a seed shall draw the same again
        drawn = set(chance.sample(range(len(docnos)), min(asked["passages"], len(docnos))))
        kept = [docno for place, docno in enumerate(docnos) if place in drawn]
        lines += [(made.pk, topic, docno, rank, 1 / rank) for rank, docno in enumerate(kept, start=1)]
    insert_rows(RankedPassage, COLUMNS, lines)
    return made
