"""How much of each run's ranking the labels cover."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set

from collection.models import Collection
from collection.rankings import read_rankings
from stats.qrels import Unjudged, find_unjudged


def measure_unjudged(collection: Collection, judged: Mapping[str, Set[str]], *, k: int) -> tuple[Unjudged, ...]:
    """Return the holes in the top k of every run of the collection that ranks passages, by name of the run."""
    runs = dict(collection.runs.values_list("pk", "name"))
    topics = dict(collection.topics.values_list("pk", "topic_id"))
    top: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for ranking in read_rankings(collection, depth=k):
        top[runs[ranking.run]][topics[ranking.topic]] = ranking.docnos
    return tuple(find_unjudged(run, of_topics, judged, k=k) for run, of_topics in sorted(top.items()))
