from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.web.commands import SiteCommand, add
from judging.grading.progress import counts_of_job
from judging.jobs.estimate import JobEstimate, estimate
from judging.management.starting import REFUSALS, add_selection, chosen, limits_in, selection_of, start
from judging.management.waiting import wait_for
from judging.models import Judge
from stats.plurals import counted


class Command(SiteCommand):
    help = "Grade what judges have not graded of a study's criterion. Celery workers do the work."
    refusals = REFUSALS

    def add_arguments(self, parser: CommandParser) -> None:
        add_selection(parser, required=True)
        add(parser, "--json", help="print a JSON object per line")
        parser.add_argument("--estimate", action="store_true", help="show the estimate, and start nothing")
        parser.add_argument("--wait", action="store_true", help="show progress until the jobs end")
        parser.add_argument("--here", action="store_true", help="grade in this process, without a worker")

    def handle(self, **options: Any) -> None:
        if options["estimate"]:
            self.show_estimates(options)
            return
        jobs = start(options)
        for job in jobs:
            text = f"Job {job.pk}, {job.judge}: {counted(job.total, 'pairs')}, {job.skipped} skipped without a text."
            self.say(text, job=job.pk, judge=str(job.judge), total=job.total, skipped=job.skipped)
        stopped: list[CommandError] = []
        for job in jobs if options["wait"] or options["here"] else []:
            try:
                wait_for(job, errors=self.stderr, here=options["here"])
            except CommandError as stop:
                if stop.returncode != 1:  # it was stopped by hand, or no worker comes
                    raise
                stopped.append(stop)
            self.say("\n".join(counts_of_job(job).lines()), job=job.pk, **asdict(counts_of_job(job)))
        for later in stopped[1:]:
            self.stderr.write(str(later))
        if stopped:
            raise stopped[0]

    def show_estimates(self, options: dict[str, Any]) -> None:
        criterion, judges = chosen(options)
        for judge in judges:
            selection, limits = selection_of(options), limits_in(options)
            prices = {name: limits.get(name) for name in ("price_in", "price_out")}
            expected = estimate(criterion=criterion, judge=judge, selection=selection, **prices)
            self.say(in_a_line(judge, expected), judge=str(judge), **asdict(expected))


def in_a_line(judge: Judge, expected: JobEstimate) -> str:
    """Return an estimate in words."""
    parts = [counted(expected.pairs, "pairs"), f"{expected.skipped:,} skipped without a text"]
    if expected.tokens is not None:
        parts.append(f"about {expected.tokens:,} tokens{'' if expected.counted else ' (estimated from characters)'}")
    parts.append("minutes unknown" if expected.minutes is None else f"about {expected.minutes:,.1f} minutes")
    if expected.cost is not None:
        parts.append(f"cost about {expected.cost:,.2f}")
    return f"{judge}: {', '.join(parts)}."
