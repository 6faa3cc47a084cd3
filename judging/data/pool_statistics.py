"""What BM25 knows of a study's pool: the passages that it asks the relevance of."""

from __future__ import annotations

from functools import lru_cache

from django.db.models import Max

from collection.models import Item, Passage, Topic
from collection.models.studies import TaskType
from collection.retrieval.bm25_of_one_text import PoolStatistics, statistics_of
from judging.engines.lexical import words_in


def pool_statistics(study_id: int) -> PoolStatistics:
    """Return the statistics of the study's pool, counted once a process and again when items were added to it."""
    newest = Item.objects.filter(study=study_id, task_type=TaskType.RELEVANCE).aggregate(pk=Max("pk"))["pk"]
    return counted(study_id, newest or 0)


@lru_cache(maxsize=8)
def counted(study_id: int, newest: int) -> PoolStatistics:
    """Count the pool of a study, up to its newest item."""
    asked = Item.objects.filter(study=study_id, task_type=TaskType.RELEVANCE, pk__lte=newest)
    texts = Passage.objects.filter(pk__in=asked.values("passage"), text__isnull=False).order_by()
    requests = Topic.objects.filter(pk__in=asked.values("topic")).values_list("request", flat=True)
    return statistics_of(
        (text or "" for text in texts.values_list("text", flat=True).iterator(chunk_size=2_000)),
        requests,
        words_in=words_in,
    )
