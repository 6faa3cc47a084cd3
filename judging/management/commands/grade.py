from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.timezone import now
from tqdm import tqdm

from collection.models import Criterion, Study
from judging.grading import (
    REPORT_RATING,
    AlreadyUnderWay,
    JudgeDoesNotFit,
    NothingToGrade,
    add_report_rating,
    start_job,
)
from judging.ledgers import ledger_of
from judging.models import GradingJob, Judge

LOOK_SECONDS = 0.5


class Command(BaseCommand):
    help = "Let a judge grade what it has not graded of a study's criterion. A Celery worker does the work."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument(
            "--criterion", required=True, metavar="C", help=f"one of the study's; “{REPORT_RATING}” is made if missing"
        )
        parser.add_argument("--judge", required=True, metavar="NAME", help="see manage.py judges")
        parser.add_argument("--wait", action="store_true", help="show progress until the job is over")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(name=options["study"]).first()
        if study is None:
            raise CommandError(f"There is no study “{options['study']}”.")
        judge = Judge.objects.filter(name=options["judge"]).first()
        if judge is None:
            raise CommandError(f"There is no judge “{options['judge']}”. manage.py judges lists them.")
        try:
            job = start_job(criterion=criterion_named(study, options["criterion"]), judge=judge, by=None, at=now())
        except (NothingToGrade, AlreadyUnderWay, JudgeDoesNotFit) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Job {job.pk}: {job.total} pairs, {job.skipped} skipped for they have no text.")
        if options["wait"]:
            self.wait_for(job)

    def wait_for(self, job: GradingJob) -> None:
        """Show progress until the job is over; a paused one ends the wait with its reason."""
        with tqdm(total=job.total, unit=" pairs") as bar:
            while job.active:
                time.sleep(LOOK_SECONDS)
                job.refresh_from_db()
                bar.update(job.done - bar.n)
        if job.state == GradingJob.State.PAUSED:
            raise CommandError(f"The job is paused. {job.reason}".strip())
        for line in ledger_of(job).lines():
            self.stdout.write(line)


def criterion_named(study: Study, name: str) -> Criterion:
    """Return the study's criterion of this name. Raises CommandError, naming those there are."""
    criterion = study.criteria.filter(name=name).first()
    if criterion is None and name == REPORT_RATING:
        return add_report_rating(study)
    if criterion is None:
        names = ", ".join(study.criteria.values_list("name", flat=True))
        raise CommandError(f"The study “{study}” has no criterion “{name}”. There are {names}.")
    return criterion
