from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils.timezone import now

from collection.importing.commands import mended_by_the_reader
from judging.grading.drift import drift_of
from judging.grading.jobs import JobLimits, LimitReached, WrongState, cancel_job, pause_job, resume_job
from judging.grading.progress import counts_of_job
from judging.jobs.forms import LimitsForm
from judging.management.starting import add_limits, limits_in, the_job
from judging.management.waiting import wait_for
from judging.models import GradingJob


class Command(BaseCommand):
    help = "Show a grading job with its outcomes, or pause, resume or cancel it, or run it in this process."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", type=int, metavar="N")
        parser.add_argument("move", nargs="?", choices=("show", "pause", "resume", "cancel", "run"), default="show")
        add_limits(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        job = the_job(options["job"])
        with mended_by_the_reader(WrongState, LimitReached):
            match options["move"]:
                case "pause":
                    pause_job(job=job)
                case "resume":
                    resume_job(job=job, terms=new_terms(job, options), at=now())
                case "cancel":
                    cancel_job(job=job, at=now())
                case "run":
                    wait_for(job, errors=self.stderr, here=True)
        self.stdout.write(f"{job}: {job.get_state_display()}. {job.reason}".strip())
        for seen in job.anchor_checks.all()[:1]:
            self.stdout.write(f"Anchor items, {seen.earlier_identity} to {seen.identity}: {drift_of(seen)}.")
        for line in counts_of_job(job).lines():
            self.stdout.write(line)


def new_terms(job: GradingJob, options: dict[str, Any]) -> JobLimits | None:
    """Return the job's terms with the new limits, those of its chain if it belongs to one; None if there are none."""
    given = {name: limit for name, limit in limits_in(options).items() if limit is not None}
    return JobLimits(**LimitsForm.initial_of(job) | given) if given else None
