"""Graded relevance (TREC): how relevant a passage is to its topic, over the pool of the imported runs."""

from __future__ import annotations

from collections.abc import Container

from annotate.task_types.missing_texts import left_out_of_citations, left_out_of_pool
from annotate.task_types.rules import TaskTypeRules, every_item
from annotate.task_types.texts import NewItem, NothingToJudge, Text, cited_pool_of, pool_of
from collection.models import Highlight, Study
from collection.models.studies import TaskType


def pooled_passages_of(study: Study) -> list[Text]:
    """The pool of every topic, of rankings or of citations; each passage is asked about the topic itself."""
    cites = study.pooled_from == Study.PooledFrom.CITATIONS
    texts = [
        Text(
            TaskType.RELEVANCE,
            pooled.topic,
            pooled.topic_id,
            pooled.passage_id,
            (NewItem(TaskType.RELEVANCE, f"relevance/{pooled.topic_id}/{pooled.passage_id}", passage=pooled.passage),),
            passage=pooled.passage,
            system=pooled.system,
            rank=pooled.rank,
        )
        for pooled in (cited_pool_of(study) if cites else pool_of(study))
    ]
    if not texts and cites:
        raise NothingToJudge(
            f"“{study.collection}” has no cited passage with its text, so there is no pool to judge. Import cited "
            "reports and the passages that they cite, or leave out the task type “relevance of a passage”."
        )
    if not texts:
        raise NothingToJudge(
            f"“{study.collection}” has no ranked passage with its text, so there is no pool to judge. Import runs "
            "and the passages that they rank, or leave out the task type “relevance of a passage”."
        )
    return texts


def left_out_of(study: Study, topics: Container[int]) -> str:
    """Say how many passages of the pool cannot be asked about."""
    cites = study.pooled_from == Study.PooledFrom.CITATIONS
    return (left_out_of_citations if cites else left_out_of_pool)(study, topics)


RULES = TaskTypeRules(
    task_type=TaskType.RELEVANCE,
    summary="For each passage of the pool: how relevant is it to the topic?",
    texts_are="passages",
    texts_of=pooled_passages_of,
    left_out_of=left_out_of,
    draw_items=every_item,
    purpose=Highlight.Purpose.RATIONALE,
)
