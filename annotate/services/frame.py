"""What a study can ask about: the texts of its collection, by task type, with the elements asked about each.

A text (a report, or a passage under a topic) is what is drawn for people and what one task shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from collection.models import Collection, ElementSpan, Passage, RankedPassage, Report, RubricElement, Study
from collection.models.studies import TaskType
from collection.task_types import TASK_TYPES

DEFAULT_DEPTH = 10


class NothingToJudge(Exception):
    """The collection holds nothing that this task type could ask about."""


@dataclass(frozen=True, eq=False)
class Text:
    """A text with what is asked about it. `after` is the report whose sub-questions come first."""

    task_type: TaskType
    topic: int
    topic_id: str
    name: str
    elements: tuple[tuple[int, str], ...]
    report: int | None = None
    passage: int | None = None
    after: int | None = None


@dataclass(frozen=True)
class Forecast:
    """What opening the study would ask under a task type, or why it cannot ask."""

    task_type: TaskType
    texts: int = 0
    items: int = 0
    drawn: int = 0
    problem: str = ""


def forecast_of(study: Study) -> list[Forecast]:
    """Count what a draft would ask if it were opened now, without making anything."""
    task_types = task_types_of(study)
    return [forecast_of_task_type(study, task_type, task_types) for task_type in task_types]


def forecast_of_task_type(study: Study, task_type: TaskType, task_types: Sequence[TaskType]) -> Forecast:
    try:
        texts = texts_of(study, task_type, task_types)
    except NothingToJudge as nothing:
        return Forecast(task_type, problem=str(nothing))
    size = study.attributes.get("sample_sizes", {}).get(task_type.value, len(texts))
    items = sum(len(text.elements) for text in texts)
    return Forecast(task_type, texts=len(texts), items=items, drawn=min(size, len(texts)))


def task_types_of(study: Study) -> list[TaskType]:
    """Return the task types that people are asked, in the order of their criteria.

    A criterion of another task type (relevance, from imported qrels) has judgments but no tasks.
    """
    names = study.criteria.order_by("position", "pk").values_list("task_type", flat=True)
    return [TaskType(name) for name in dict.fromkeys(names) if name in TASK_TYPES]


def texts_of(study: Study, task_type: TaskType, task_types: Sequence[TaskType]) -> list[Text]:
    """Return every text that the task type may ask about, in the collection's order. Raises NothingToJudge."""
    if task_type == TaskType.ANSWERABILITY:
        return reports_of(study.collection)
    if task_type == TaskType.RATING:
        depth = study.attributes.get("depth", DEFAULT_DEPTH)
        return ranked_passages_of(study.collection, depth=depth, after_reports=TaskType.ANSWERABILITY in task_types)
    return key_point_passages_of(study.collection)


def reports_of(collection: Collection) -> list[Text]:
    questions = sub_questions_of(collection)
    rows = (
        Report.objects.filter(run__collection=collection, topic__in=questions)
        .order_by("topic", "run__name")
        .values_list("pk", "topic__pk", "topic__topic_id", "run__name")
    )
    texts = [
        Text(TaskType.ANSWERABILITY, topic, topic_id, run, questions[topic], report=pk)
        for pk, topic, topic_id, run in rows
    ]
    if not texts:
        raise NothingToJudge(
            f"“{collection}” holds no report on a topic with sub-questions, so nobody can be asked what a report "
            "answers. Import reports for its topics, or leave out the task type “answerability of a report”."
        )
    return texts


def ranked_passages_of(collection: Collection, *, depth: int, after_reports: bool) -> list[Text]:
    """Return the first `depth` passages of every ranking, each once per topic, the best rank of any run first."""
    questions = sub_questions_of(collection)
    ranking = RankedPassage.objects.filter(run__collection=collection, topic__in=questions, rank__lte=depth)
    passages = dict(
        Passage.objects.filter(collection=collection, text__isnull=False, passage_id__in=ranking.values("passage_id"))
        .exclude(text="")
        .values_list("passage_id", "pk")
    )
    reports: dict[tuple[int, int], int] = {}
    if after_reports:
        rows = Report.objects.filter(run__collection=collection).values_list("run__pk", "topic__pk", "pk")
        reports = {(run, topic): pk for run, topic, pk in rows}
    texts: dict[tuple[int, str], Text] = {}
    for topic, topic_id, run, name in ranking.order_by("topic", "rank", "run__name").values_list(
        "topic__pk", "topic__topic_id", "run__pk", "passage_id"
    ):
        if name in passages and (topic, name) not in texts:
            texts[topic, name] = Text(
                TaskType.RATING,
                topic,
                topic_id,
                name,
                questions[topic],
                passage=passages[name],
                after=reports.get((run, topic)),
            )
    if not texts:
        raise NothingToJudge(
            f"“{collection}” holds no ranked passage with its text on a topic with sub-questions, so there is nothing "
            "to rate. Import a run and the passages that it ranks, or leave out the task type “rating of a passage”."
        )
    return list(texts.values())


def key_point_passages_of(collection: Collection) -> list[Text]:
    spans = (
        ElementSpan.objects.filter(
            element__topic__collection=collection,
            element__kind=RubricElement.Kind.KEY_POINT,
            element__masked=False,
            passage__text__isnull=False,
        )
        .order_by("element__topic", "passage", "element__position")
        .values_list(
            "element__topic__pk",
            "element__topic__topic_id",
            "passage__pk",
            "passage__passage_id",
            "element__pk",
            "element__element_id",
        )
        .distinct()
    )
    elements: dict[tuple[int, str, int, str], list[tuple[int, str]]] = defaultdict(list)
    for topic, topic_id, passage, name, element, element_id in spans:
        elements[topic, topic_id, passage, name].append((element, element_id))
    if not elements:
        raise NothingToJudge(
            f"“{collection}” holds no key point with its span in a document. Import key points with their spans, "
            "or leave out the task type “key point”."
        )
    return [
        Text(TaskType.KEY_POINT, topic, topic_id, name, tuple(asked), passage=passage)
        for (topic, topic_id, passage, name), asked in elements.items()
    ]


def sub_questions_of(collection: Collection) -> dict[int, tuple[tuple[int, str], ...]]:
    """Return the sub-questions that are asked, by topic."""
    asked: dict[int, list[tuple[int, str]]] = defaultdict(list)
    rows = RubricElement.objects.filter(
        topic__collection=collection, kind=RubricElement.Kind.SUB_QUESTION, masked=False
    ).order_by("topic", "position")
    for topic, pk, element_id in rows.values_list("topic__pk", "pk", "element_id"):
        asked[topic].append((pk, element_id))
    return {topic: tuple(elements) for topic, elements in asked.items()}
