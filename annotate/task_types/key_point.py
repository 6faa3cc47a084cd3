"""Key points (LONG²RAG): verified in the documents they were taken from, or looked for in answers and documents.

Verification asks whether the document says the point and, only then, whether it belongs in an answer. What answers say
is asked of each report with the question's key points, and of each document with the answers' own. Where a report does
not say a point, a study can ask besides how it misses it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator

from django.db.models import Q, QuerySet

from annotate.frames.frame import Frame, frame_of
from annotate.frames.scope import framed_reports
from annotate.task_types.missing_texts import held_in_pool, in_words
from annotate.task_types.rules import TaskTypeRules, every_item
from annotate.task_types.texts import (
    NothingToJudge,
    Text,
    key_point_passages_of,
    pool_of,
    spans_of_key_points,
    text_with_elements,
)
from collection.models import Collection, ElementSpan, RubricElement, Study
from collection.models.studies import TaskType

DOCUMENTS, ANSWERS = "documents", "answers"
WHY_MISSED = "why_missed"
# Why a study of documents cannot ask it.
ONLY_OF_ANSWERS = "How points are missed is asked of reports: look for key points in answers."
# The attribute of a key point that an answer makes: its run.
OWN = "run"
Elements = dict[int, list[tuple[int, str]]]


def left_out_criteria(key_points_in: str, *, why_missed: bool) -> set[str]:
    """Return the names of the criteria that such a study does not ask: answers are not asked for a point's utility."""
    if key_points_in == DOCUMENTS:
        return {WHY_MISSED}
    return {"utility"} if why_missed else {"utility", WHY_MISSED}


def key_points_of(study: Study) -> list[Text]:
    """The texts that the study's `key_points_in` names."""
    if study.key_points_in == ANSWERS:
        return answers_and_documents_of(study)
    return key_point_passages_of(study)


def answers_and_documents_of(study: Study) -> list[Text]:
    """Every report with its question's key points, and every document of a question with the answers' own."""
    asked, own = _key_points(study.collection, frame_of(study))
    texts = [*_reports(study, asked), *_documents(study, own)]
    if not texts:
        raise NothingToJudge(
            f"“{study.collection}” has no report on a question with key points, and no answer’s own key points with "
            "documents to find them in. Import them, or leave out the task type “key point”."
        )
    return texts


def _key_points(collection: Collection, frame: Frame) -> tuple[Elements, Elements]:
    """Return the questions' key points that are not masked, and those of the frame's answers, by topic."""
    asked: Elements = defaultdict(list)
    own: Elements = defaultdict(list)
    elements = RubricElement.objects.filter(
        topic__collection=collection, kind=RubricElement.Kind.KEY_POINT, masked=False
    )
    rows = elements.order_by("topic", "position").values_list("topic__pk", "pk", "element_id", "attributes")
    for topic, pk, element_id, attributes in rows:
        if OWN not in attributes:
            asked[topic].append((pk, element_id))
        elif frame.takes(str(attributes[OWN])):
            own[topic].append((pk, element_id))
    return asked, own


def _reports(study: Study, asked: Elements) -> Iterator[Text]:
    reports = framed_reports(study).filter(topic__in=list(asked)).order_by("topic", "run__name")
    rows = reports.values_list("pk", "topic__pk", "topic__topic_id", "run__name", "run__system__name")
    for pk, topic, topic_id, run, system in rows:
        yield text_with_elements(TaskType.KEY_POINT, topic, topic_id, run, asked[topic], report=pk, system=system)


def _documents(study: Study, own: Elements) -> Iterator[Text]:
    """A question's documents: those its key points were taken from, else its pool; all it has a text of."""
    if not own:
        return
    topics = dict(study.collection.topics.filter(pk__in=list(own)).values_list("pk", "topic_id"))
    found: dict[int, dict[int, str]] = defaultdict(dict)
    spans = ElementSpan.objects.filter(element__topic__in=list(own), passage__text__isnull=False)
    rows = spans.order_by("passage").values_list("element__topic__pk", "passage__pk", "passage__passage_id")
    for topic, passage, name in rows:
        found[topic][passage] = name
    for pooled in pool_of(study):
        if pooled.topic in own and pooled.topic not in found:
            yield text_with_elements(
                TaskType.KEY_POINT,
                pooled.topic,
                pooled.topic_id,
                pooled.passage_id,
                own[pooled.topic],
                passage=pooled.passage,
            )
    for topic, passages in found.items():
        for passage, name in passages.items():
            yield text_with_elements(TaskType.KEY_POINT, topic, topics[topic], name, own[topic], passage=passage)


def left_out_of(study: Study, topics: Container[int]) -> str:
    """Say how many of the documents that key points are looked for in have no text here."""
    if study.key_points_in == ANSWERS:
        _, own = _key_points(study.collection, frame_of(study))
        asked = {topic for topic in own if topic in topics}
        held = _held(ElementSpan.objects.filter(element__topic__in=asked))
        held |= held_in_pool(study, asked - {topic for (topic, _), here in held.items() if here})
    else:
        found = _held(spans_of_key_points(study.collection))
        held = {of: here for of, here in found.items() if of[0] in topics}
    return in_words(held.values(), "documents")


def _held(spans: QuerySet[ElementSpan]) -> dict[tuple[int, str], bool]:
    """Return, for each passage of these, by topic and docno, whether its text is here."""
    told = spans.annotate(here=Q(passage__text__isnull=False))
    rows = told.values_list("element__topic__pk", "passage__passage_id", "here").distinct()
    return {(topic, docno): here for topic, docno, here in rows}


RULES = TaskTypeRules(
    task_type=TaskType.KEY_POINT,
    summary="For each document and key point: does the document say it, and does an answer need it? Or: do answers?",
    texts_are="texts",
    texts_of=key_points_of,
    left_out_of=left_out_of,
    draw_items=every_item,
    follows={"utility": "grounded", WHY_MISSED: "grounded"},
    after_no=(WHY_MISSED,),
)
