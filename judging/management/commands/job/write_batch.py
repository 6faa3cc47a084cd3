from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from collection.importing.commands import mended_by_the_reader
from judging.grading.batch_files import SERVICES, NoBatch, write_requests
from judging.management.starting import add_selection, start, the_job
from judging.models import GradingJob
from stats.plurals import counted


class Command(BaseCommand):
    help = "Write a judge's requests to a file for a batch service, as a job that workers do not grade."

    def add_arguments(self, parser: CommandParser) -> None:
        add_selection(parser)
        parser.add_argument(
            "--job", type=int, metavar="N", help="write the requests that this job still needs; starts no new job"
        )
        parser.add_argument("--service", choices=sorted(SERVICES), default="openai")
        parser.add_argument("--out", type=Path, metavar="FILE", help="standard output if left out")

    def start_one(self, options: dict[str, Any]) -> GradingJob:
        """Start a job whose requests can be written. Raises CommandError, and then there is no job."""
        if len(options["judge"] or []) > 1:
            raise CommandError("A file is for one judge: name one judge for each file.")
        try:
            if options["out"]:
                options["out"].open("a").close()
        except OSError as error:
            raise CommandError(f"{options['out']}: {error.strerror}") from error
        (job,) = start(options, away=options["service"])
        return job

    def handle(self, *args: Any, **options: Any) -> None:
        job = the_job(options["job"]) if options["job"] else self.start_one(options)
        written = 0
        writing = options["out"].open("w", encoding="utf-8") if options["out"] else nullcontext(sys.stdout)
        with mended_by_the_reader(NoBatch), writing as out:
            for line in write_requests(job, service=job.selection.get("service", options["service"])):
                out.write(line)
                written += 1
        requests = counted(written, "requests")
        self.stderr.write(f"Job {job.pk}: {requests}. manage.py job read-batch --job {job.pk} reads the replies.")
