"""Gold passages as qrels: those that the collection itself marks as the ones to be found, whoever judged what."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Set
from datetime import datetime
from typing import Any

from django.db.models import Count

from collection.models import Collection, RankedPassage, Run, Study
from collection.texts.evidence import gold_of
from evaluation.publishing.provenance import about_study, code_version
from stats.answers_in_words import listed
from stats.plurals import counted
from stats.qrels import QrelsLabels, QrelsRefused, marked_labels

# What is chosen for the passages that topics name in their attribute `passages`; else a run is named.
BY_TOPICS = "topics"
TOPICS_IN_WORDS = "those that topics name in their attribute “passages”"


def gold_sources(collection: Collection) -> list[tuple[str, str]]:
    """Return what a collection's gold passages may be read from, with what choosers call it; runs named gold first."""
    runs = Run.objects.filter(collection=collection, ranking__isnull=False).distinct().values_list("name", flat=True)
    ordered = sorted(runs, key=lambda name: ("gold" not in name.lower(), name))
    named = any(map(gold_of, collection.topics.values_list("attributes", flat=True).iterator(2_000)))
    return [
        *([(BY_TOPICS, TOPICS_IN_WORDS)] if named else []),
        *((name, f"all that “{name}” ranks") for name in ordered),
    ]


def gold_labels(collection: Collection, gold: str) -> tuple[QrelsLabels, dict[str, int]]:
    """Return label 1 for each gold passage, and how many topics have none, by why. Raises QrelsRefused.

    A topic that the collection says has no answer has no gold passage, whatever was given with it.
    """
    topics = {
        pk: (topic_id, attributes)
        for pk, topic_id, attributes in collection.topics.values_list("pk", "topic_id", "attributes").iterator(2_000)
    }
    marked = _by_topics(topics) if gold == BY_TOPICS else _by_run(collection, gold)
    unanswerable = {pk for pk, (_, attributes) in topics.items() if attributes.get("answerable") is False}
    labelled = {topics[pk][0]: docnos for pk, docnos in marked.items() if docnos and pk not in unanswerable}
    if not labelled:
        raise QrelsRefused(f"No topic has gold passages: {_source_in_words(gold)}.")
    without = {"topics_without_an_answer": len(unanswerable), "topics_without_gold_passages": 0}
    without["topics_without_gold_passages"] = len(topics) - len(unanswerable) - len(labelled)
    return marked_labels(labelled), without


def about_gold(
    study: Study, gold: str, labels: QrelsLabels, without: Mapping[str, int], *, at: datetime
) -> dict[str, Any]:
    """Return the provenance: nobody judged these labels."""
    source = _source_in_words(gold)
    left = ", ".join(
        f"{counted(n, 'topics')} {why}"
        for n, why in (
            (without["topics_without_an_answer"], "without an answer"),
            (without["topics_without_gold_passages"], "without gold passages"),
        )
        if n
    )
    return {
        "what": "gold passages",
        "made_at": at.isoformat(),
        "made_by": f"Assize {code_version()['assize']}",
        "code": code_version(),
        "collection": about_study(study)["collection"],
        "study": {"name": study.name, "title": study.title},
        "gold": {"source": gold, "in_words": source, "left_out": left, "caveat": _caveat(study.collection, labels)},
        "raters": [],
        "excluded_raters": [],
        "simulated": False,
        "simulated_raters_left_out": [],
        "rule": {"grades": "1 for a gold passage; all others have no label"},
        "counts": {**labels.counts(), "judgments": 0, **without},
        "sha256": {"qrels": hashlib.sha256(labels.text.encode()).hexdigest()},
    }


def _caveat(collection: Collection, labels: QrelsLabels) -> str:
    """Say which runs these labels must not judge: those that rank nothing else. Empty where there are none."""
    rankings = RankedPassage.objects.filter(run__collection=collection, topic__topic_id__in=list(labels.judged))
    sizes = rankings.values("run").annotate(n=Count("pk")).filter(n__lte=len(labels.lines)).values("run")
    rows = rankings.filter(run__in=list(sizes.values_list("run", flat=True)))
    ranked: dict[str, bool] = {}
    for run, topic, docno in rows.values_list("run__name", "topic__topic_id", "passage_id").iterator(10_000):
        ranked[run] = ranked.get(run, True) and docno in labels.judged[topic]
    runs = sorted(run for run, only_gold in ranked.items() if only_gold)
    if not runs:
        return ""
    one = len(runs) == 1
    return (
        f"{listed([f'“{run}”' for run in runs])} {'ranks' if one else 'rank'} nothing but these passages, so measures "
        f"by these labels flatter {'it' if one else 'them'} and say nothing: leave {'it' if one else 'them'} out of "
        "a comparison."
    )


def _source_in_words(gold: str) -> str:
    return TOPICS_IN_WORDS if gold == BY_TOPICS else f"all that the run “{gold}” ranks"


def _by_topics(topics: Mapping[int, tuple[str, dict[str, Any]]]) -> dict[int, Set[str]]:
    return {pk: set(gold_of(attributes)) for pk, (_, attributes) in topics.items()}


def _by_run(collection: Collection, name: str) -> dict[int, Set[str]]:
    run = Run.objects.filter(collection=collection, name=name).first()
    if run is None:
        raise QrelsRefused(f"There is no run “{name}”. Choose “{BY_TOPICS}”, or a run of the collection.")
    marked: dict[int, set[str]] = defaultdict(set)
    ranking = RankedPassage.objects.filter(run=run)
    for topic, docno in ranking.values_list("topic_id", "passage_id").iterator(10_000):
        marked[topic].add(docno)
    return dict(marked)
