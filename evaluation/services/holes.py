"""How much of each run's ranking the labels cover."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set

from django.db.models import F, Window
from django.db.models.functions import Rank

from collection.models import Collection, RankedPassage
from evaluation.qrels import Holes, by_score, find_holes


def measure_holes(collection: Collection, judged: Mapping[str, Set[str]], *, k: int) -> tuple[Holes, ...]:
    """Return the holes in the top k of every run of the collection that ranks passages, by name of the run."""
    place = Window(Rank(), partition_by=[F("run"), F("topic")], order_by=F("score").desc())
    # Ties at k bring more than k; by_score and find_holes cut them as trec_eval would.
    top = RankedPassage.objects.filter(run__collection=collection).annotate(place=place).filter(place__lte=k)
    scores: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for run, topic, docno, score in top.values_list("run__name", "topic__topic_id", "passage_id", "score").iterator():
        scores[run][topic][docno] = score
    return tuple(
        find_holes(run, {topic: by_score(found) for topic, found in topics.items()}, judged, k=k)
        for run, topics in sorted(scores.items())
    )
