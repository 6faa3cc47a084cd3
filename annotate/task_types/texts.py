"""The texts that task types ask about: what is drawn for people, and what one task shows.

A text is a report, a passage under a topic, or all answers to one topic. Each task type names the
function that finds its texts in a collection.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import QuerySet

from annotate.frames.frame import BY_GRADES, OF_ONE_RUN, frame_of
from annotate.frames.passages import passages_by_grades
from annotate.frames.scope import framed_reports, framed_runs
from collection.banks.versions import dropped_elements
from collection.models import Collection, ElementSpan, RubricElement, Run, Study, Topic
from collection.models.studies import TaskType
from collection.rankings import read_rankings
from collection.texts.cited_reports import CitedReport, cited_reports_of
from collection.texts.evidence import held_passages

DEFAULT_DEPTH = 10


class NothingToJudge(Exception):
    """The collection holds nothing that this task type could ask about."""


@dataclass(frozen=True)
class NewItem:
    """An item before it is stored: what a text is asked about. Numbers are primary keys."""

    task_type: str
    item_id: str
    element: int | None = None
    report: int | None = None
    passage: int | None = None
    other_report: int | None = None
    sentence: int | None = None


@dataclass(frozen=True, eq=False)
class Text:
    """A text with the items asked about it. `after` is the report whose sub-questions come first.

    Where neither `report` nor `passage` is set the task shows the texts of its items. `system` and `rank`
    tell samples whose text it is and how high its run ranks it. Of a report drawn in parts, each `is_part` is a text;
    one task asks all those that were drawn.
    """

    task_type: str
    topic: int
    topic_id: str
    name: str
    items: tuple[NewItem, ...] = field(repr=False)
    report: int | None = None
    passage: int | None = None
    after: int | None = None
    system: str = ""
    rank: int | None = None
    is_part: bool = False


def text_with_elements(
    task_type: str,
    topic: int,
    topic_id: str,
    name: str,
    elements: Iterable[tuple[int, str]],
    *,
    report: int | None = None,
    passage: int | None = None,
    after: int | None = None,
    system: str = "",
    rank: int | None = None,
) -> Text:
    """Return a text that is asked about rubric elements, given as (primary key, element_id)."""
    items = tuple(
        NewItem(task_type, f"{task_type}/{topic_id}/{name}/{element_id}", element, report, passage)
        for element, element_id in elements
    )
    return Text(task_type, topic, topic_id, name, items, report, passage, after, system, rank)


def reports_of(study: Study) -> list[Text]:
    """Every report on a topic with sub-questions."""
    collection = study.collection
    questions = elements_of(collection, RubricElement.Kind.SUB_QUESTION)
    rows = (
        framed_reports(study)
        .filter(topic__in=questions)
        .order_by("topic", "run__name")
        .values_list("pk", "topic__pk", "topic__topic_id", "run__name", "run__system__name")
    )
    texts = [
        text_with_elements(TaskType.ANSWERABILITY, topic, topic_id, run, questions[topic], report=pk, system=system)
        for pk, topic, topic_id, run, system in rows
    ]
    if not texts:
        raise NothingToJudge(
            f"“{collection}” has no report on a topic with sub-questions, so nobody can be asked what a report "
            "answers. Import reports for its topics, or leave out the task type “answerability of a report”."
        )
    return texts


def ranked_passages_of(study: Study) -> list[Text]:
    """The pool of the topics with sub-questions, each passage with them.

    They wait for their reports where the study asks about those too.
    """
    collection = study.collection
    questions = elements_of(collection, RubricElement.Kind.SUB_QUESTION)
    reports: dict[tuple[int, int], int] = {}
    if study.criteria.filter(task_type=TaskType.ANSWERABILITY).exists():
        rows = framed_reports(study).values_list("run__pk", "topic__pk", "pk")
        reports = {(run, topic): pk for run, topic, pk in rows}
    texts = [
        text_with_elements(
            TaskType.RATING,
            pooled.topic,
            pooled.topic_id,
            pooled.passage_id,
            questions[pooled.topic],
            passage=pooled.passage,
            after=reports.get((pooled.run, pooled.topic)),
            system=pooled.system,
            rank=pooled.rank,
        )
        for pooled in pool_of(study)
        if pooled.topic in questions
    ]
    if not texts:
        raise NothingToJudge(
            f"“{collection}” has no ranked passage with its text on a topic with sub-questions, so there is nothing "
            "to rate. Import a run and the passages that it ranks, or leave out the task type “rating of a passage”."
        )
    return texts


@dataclass(frozen=True)
class Pooled:
    """A passage of a topic's pool, with the run (0: none) that ranks it best and its place there, from 1."""

    topic: int
    topic_id: str
    passage: int
    passage_id: str
    run: int
    system: str
    rank: int


