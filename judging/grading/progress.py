"""A job's account: what became of every pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from collection.models import Judgment
from judging.models import GradingJob


@dataclass(frozen=True)
class JobCounts:
    """Graded + ungraded + waiting = total. Skipped items are not part of it, because the judge was never asked."""

    total: int
    graded: dict[float, int]
    ungraded: dict[str, int]
    skipped: int

    @property
    def graded_pairs(self) -> int:
        return sum(self.graded.values())

    @property
    def ungraded_pairs(self) -> int:
        return sum(self.ungraded.values())

    @property
    def waiting(self) -> int:
        return self.total - self.graded_pairs - self.ungraded_pairs

    def kinds(self) -> list[tuple[str, str, int]]:
        """Return every kind of ungraded with its label and count, the ones that did not occur too."""
        return [(kind.value, kind.label, self.ungraded.get(kind.value, 0)) for kind in Judgment.Ungraded]

    def lines(self) -> Iterator[str]:
        """Yield the account as text."""
        yield f"graded    {self.graded_pairs:>8,}"
        for grade, count in self.graded.items():
            yield f"  {grade:>6g}  {count:>8,}"
        yield f"ungraded  {self.ungraded_pairs:>8,}"
        for _, label, count in self.kinds():
            if count:
                yield f"  {label}  {count:,}"
        yield f"skipped   {self.skipped:>8,}  (no text)"
        yield f"waiting   {self.waiting:>8,}"


def counts_of_job(job: GradingJob) -> JobCounts:
    """Return the account from the job's counters, which are written with the completions and recounted at its end."""
    graded = {float(grade): count for grade, count in job.by_grade.items()}
    return JobCounts(
        total=job.total, graded=dict(sorted(graded.items())), ungraded=dict(job.by_kind), skipped=job.skipped
    )


@dataclass(frozen=True)
class GradingPace:
    """How fast a job goes. None where there is nothing to tell it from yet."""

    pairs_a_minute: float | None
    seconds_left: float | None

    @property
    def minutes_left(self) -> float | None:
        return None if self.seconds_left is None else self.seconds_left / 60


def pace_of(job: GradingJob) -> GradingPace:
    """Return the job's pace since it was started or resumed."""
    until: datetime | None = job.finished_at or job.heartbeat_at
    if job.started_at is None or until is None:
        return GradingPace(None, None)
    seconds = (until - job.started_at).total_seconds()
    done = job.done - job.done_at_start
    if seconds <= 0 or done <= 0:
        return GradingPace(None, None)
    left = (job.total - job.done) * seconds / done if job.active else None
    return GradingPace(60 * done / seconds, left)
