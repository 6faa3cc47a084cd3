"""Nugget banks as the tracks exchange them, and which nuggets answers support by one rater."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.db.models import QuerySet

from collection.banks.changes import CREATOR
from collection.banks.versions import newest_versions
from collection.formats.nugget_banks import (
    FAILED,
    FORMS,
    OURS,
    QUESTION,
    Answer,
    AssignedAnswer,
    BankTopic,
    Form,
    Nugget,
    Reference,
    written_assignment,
    written_topic,
)
from collection.formats.offsets import counted_as
from collection.judgments.unaided import as_said_unaided
from collection.models import (
    BankEntry,
    BankVersion,
    Criterion,
    Judgment,
    NuggetAnswer,
    NuggetReference,
    Passage,
    Rater,
    Report,
    Split,
    Topic,
)
from collection.models.studies import TaskType
from stats.measures.nuggets import AssignedNugget, nugget_scores, support_of

CHUNK = 50
NATURAL: Form = "autonuggetizer"
GRADES = {"support": 2.0, "partial_support": 1.0, "not_support": 0.0}


class NeedsOneTopic(ValueError):
    """The short form does not name its topic, so a file has one topic."""


class HeldOut(ValueError):
    """Scores of a judge on topics that are held out are read on the leaderboard alone, where it is counted."""


def exported_bank(version: BankVersion, *, form: Form | None = None, topic: str = "") -> Iterator[str]:
    """Return a line for each topic of the version: in the form that it came in, or in `form`; of one `topic` alone.

    What a file said besides is written where the form is the one that it came in. Raises NeedsOneTopic.
    """
    topics = Topic.objects.filter(rubric_elements__bank_entries__version=version).distinct().order_by("pk")
    chosen = topics.filter(topic_id=topic) if topic else topics
    names = list(chosen.values_list("topic_id", flat=True))
    is_short = form == "short" or (form is None and any(said_of(version, one).get("form") == "short" for one in names))
    if is_short and len(names) > 1:
        raise NeedsOneTopic("The short form does not name its topic: choose one topic, or another form.")
    return _lines(version, chosen, form)


def _lines(version: BankVersion, topics: QuerySet[Topic], form: Form | None) -> Iterator[str]:
    for one in topics.iterator(CHUNK):
        yield json.dumps(written_topic(bank_topic(version, one, form=form)), ensure_ascii=False, allow_nan=False) + "\n"


def said_of(version: BankVersion, topic_id: str) -> dict[str, Any]:
    """Return the form that a topic of a version came in, and what its file said besides; nothing where neither is."""
    topics = version.attributes.get("topics")
    said = topics.get(topic_id) if isinstance(topics, dict) else None
    known = isinstance(said, dict) and said.get("form") in FORMS and isinstance(said.get("says", {}), dict)
    return dict(said) if known and said else {}


def bank_topic(version: BankVersion, topic: Topic, *, form: Form | None = None) -> BankTopic:
    """Return the nuggets of one topic of a version, with what its file said besides if it had the same form."""
    said = said_of(version, topic.topic_id)
    came_in = said.get("form") or _natural_form(version, topic)
    wanted = form or came_in
    nuggets = _nuggets(version, topic, keeps=said.get("form") == wanted, flat=wanted != "v3")
    if said.get("form") == wanted:
        return BankTopic(topic.topic_id, wanted, nuggets, attributes=said.get("says", {}))
    heads: dict[Form, dict[str, Any]] = {
        "autonuggetizer": {"query": topic.request},
        "v3": {"title_query": topic.title or topic.request, "full_query": topic.request, "format_version": "v3"},
    }
    if wanted == "autonuggetizer":
        nuggets = tuple(one if one.importance else replace(one, attributes={"importance": FAILED}) for one in nuggets)
    return BankTopic(topic.topic_id, wanted, nuggets, attributes=heads.get(wanted, {}))


def _natural_form(version: BankVersion, topic: Topic) -> Form:
    """Return the form for a topic that no file has brought: the first that has room for what its nuggets are."""
    entries = BankEntry.objects.filter(version=version, element__topic=topic)
    if entries.filter(element__kind=QUESTION).exists() or entries.exclude(parent=None).exists():
        return "v3"
    return "rubrics" if entries.exclude(weight=None).exists() else NATURAL


def _nuggets(version: BankVersion, topic: Topic, *, keeps: bool, flat: bool) -> tuple[Nugget, ...]:
    """Return the topic's nuggets, with their parts in them, or behind them if `flat`."""
    entries = list(version.entries.filter(element__topic=topic).select_related("element").order_by("position"))
    contents = _contents([entry.element_id for entry in entries], topic)
    parts: dict[int | None, list[BankEntry]] = defaultdict(list)
    for entry in entries:
        parts[None if flat else entry.parent_id].append(entry)

    def nugget_of(entry: BankEntry) -> Nugget:
        element, attributes = entry.element, entry.attributes
        if not keeps:  # who made it has a place in NuggetBank's form alone
            attributes = {} if flat else {name: said for name, said in attributes.items() if name == CREATOR}
        answers, references = contents.get(element.pk, ((), ()))
        return Nugget(
            text=element.text,
            kind=element.kind,
            element_id=attributes.get(f"{OURS}name", element.element_id),
            importance=entry.importance,
            weight=entry.weight,
            aggregator=element.aggregator,
            group=attributes.get(f"{OURS}group", element.group),
            answers=answers,
            references=references,
            parts=() if flat else tuple(map(nugget_of, parts[entry.pk])),
            attributes=attributes,
        )

    return tuple(map(nugget_of, parts[None]))