def pool_of(study: Study) -> list[Pooled]:
    """The passages of rankings that the study's frame chooses and that are held with their text, each once per topic.

    Of the frame's runs, or of the one whose passages it names, the first `depth`; of a context all; or those that
    grades choose, ranked or not. Rankings are those of leaderboards: by score, whatever number their ranks begin with.
    By topic and best place. A passage that two runs place equally belongs to the first by name.
    """
    named = named_passages(study)
    passages = held_passages(study.collection, {one.docno for one in named})
    topics = dict(Topic.objects.filter(collection=study.collection).values_list("pk", "topic_id"))
    systems = dict(Run.objects.filter(collection=study.collection).values_list("pk", "system__name"))
    pool: dict[tuple[int, str], Pooled] = {}
    for one in sorted(named):
        if one.docno in passages and (one.topic, one.docno) not in pool:
            system = systems[one.run] if one.run else ""
            passage = passages[one.docno]
            pool[one.topic, one.docno] = Pooled(
                one.topic, topics[one.topic], passage, one.docno, one.run, system, one.place
            )
    return list(pool.values())


class NamedPassage(NamedTuple):
    """A passage that a ranking (or a grade: no run, 0) names for a topic, with its place; its text may not be here."""

    topic: int
    place: int
    run_name: str
    run: int
    docno: str


def named_passages(study: Study) -> list[NamedPassage]:
    """Return what the rankings and grades of the study's frame name, each as often as they name it."""
    collection, frame = study.collection, frame_of(study)
    chosen = passages_by_grades(frame, collection) if frame.passages in BY_GRADES else None
    whole = frame.passages == "context" or chosen is not None
    listed = Run.objects.filter(collection=collection, name=frame.passages_of)
    of_runs = listed if frame.passages in OF_ONE_RUN else framed_runs(study)
    runs = dict(of_runs.values_list("pk", "name"))
    ranked = [
        NamedPassage(ranking.topic, place, runs[ranking.run], ranking.run, docno)
        for ranking in read_rankings(collection, depth=None if whole else study.depth or DEFAULT_DEPTH)
        if ranking.run in runs
        for place, docno in enumerate(ranking.docnos, start=1)
    ]
    if chosen is not None:
        wanted = set(chosen)
        ranked = [one for one in ranked if (one.topic, one.docno) in wanted]
        last = 1 + max((one.place for one in ranked), default=0)
        unranked = wanted - {(one.topic, one.docno) for one in ranked}
        ranked += [NamedPassage(topic, last, "", 0, docno) for topic, docno in unranked]
    return ranked


def cited_reports_in(study: Study) -> list[CitedReport]:
    """Return the reports of the frame's runs that cite at least one document, by topic and run."""
    if frame_of(study).runs == "all":
        return cited_reports_of(study.collection)
    return cited_reports_of(study.collection, reports=list(framed_reports(study).values_list("pk", flat=True)))


def cited_pool_of(study: Study) -> list[Pooled]:
    """The passages that reports cite for a topic and that are held with their text, each once, in citing order.

    The place of a passage is the first at which a report cites it: 1 for the first document that the report names.
    """
    pool: dict[tuple[int, int], Pooled] = {}
    runs = dict(Run.objects.filter(collection=study.collection).values_list("name", "pk"))
    for report in cited_reports_in(study):
        cited = dict.fromkeys(cited for sentence in report.sentences for cited in sentence.citations)
        for place, one in enumerate(cited, start=1):
            if one.passage is None:
                continue
            found = pool.get((report.topic, one.passage))
            if found is None or place < found.rank:
                whose = (runs[report.run], report.system, place)
                pool[report.topic, one.passage] = Pooled(report.topic, report.topic_id, one.passage, one.docno, *whose)
    return list(pool.values())


def key_point_passages_of(study: Study) -> list[Text]:
    """Every passage from which key points were taken."""
    collection = study.collection
    spans = (
        spans_of_key_points(collection)
        .filter(passage__text__isnull=False)
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
            f"“{collection}” has no key point with its span in a document. Import key points with their spans, "
            "or leave out the task type “key point”."
        )
    return [
        text_with_elements(TaskType.KEY_POINT, topic, topic_id, name, asked, passage=passage)
        for (topic, topic_id, passage, name), asked in elements.items()
    ]


def spans_of_key_points(collection: Collection) -> QuerySet[ElementSpan]:
    """Where the questions' key points stand, in passages with and without a text here; not the answers' own."""
    key_points = ElementSpan.objects.filter(
        element__topic__collection=collection, element__kind=RubricElement.Kind.KEY_POINT, element__masked=False
    )
    return key_points.exclude(element__attributes__has_key="run")


def elements_of(collection: Collection, kind: RubricElement.Kind) -> dict[int, tuple[tuple[int, str], ...]]:
    """Return the rubric elements of this kind that are asked, as (primary key, element_id), by topic.

    Neither the masked ones nor those that the newest version of their bank no longer holds.
    """
    asked: dict[int, list[tuple[int, str]]] = defaultdict(list)
    rows = RubricElement.objects.filter(topic__collection=collection, kind=kind, masked=False)
    rows = rows.exclude(pk__in=dropped_elements(collection))
    for topic, pk, element_id in rows.order_by("topic", "position").values_list("topic__pk", "pk", "element_id"):
        asked[topic].append((pk, element_id))
    return {topic: tuple(elements) for topic, elements in asked.items()}
