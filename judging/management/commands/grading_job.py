from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils.timezone import now

from collection.importing.commands import mended_by_the_reader
from judging.grading.drift import drift_of
from judging.grading.jobs import JobLimits, LimitReached, WrongState, cancel_job, pause_job, resume_job
from judging.grading.progress import counts_of_job
from judging.management.starting import the_job
from judging.management.waiting import run_here
from judging.models import GradingJob


class Command(BaseCommand):
    help = "Show a grading job with its outcomes, or pause, resume or cancel it, or run it in this process."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", type=int, metavar="N")
        parser.add_argument("move", nargs="?", choices=("show", "pause", "resume", "cancel", "run"), default="show")
        parser.add_argument("--most-tokens", type=int, metavar="N", help="with resume: a new limit")
        parser.add_argument("--most-cost", type=float, metavar="C", help="with resume: a new limit")

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
                    run_here([job])
        self.stdout.write(f"{job}: {job.get_state_display()}. {job.reason}".strip())
        for seen in job.anchor_checks.all()[:1]:
            self.stdout.write(f"Anchor items, {seen.earlier_identity} to {seen.identity}: {drift_of(seen)}.")
        for line in counts_of_job(job).lines():
            self.stdout.write(line)


def new_terms(job: GradingJob, options: dict[str, Any]) -> JobLimits | None:
    """Return the job's terms with the new limits; None if there are none."""
    if options["most_tokens"] is None and options["most_cost"] is None:
        return None
    return JobLimits(
        job.price_in,
        job.price_out,
        options["most_tokens"] or job.token_limit,
        options["most_cost"] or job.cost_limit,
    )
