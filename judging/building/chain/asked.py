"""What shall follow a build of reports: in whose name they are accepted unread, as which run, graded by whom."""

from __future__ import annotations

from typing import Any

from collection.models import Collection, Run, User
from judging.building.pipelines import Pipeline
from judging.building.sources import CannotBuild
from judging.jobs.sentence_grading import check_grades_passages
from judging.jobs.serving import NotServed
from judging.models import Judge

# Where a build's options keep it.
THEN = "then"


def checked_chain(
    collection: Collection, pipeline: Pipeline, *, grade_by: str, run: str, by: User | None
) -> dict[str, Any]:
    """Return what the build keeps of it; nothing where no judge is named. Raises CannotBuild."""
    if not grade_by:
        return {}
    judge = Judge.objects.filter(name=grade_by).first()
    if judge is None:
        raise CannotBuild(f"There is no judge “{grade_by}”. manage.py judges lists them.")
    if pipeline.makes != "report":
        raise CannotBuild(f"“{pipeline.title}” makes no reports that “{judge}” could grade.")
    if by is None:
        raise CannotBuild("Say in whose name the reports are accepted unread, so that they can be graded.")
    if run and Run.objects.filter(collection=collection, name=run).exists():
        raise CannotBuild(f"There is a run “{run}” already. Name another.")
    try:
        check_grades_passages(judge)
    except NotServed as refusal:
        raise CannotBuild(str(refusal)) from refusal
    return {THEN: {"judge": judge.name, "run": run, "by": by.pk, "waits": True}}
