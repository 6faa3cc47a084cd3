"""What workers compute for the head of a study's page."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.timezone import now

from annotate.models import Assignment
from annotate.overview.next_steps import Step, next_steps
from annotate.overview.timeline import Timeline, timeline_of
from collection.models import Judgment, Study


@dataclass(frozen=True)
class Overview:
    """What to do next, and how the work went; None before any."""

    steps: tuple[Step, ...]
    timeline: Timeline | None


def overview(study: Study, *, day: str) -> Overview:  # noqa: ARG001
    """Look at the study as it is. It is asked for by the day so that a forecast is never older."""
    return Overview(next_steps(study), timeline_of(study, at=now()))


def before_judgments(study: Study) -> Overview | None:
    """Return what to do next while nothing is judged or submitted, which takes no worker; None from then on."""
    if (
        Judgment.objects.filter(criterion__study=study).exists()
        or Assignment.objects.filter(task__study=study, state=Assignment.State.SUBMITTED).exists()
    ):
        return None
    return Overview(next_steps(study), None)