Contents = dict[int, tuple[tuple[Answer, ...], tuple[Reference, ...]]]


def _contents(elements: Iterable[int], topic: Topic) -> Contents:
    """Return the answers and the references of elements by primary key; offsets as their files count them."""
    wanted = list(elements)
    rows = list(NuggetReference.objects.filter(element__in=wanted).order_by("element_id", "position"))
    counted = {row.docno for row in rows if row.encoding and row.start is not None}
    passages = Passage.objects.filter(collection=topic.collection_id, passage_id__in=counted)
    texts = {docno: text or "" for docno, text in passages.values_list("passage_id", "text")}
    by_place: dict[tuple[int, int | None], list[Reference]] = defaultdict(list)
    for row in rows:
        by_place[row.element_id, row.answer_id].append(_reference(row, texts))
    answers: dict[int, list[Answer]] = defaultdict(list)
    for one in NuggetAnswer.objects.filter(element__in=wanted).order_by("element_id", "position"):
        references = tuple(by_place[one.element_id, one.pk])
        answers[one.element_id].append(
            Answer(one.text, one.importance, one.right, one.creator, references, one.attributes)
        )
    return {pk: (tuple(answers[pk]), tuple(by_place[pk, None])) for pk in wanted}


def _reference(row: NuggetReference, texts: Mapping[str, str]) -> Reference:
    start, end = row.start, row.end
    if row.encoding and start is not None and end is not None:
        start, end = (counted_as(texts[row.docno], place, row.encoding) for place in (start, end))
    elif start is None:
        start, end = (row.attributes.get(f"{OURS}{name}") for name in ("start", "end"))
    return Reference(row.docno, row.quote, start, end, row.encoding, row.quality, row.creator, row.attributes)


# --- Which nuggets answers support ----------------------------------------------------------------


def assigning_raters(criterion: Criterion, name: str, *, kind: str = "") -> QuerySet[Rater]:
    """Return the raters of this name whose grades of nuggets count, people before judges; of one kind, if named."""
    raters = Rater.objects.filter(pk__in=_counted(criterion).values("rater"), name=name).order_by("kind", "pk")
    return raters.filter(kind=kind) if kind else raters


