"""What shall follow a build of reports: in whose name they are accepted unread, as which run, graded by whom.

All of it is planned before the build's first call: whatever a link would refuse is refused then, and what it takes is
kept with the build.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from collection.models import Topic, User
from collection.texts.sentence_passages import NoSentences
from judging.building.pipelines import Pipeline
from judging.building.sources import CannotBuild, check_new_run
from judging.engines import EngineUnavailable
from judging.grading.jobs import AlreadyUnderWay, JudgeDoesNotFit
from judging.jobs.sentence_grading import GradingPlan, plan_grading
from judging.jobs.serving import NotServed
from judging.models import Build, Judge
from judging.prompts.placeholders import BadTemplate

# Where a build's options keep it.
THEN = "then"
REFUSALS = (NotServed, NoSentences, JudgeDoesNotFit, AlreadyUnderWay, BadTemplate, EngineUnavailable)


def checked_chain(
    pipeline: Pipeline, topics: Sequence[Topic], *, words: int, grade_by: str, run: str, by: User | None
) -> dict[str, Any]:
    """Return what the build on these topics keeps of it; nothing where no judge is named. Raises CannotBuild.

    `words` is the longest that a report may be.
    """
    if run:
        check_new_run(topics[0].collection, run)
    if not grade_by:
        return {}
    judge = Judge.objects.select_related("template", "scale", "rater").filter(name=grade_by).first()
    if judge is None:
        raise CannotBuild(f"There is no judge “{grade_by}”. manage.py judge list lists them.")
    if pipeline.makes != "report":
        raise CannotBuild(f"“{pipeline.title}” makes no reports that “{judge}” could grade.")
    if by is None:
        raise CannotBuild("Say in whose name the reports are accepted unread, so that they can be graded.")
    try:
        plan = plan_grading(judge, topics, run=run, words=words, by=by)
    except REFUSALS as refusal:
        raise CannotBuild(str(refusal)) from refusal
    return {THEN: {"judge": judge.name, "run": run, "by": by.pk, "waits": True, "grading": asdict(plan)}}


def judge_of(build: Build) -> Judge | None:
    """Return the judge that grades what the build writes."""
    return Judge.objects.filter(name=build.options.get(THEN, {}).get("judge", "")).first()


def grading_plan(build: Build) -> GradingPlan | None:
    """Return what the grading behind the build was planned to take; None where there is none."""
    kept = build.options.get(THEN, {}).get("grading")
    return GradingPlan(**kept) if kept else None
