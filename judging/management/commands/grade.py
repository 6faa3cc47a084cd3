from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from judging.estimates import Estimate, estimate
from judging.grading import JudgeDoesNotFit
from judging.ledgers import ledger_of
from judging.management.starting import add_selection, chosen, selection_of, start
from judging.models import GradingJob, Judge
from judging.selections import NoSuchPart

LOOK_SECONDS = 0.5


class Command(BaseCommand):
    help = "Let judges grade what they have not graded of a study's criterion. Celery workers do the work."

    def add_arguments(self, parser: CommandParser) -> None:
        add_selection(parser, required=True)
        parser.add_argument("--estimate", action="store_true", help="tell what it would take, and start nothing")
        parser.add_argument("--wait", action="store_true", help="show progress until the job is over")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["estimate"]:
            self.tell_estimates(options)
            return
        jobs = start(options)
        for job in jobs:
            self.stdout.write(
                f"Job {job.pk}, {job.judge}: {job.total} pairs, {job.skipped} skipped for they have no text."
            )
        for job in jobs if options["wait"] else []:
            self.wait_for(job)

    def tell_estimates(self, options: dict[str, Any]) -> None:
        criterion, judges = chosen(options)
        for judge in judges:
            try:
                expected = estimate(
                    criterion=criterion, judge=judge, selection=selection_of(options), price_in=options["price_in"],
                    price_out=options["price_out"],
                )  # fmt: skip
            except (JudgeDoesNotFit, NoSuchPart) as error:
                raise CommandError(str(error)) from error
            self.stdout.write(in_a_line(judge, expected))

    def wait_for(self, job: GradingJob) -> None:
        """Show progress until the job is over; a paused one ends the wait with its reason."""
        with tqdm(total=job.total, unit=" pairs") as bar:
            while job.active:
                time.sleep(LOOK_SECONDS)
                job.refresh_from_db()
                bar.update(job.done - bar.n)
        if job.state == GradingJob.State.PAUSED:
            raise CommandError(f"Job {job.pk} is paused. {job.reason}".strip())
        for line in ledger_of(job).lines():
            self.stdout.write(line)


def in_a_line(judge: Judge, expected: Estimate) -> str:
    """Tell an estimate."""
    parts = [f"{expected.pairs:,} pairs", f"{expected.skipped:,} skipped for they have no text"]
    if expected.tokens is not None:
        parts.append(f"about {expected.tokens:,} tokens{'' if expected.counted else ' (guessed from characters)'}")
    parts.append("minutes unknown" if expected.minutes is None else f"about {expected.minutes:,.1f} minutes")
    if expected.cost is not None:
        parts.append(f"cost about {expected.cost:,.2f}")
    return f"{judge}: {', '.join(parts)}."
