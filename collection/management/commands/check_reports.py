from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from collection.formats.cited_reports import TRACKS, broken_rules, read_cited_reports
from collection.importing.commands import mended_by_the_reader, reading
from stats.plurals import counted


class Command(BaseCommand):
    help = "Check a file of cited reports by a track's rules, and keep nothing. Exit status 1 if one is broken."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--track", required=True, choices=TRACKS)

    def handle(self, *args: Any, file: Path, track: str, **options: Any) -> None:
        reports = broken = 0
        with mended_by_the_reader(), reading(file, quiet=True) as opened, opened:
            for number, report in read_cited_reports(opened):
                reports += 1
                for rule in broken_rules(report, TRACKS[track]):
                    broken += 1
                    self.stdout.write(f"{file}, line {number}: {rule}")
        if broken:
            raise CommandError(f"{counted(broken, 'rules')} of {TRACKS[track].title} broken.")
        self.stdout.write(f"{counted(reports, 'reports')} in the form of {TRACKS[track].title}.")
