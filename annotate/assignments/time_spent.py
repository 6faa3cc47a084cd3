"""Time that a browser says was spent, and how much of it the server can believe: no more than has passed here."""

from __future__ import annotations

from datetime import datetime

from annotate.models import Assignment

# Browsers round, and clocks are never quite in step: so much more, in seconds, is nobody's claim.
SLACK = 2.0


def believed(seconds: float, assignment: Assignment, *, at: datetime) -> float:
    """Return how many of these seconds can have been spent on the assignment, which was not open for longer."""
    return min(seconds, max(0.0, (at - assignment.opened_at).total_seconds()))


def is_claim(seconds: float, assignment: Assignment, *, at: datetime) -> bool:
    """Whether the browser tells of more time than has passed since the assignment was opened."""
    return seconds > believed(seconds, assignment, at=at) + SLACK


def count_time(assignment: Assignment, seconds: float, *, at: datetime) -> None:
    """Set the assignment's active time, and note what was told beyond what has passed. The caller saves both."""
    assignment.active_seconds = believed(seconds, assignment, at=at)
    if is_claim(seconds, assignment, at=at):
        assignment.claimed_seconds = max(seconds, assignment.claimed_seconds or 0)
