from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils.timezone import now

from collection.importing.commands import mended_by_the_reader, reading
from judging.grading.batch_files import NoBatch, read_replies
from judging.grading.progress import counts_of_job
from judging.management.starting import the_job


class Command(BaseCommand):
    help = "Read a batch service's replies into the job that wrote the requests. The same file again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--job", type=int, required=True, metavar="N")
        parser.add_argument("--quiet", action="store_true", help="no progress bar")

    def handle(self, *args: Any, file: Path, quiet: bool, **options: Any) -> None:
        job = the_job(options["job"])
        with mended_by_the_reader(NoBatch), reading(file, quiet=quiet) as opened:
            said = read_replies(job=job, file=opened, at=now())
        self.stdout.write(str(said))
        for line in counts_of_job(job).lines():
            self.stdout.write(line)
