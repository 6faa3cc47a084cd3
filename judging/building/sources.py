"""What a build reads of a collection: its topics, the human summaries and the documents that were chosen for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import QuerySet

from collection.models import Collection, Passage, RankedPassage, Report, Run, Topic
from collection.rankings import Ranked, in_order
from judging.building.pipelines import NEEDS, Document, Needs, Pipeline, TopicInputs


class CannotBuild(ValueError):
    """The build cannot start as it was asked for; the message says why."""


def runs_of_reports(collection: Collection) -> QuerySet[Run]:
    """Return the runs that wrote reports: one of them may be the human summaries."""
    return Run.objects.filter(collection=collection, reports__isnull=False).distinct()


def runs_that_rank(collection: Collection) -> QuerySet[Run]:
    """Return the runs that rank passages."""
    return Run.objects.filter(collection=collection, ranking__isnull=False).distinct()


def chosen_topics(collection: Collection, topic_ids: Sequence[str]) -> list[Topic]:
    """Return the named topics, all if none is named. Raises CannotBuild."""
    topics = list(collection.topics.order_by("pk"))
    if not topics:
        raise CannotBuild("The collection has no topics. Import topics first.")
    known = {topic.topic_id: topic for topic in topics}
    if unknown := [name for name in topic_ids if name not in known]:
        raise CannotBuild(f"The collection has no topic “{unknown[0]}”.")
    return [known[name] for name in dict.fromkeys(topic_ids)] or topics


def check_sources(collection: Collection, pipeline: Pipeline, *, summaries: str, documents: str) -> None:
    """Raise CannotBuild where the pipeline needs a run that was not named or is not there."""
    wanted: list[tuple[Needs, str, QuerySet[Run]]] = [
        ("summary", summaries, runs_of_reports(collection)),
        ("documents", documents, runs_that_rank(collection)),
    ]
    for need, name, runs in wanted:
        if need not in pipeline.needs:
            continue
        if not name:
            raise CannotBuild(f"“{pipeline.title}” needs {NEEDS[need]}. Choose one.")
        if not runs.filter(name=name).exists():
            what = "reports" if need == "summary" else "ranked passages"
            raise CannotBuild(f"The collection has no run “{name}” with {what}.")


def inputs_of(
    topics: Iterable[Topic], *, summaries: str = "", documents: str = "", depth: int = 10
) -> dict[int, TopicInputs]:
    """Return what there is of each topic: its summary, and of a ranking’s first `depth` passages those with a text."""
    listed = list(topics)
    texts: dict[int, str] = {}
    if summaries:
        reports = Report.objects.filter(topic__in=listed, run__name=summaries).values_list("topic_id", "text")
        texts = dict(reports)
    found = _documents(listed, documents, depth) if documents else {}
    return {
        topic.pk: TopicInputs(
            topic.pk, topic.topic_id, topic.request, texts.get(topic.pk, ""), tuple(found.get(topic.pk, ()))
        )
        for topic in listed
    }


def _documents(topics: Sequence[Topic], run: str, depth: int) -> dict[int, list[Document]]:
    ranked: dict[int, list[Ranked]] = defaultdict(list)
    rows = RankedPassage.objects.filter(topic__in=topics, run__name=run)
    for topic, docno, rank, score in rows.values_list("topic_id", "passage_id", "rank", "score"):
        ranked[topic].append(Ranked(docno, rank, score))
    best = {topic: in_order(lines)[:depth] for topic, lines in ranked.items()}
    named = {docno for docnos in best.values() for docno in docnos}
    held = Passage.objects.filter(collection=topics[0].collection_id, passage_id__in=named).exclude(text=None)
    texts = {docno: Document(docno, text, title) for docno, text, title in _columns(held)}
    return {topic: [texts[docno] for docno in docnos if docno in texts] for topic, docnos in best.items()}


def _columns(passages: QuerySet[Passage]) -> Iterable[tuple[Any, ...]]:
    return passages.values_list("passage_id", "text", "title")


def lacking(inputs: TopicInputs, pipeline: Pipeline) -> list[str]:
    """Return what of this topic is missing: such a topic is left out, and said so."""
    there = {"request": inputs.request.strip(), "summary": inputs.summary.strip(), "documents": inputs.documents}
    return [NEEDS[need] for need in pipeline.needs if not there[need]]
