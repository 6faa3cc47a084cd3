"""Which runs and reports are in a study's frame."""

from __future__ import annotations

from django.db.models import QuerySet

from annotate.frames.frame import frame_of
from collection.models import Report, Run, Study


def framed_runs(study: Study) -> QuerySet[Run]:
    """Return the runs that the study asks about."""
    runs, frame = Run.objects.filter(collection=study.collection), frame_of(study)
    if frame.runs == "only":
        return runs.filter(name__in=frame.run_names)
    return runs.exclude(name__in=frame.run_names) if frame.runs == "except" else runs


def framed_reports(study: Study) -> QuerySet[Report]:
    """Return the reports of these runs."""
    return Report.objects.filter(run__in=framed_runs(study))
