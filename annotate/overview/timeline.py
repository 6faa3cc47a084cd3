"""How the work of a study went over time, and when it will be done if people go on so."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count
from django.db.models.functions import TruncDate, TruncHour
from django.utils.timezone import localdate

from annotate.models import Assignment, Enrolment, Task
from annotate.studies.progress import by_task_type
from collection.models import Study
from stats.completion import Completion, forecast_completion

# A forecast rests on no older days than these: what people did then says little about what they will do.
WINDOW = 28
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Timeline:
    """How many tasks were submitted on each day with any, and when the rest of the `places` will be.

    `completion` is None where nothing is to be foreseen: no work is given out, or nothing is left or done.
    """

    by_day: tuple[tuple[date, int], ...]
    places: int
    at: datetime
    completion: Completion | None

    @property
    def submitted(self) -> int:
        return sum(n for _, n in self.by_day)

    @property
    def left(self) -> int:
        return self.places - self.submitted

    @property
    def first_end(self) -> date | None:
        return self._end(self.completion.low) if self.completion else None

    @property
    def last_end(self) -> date | None:
        return self._end(self.completion.high) if self.completion else None

    def _end(self, days: float | None) -> date | None:
        return None if days is None else localdate(self.at + days * DAY)

    @property
    def start(self) -> date:
        """The day before the first submission, when nothing was done."""
        return self.by_day[0][0] - DAY

    @property
    def shown_until(self) -> date:
        """The right edge of the picture."""
        return max(self.last_end or localdate(self.at), self.start + 2 * DAY)

    @property
    def line(self) -> str:
        """What was done by each day, as the points of an SVG polyline in a box of 100 by 100."""
        done, points = 0, [(self.start, 0)]
        for day, n in self.by_day:
            points += [(day - DAY, done)]  # flat while nothing came
            done += n
            points += [(day, done)]
        return " ".join(map(self._point, dict.fromkeys([*points, (localdate(self.at), done)])))

    @property
    def cone(self) -> str:
        """From today to the first and the last end, as the points of an SVG polygon."""
        if self.first_end is None or self.last_end is None:
            return ""
        corners = [(localdate(self.at), self.submitted), (self.first_end, self.places), (self.last_end, self.places)]
        return " ".join(map(self._point, corners))

    def _point(self, at: tuple[date, int]) -> str:
        days = (self.shown_until - self.start).days
        x = 100 * (at[0] - self.start).days / days
        return f"{x:.2f},{100 - 100 * at[1] / self.places:.2f}"


def timeline_of(study: Study, *, at: datetime) -> Timeline | None:
    """Return how the work went; None where nothing was submitted."""
    done = Assignment.objects.filter(task__study=study, state=Assignment.State.SUBMITTED, submitted_at__isnull=False)
    by_day = done.order_by().annotate(day=TruncDate("submitted_at")).values_list("day").annotate(n=Count("pk"))
    days = tuple(sorted(by_day))
    if not days:
        return None
    rows = by_task_type(study)
    places = max(sum(row.places for row in rows), sum(n for _, n in days))
    left = places - sum(n for _, n in days)
    at_work = study.state == Study.State.OPEN and left > 0
    return Timeline(days, places, at, _completion(study, left, at=at) if at_work else None)


def _completion(study: Study, left: int, *, at: datetime) -> Completion:
    """Foresee the end from whole days of 24 hours, counted back from now, so that today's evening counts as any."""
    done = Assignment.objects.filter(task__study=study, state=Assignment.State.SUBMITTED, submitted_at__isnull=False)
    by_hour = (
        done.order_by()
        .annotate(hour=TruncHour("submitted_at"))
        .values_list("rater__user", "hour")
        .annotate(n=Count("pk"))
    )
    counted: Counter[tuple[int, int]] = Counter()  # by days ago and person
    totals: Counter[int] = Counter()
    first = 0
    for person, hour, n in by_hour:
        ago = (at - hour) // DAY
        counted[ago, person] += n
        totals[person] += n
        first = max(first, ago)
    people = list(Enrolment.objects.filter(study=study, left_at=None).values_list("user", flat=True))
    n_days = min(first + 1, WINDOW)
    tasks = Task.objects.filter(study=study).count()
    most = min(tasks, study.quota or tasks)
    return forecast_completion(
        [[counted[ago, person] for person in people] for ago in reversed(range(n_days))],
        left=left,
        left_for_each=[max(most - totals[person], 0) for person in people],
    )
