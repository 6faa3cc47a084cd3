from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.web.commands import SiteCommand, add
from judging.grading.batch_files import SERVICES, NoBatch, write_requests
from judging.management.starting import REFUSALS, add_selection, start, the_job
from judging.models import GradingJob
from stats.plurals import counted


class Command(SiteCommand):
    help = "Write a judge's requests to a file for a batch service, as a job that workers do not grade."
    refusals = (NoBatch, *REFUSALS)

    def add_arguments(self, parser: CommandParser) -> None:
        add_selection(parser)
        add(parser, "--job", help="write the requests that this job still needs; starts no new job")
        parser.add_argument("--service", choices=sorted(SERVICES), default="openai", help="for which (%(default)s)")
        add(parser, "--out")

    def start_one(self, options: dict[str, Any]) -> GradingJob:
        """Start a job whose requests can be written. Raises CommandError, and then there is no job."""
        if len(options["judge"] or []) > 1:
            raise CommandError("A file is for one judge: name one judge for each file.")
        if options["out"]:
            options["out"].open("a").close()
        (job,) = start(options, away=options["service"])
        return job

    def handle(self, **options: Any) -> None:
        job = the_job(options["job"]) if options["job"] else self.start_one(options)
        written = 0
        writing = options["out"].open("w", encoding="utf-8") if options["out"] else nullcontext(sys.stdout)
        with writing as out:
            for line in write_requests(job, service=job.selection.get("service", options["service"])):
                out.write(line)
                written += 1
        requests = counted(written, "requests")
        self.stderr.write(f"Job {job.pk}: {requests}. manage.py job read-batch --job {job.pk} reads the replies.")
