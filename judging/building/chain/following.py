"""What follows a build of reports by itself: they become a run, and a judge grades their sentences beside all others.

Who has the build in hand does it. Each link is a service of its own; the chain waits where a build or a grading
job runs. Who asked for it accepts the reports unread, and that is said wherever their making is.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from collection.models import User
from collection.models.studies import TaskType
from collection.texts.sentence_passages import MOST, NoSentences
from judging.building.additions.addition import add_to_collection, waiting_for_addition
from judging.building.builds import in_hand
from judging.building.chain.asked import THEN, judge_of
from judging.building.review import NotReviewable, decide, products_to_review
from judging.building.sources import CannotBuild, usual_name
from judging.engines.token_quotas import QuotaSpent
from judging.grading.jobs import AlreadyUnderWay, JudgeDoesNotFit, NothingToGrade
from judging.jobs.sentence_grading import grade_sentences
from judging.jobs.serving import NotServed
from judging.models import Build, GradingJob, Judge, Product

logger = logging.getLogger(__name__)

# By which the systems are ranked: of the sentences' grades, down to as many as a ranking has.
MEASURES: Mapping[str, str] = {TaskType.RATING: f"Cover@{MOST}", TaskType.KEY_POINT: f"KPR@{MOST}"}
USUAL_MEASURE = f"nDCG@{MOST}"
REFUSALS = (
    CannotBuild, NotReviewable, NoSentences, NotServed, JudgeDoesNotFit, NothingToGrade, AlreadyUnderWay, QuotaSpent,
)  # fmt: skip


def waits(build: Build) -> bool:
    """Whether the build is done, and what follows it is not."""
    return build.state == Build.State.DONE and bool(build.options.get(THEN, {}).get("waits"))


def follow(build: Build, *, at: datetime) -> None:
    """Do what follows a build that is done, all of it once, unless somebody else has it in hand.

    What is refused is kept as the chain's problem.
    """
    with in_hand(build) as holder:
        if holder:
            _follow_once(build, at=at)


def _follow_once(build: Build, *, at: datetime) -> None:
    with transaction.atomic():
        locked = Build.objects.select_for_update(no_key=True).get(pk=build.pk)
        if not waits(locked):
            return
        chain = locked.options[THEN]
        try:
            with transaction.atomic():
                said = _follow(locked, chain, at=at)
        except REFUSALS as refusal:
            said = {"problem": str(refusal)}
        locked.options[THEN] = {**chain, **said, "waits": False}
        locked.save(update_fields=["options"])


def _follow(build: Build, chain: Mapping[str, Any], *, at: datetime) -> dict[str, Any]:
    by = User.objects.get(pk=chain["by"])
    proposed = products_to_review(build).filter(state=Product.State.PROPOSED)
    if keys := list(proposed.values_list("pk", flat=True)):
        decide(build, keys, Product.State.ACCEPTED, unread=True, by=by, at=at)
    run = chain["run"] or usual_name(build)
    if waiting_for_addition(build).exists() or not build.products.exclude(report=None).exists():
        add_to_collection(build, run=run, by=by, at=at)
    judge = Judge.objects.get(name=chain["judge"])
    study, job = grade_sentences(build.collection, judge, follows=build, by=by, at=at)
    return {"run": run, "study": study.name, "job": job.pk if job else None}


def follow_again(build: Build, *, at: datetime) -> None:
    """Try once more what was refused."""
    with transaction.atomic():
        locked = Build.objects.select_for_update(no_key=True).get(pk=build.pk)
        if locked.options.get(THEN, {}).get("problem"):
            locked.options[THEN] = {**locked.options[THEN], "problem": "", "waits": True}
            locked.save(update_fields=["options"])
    follow(build, at=at)


def follow_those_that_wait(*, at: datetime) -> None:
    """Go on where a worker ended between a build's last reply and what follows it."""
    for build in Build.objects.filter(state=Build.State.DONE, options__then__waits=True):
        follow(build, at=at)


def told(build: Build) -> dict[str, Any] | None:
    """Return what the build's page says of what follows it; None where nothing does."""
    chain = build.options.get(THEN)
    if not chain:
        return None
    judge = judge_of(build)
    measure = MEASURES.get(judge.task_type if judge else "", USUAL_MEASURE)
    return {
        **chain,
        "measure": measure,
        "job": GradingJob.objects.filter(pk=chain["job"]).first() if chain.get("job") else None,
    }
