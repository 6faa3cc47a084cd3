from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser
from django.utils.timezone import now

from collection.web.commands import SiteCommand, add
from collection.web.options import add_options
from judging.grading.drift import drift_of
from judging.grading.jobs import JobLimits, LimitReached, WrongState, cancel_job, pause_job, resume_job
from judging.grading.progress import counts_of_job
from judging.jobs.forms import LimitsForm
from judging.jobs.serializers import LimitsSerializer
from judging.management.starting import limits_in, the_job
from judging.management.waiting import wait_for
from judging.models import GradingJob


class Command(SiteCommand):
    help = "Show a grading job with its outcomes, or pause, resume or cancel it, or run it in this process."
    refusals = (WrongState, LimitReached)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", type=int, metavar="N", help="the number of the job")
        moves = ("show", "pause", "resume", "cancel", "run")
        parser.add_argument("move", nargs="?", choices=moves, default="show", help="what becomes of it (%(default)s)")
        add_options(parser, LimitsSerializer)
        add(parser, "--json")

    def handle(self, **options: Any) -> None:
        job = the_job(options["job"])
        match options["move"]:
            case "pause":
                pause_job(job=job)
            case "resume":
                resume_job(job=job, terms=new_terms(job, options), at=now())
            case "cancel":
                cancel_job(job=job, at=now())
            case "run":
                wait_for(job, errors=self.stderr, here=True)
        counts, drift = counts_of_job(job), job.anchor_checks.first()
        lines = [f"{job}: {job.get_state_display()}. {job.reason}".strip()]
        if drift:
            lines.append(f"Anchor items, {drift.earlier_identity} to {drift.identity}: {drift_of(drift)}.")
        about = {"job": job.pk, "state": job.state, "reason": job.reason, "drift": drift and str(drift_of(drift))}
        self.say("\n".join([*lines, *counts.lines()]), **about, **asdict(counts))


def new_terms(job: GradingJob, options: dict[str, Any]) -> JobLimits | None:
    """Return the job's terms with the new limits, those of its chain if it belongs to one; None if there are none."""
    given = {name: limit for name, limit in limits_in(options).items() if limit is not None}
    return JobLimits(**LimitsForm.initial_of(job) | given) if given else None