def _counted(criterion: Criterion) -> QuerySet[Any]:
    judged = Judgment.objects.filter(criterion=criterion, item__report__isnull=False)
    return as_said_unaided(judged.without_the_excluded())


def exported_assignments(criterion: Criterion, rater: Rater, *, run: str = "") -> Iterator[str]:
    """Yield a line for each report that the rater judged nuggets of, as AutoNuggetizer's assign step writes it."""
    for topic, one in assigned_answers(criterion, rater, run=run):
        yield json.dumps(written_assignment(one, query=topic.request), ensure_ascii=False, allow_nan=False) + "\n"


def exported_nugget_scores(criterion: Criterion, rater: Rater, *, run: str = "") -> Iterator[str]:
    """Yield the six scores of each report, as AutoNuggetizer's metrics step writes them, with run and ungraded.

    Raises HeldOut for a judge's in a study that is split.
    """
    if rater.kind == Rater.Kind.JUDGE and Split.objects.filter(study=criterion.study).exists():
        raise HeldOut("The study holds topics out for testing: read the judge’s scores on its leaderboard.")
    lowest = min(map(float, criterion.scale.values))
    for topic, one in assigned_answers(criterion, rater, run=run):
        scores = nugget_scores(
            [
                AssignedNugget(
                    "vital" if nugget.importance == "vital" else "okay",
                    support_of(grade, threshold=criterion.threshold, lowest=lowest),
                )
                for nugget, grade in zip(one.topic.nuggets, one.grades, strict=True)
            ]
        )
        line = {
            "qid": topic.topic_id,
            "run_id": one.run,
            "strict_vital_score": scores.strict_vital.value,
            "strict_all_score": scores.strict_all.value,
            "strict_weighted_score": scores.strict_weighted.value,
            "vital_score": scores.vital.value,
            "all_score": scores.all.value,
            "weighted_score": scores.weighted.value,
            "ungraded": scores.all.ungraded,
        }
        yield json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"


def assigned_answers(criterion: Criterion, rater: Rater, *, run: str = "") -> Iterator[tuple[Topic, AssignedAnswer]]:
    """Yield each report that the rater judged, with the topic's nuggets that were asked and count, and their grades.

    A nugget that the rater was not asked about is ungraded, and so is one whose grade a judge's suggestion came before;
    of a grade that was changed after one, what was said before counts. Nothing is there of an excluded rater. Grades
    are those of AutoNuggetizer's three, by the criterion's threshold.
    """
    collection = criterion.study.collection
    newest = BankEntry.objects.filter(version__in=newest_versions(collection))
    stated = dict(newest.values_list("element__pk", "importance"))
    lowest = min(map(float, criterion.scale.values))
    judged = _counted(criterion).filter(rater=rater)
    if run:
        judged = judged.filter(item__report__run__name=run)
    reports = judged.order_by("item__report__run__name", "item__topic").values_list("item__report", flat=True)
    for pk in dict.fromkeys(reports):
        report = Report.objects.select_related("run", "topic").get(pk=pk)
        items = criterion.study.items.filter(task_type=TaskType.NUGGET, report=report, element__masked=False)
        rows = items.select_related("element").order_by("element__position", "pk")
        grades = dict(judged.filter(item__report=report).values_list("item__pk", "unaided_grade"))
        asked = [item for item in rows if item.element]
        nuggets = tuple(
            Nugget(item.element.text, importance=stated.get(item.element.pk, item.element.importance))
            for item in asked
            if item.element
        )
        supports = (support_of(grades.get(item.pk), threshold=criterion.threshold, lowest=lowest) for item in asked)
        assigned = tuple(GRADES[support] if support else None for support in supports)
        said = report.attributes.get("assigned")
        topic = BankTopic(report.topic.topic_id, NATURAL, nuggets)
        yield (
            report.topic,
            AssignedAnswer(topic, report.run.name, report.text, assigned, said if isinstance(said, dict) else {}),
        )
