"""Nugget support (TREC RAG): how far a text says each nugget of its topic, and how much the nugget matters."""

from __future__ import annotations

from collections.abc import Container

from annotate.frames.scope import framed_reports
from annotate.task_types.missing_texts import left_out_of_pool
from annotate.task_types.rules import TaskTypeRules, every_item
from annotate.task_types.texts import NothingToJudge, Text, elements_of, pool_of, text_with_elements
from collection.models import Highlight, RubricElement, Study
from collection.models.studies import TaskType

REPORTS, PASSAGES = "reports", "passages"


def texts_with_nuggets(study: Study) -> list[Text]:
    """Every report on a topic with nuggets, or every passage of its pool, as the study's `nuggets_in` says."""
    nuggets = elements_of(study.collection, RubricElement.Kind.NUGGET)
    if study.nuggets_in == PASSAGES:
        texts = [
            text_with_elements(
                TaskType.NUGGET,
                pooled.topic,
                pooled.topic_id,
                pooled.passage_id,
                nuggets[pooled.topic],
                passage=pooled.passage,
                system=pooled.system,
                rank=pooled.rank,
            )
            for pooled in pool_of(study)
            if pooled.topic in nuggets
        ]
    else:
        reports = framed_reports(study).filter(topic__in=nuggets)
        parts = ("pk", "topic__pk", "topic__topic_id", "run__name", "run__system__name")
        texts = [
            text_with_elements(TaskType.NUGGET, topic, topic_id, run, nuggets[topic], report=pk, system=system)
            for pk, topic, topic_id, run, system in reports.order_by("topic", "run__name").values_list(*parts)
        ]
    if not texts:
        wanted = "ranked passage with its text" if study.nuggets_in == PASSAGES else "report"
        raise NothingToJudge(
            f"“{study.collection}” has no {wanted} on a topic with nuggets, so nobody can be asked what supports "
            "them. Import nuggets and such texts, or leave out the task type “nugget support”."
        )
    return texts


def left_out_of(study: Study, topics: Container[int]) -> str:
    """Say how many passages cannot be asked about, where passages are."""
    if study.nuggets_in != PASSAGES:
        return ""
    return left_out_of_pool(study, topics, about=RubricElement.Kind.NUGGET)


RULES = TaskTypeRules(
    task_type=TaskType.NUGGET,
    summary="For each report (or passage) and nugget: does the text say it, and must a good answer say it?",
    texts_are="texts",
    texts_of=texts_with_nuggets,
    left_out_of=left_out_of,
    draw_items=every_item,
    purpose=Highlight.Purpose.SUPPORT,
    said_once=("importance",),
    topic_after_topic=True,
)
