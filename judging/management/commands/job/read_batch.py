from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser
from django.utils.timezone import now

from collection.importing.commands import reading
from collection.web.commands import SiteCommand, add
from judging.grading.batch_files import NoBatch, read_replies
from judging.grading.progress import counts_of_job
from judging.management.starting import the_job


class Command(SiteCommand):
    help = "Read a batch service's replies into the job that wrote the requests. The same file again changes nothing."
    refusals = (NoBatch,)

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "file", "--quiet", "--json")
        add(parser, "--job", required=True)

    def handle(self, **options: Any) -> None:
        job = the_job(options["job"])
        with reading(options["file"], quiet=options["quiet"]) as opened:
            replies = read_replies(job=job, file=opened, at=now())
        counts = counts_of_job(job)
        self.say("\n".join([str(replies), *counts.lines()]), job=job.pk, replies=str(replies), **asdict(counts))
