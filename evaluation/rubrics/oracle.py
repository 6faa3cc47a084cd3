"""The required passages of each topic kept as a run: the oracle’s contexts, to be scored, and to write reports from."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from collection.models import RankedPassage, Run, System, User
from evaluation.rubrics.redundancy import Redundancy
from stats.plurals import counted
from stats.refusals import Refused

LONGEST_NAME = 200


class NoOracle(Refused):
    """There is nothing to keep, or the name is taken."""


@transaction.atomic
def keep_oracle(found: Redundancy, *, name: str, by: User | None, at: datetime) -> Run:
    """Keep the required passages as a run of this name, in the order in which they were taken; with how it was made.

    Leaderboards take the run called `oracle` for Z* where none is named. Raises NoOracle.
    """
    collection, name = found.study.collection, name.strip()
    if not name or len(name) > LONGEST_NAME:
        raise NoOracle(f"Give the run a name of at most {LONGEST_NAME} characters.")
    if Run.objects.filter(collection=collection, name=name).exists():
        raise NoOracle(f"The collection has a run “{name}” already. Choose another name.")
    topics = {topic.topic_id: topic for topic in collection.topics.all()}
    lines = [
        (topics[one.topic], passage, rank)
        for one in found.topics
        for rank, passage in enumerate(one.subset.required, start=1)
    ]
    if not lines:
        raise NoOracle(f"No passage is required of any topic: {found.rule}.")
    system, _ = System.objects.get_or_create(collection=collection, name=name)
    source = Run.objects.filter(collection=collection, name=found.run).first()
    making = {"oracle": _making(found, by, at)}
    run = Run.objects.create(collection=collection, system=system, name=name, made_from=source, attributes=making)
    RankedPassage.objects.bulk_create(
        (
            RankedPassage(run=run, topic=topic, passage_id=passage, rank=rank, score=1 / rank)
            for topic, passage, rank in lines
        ),
        batch_size=500,
    )
    return run


def kept_as_run(found: Redundancy, *, name: str, by: User | None, at: datetime) -> tuple[str, dict[str, Any]]:
    """Keep the required passages as a run; return a sentence that says so, and how the run was made."""
    run = keep_oracle(found, name=name, by=by, at=at)
    said = f"The run {run.name} ranks {counted(run.ranking.count(), 'required passages')}."
    return said, {"run": run.name, **run.attributes["oracle"]}


def _making(found: Redundancy, by: User | None, at: datetime) -> dict[str, Any]:
    source = found.source
    return {
        "study": found.study.name,
        "source": source.name,
        "raters": [rater.name for rater in source.raters],
        "criterion": source.criterion.name,
        "threshold": source.criterion.threshold,
        "order": found.order,
        "passages_of": found.run,
        "missing_grades": sum(one.subset.n_ungraded for one in found.topics),
        "rule": found.rule,
        "kept_by": by.username if by else "",
        "kept_at": at.isoformat(),
    }
