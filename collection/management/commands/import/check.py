from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from collection.formats.cited_reports import read_cited_reports
from collection.formats.cited_reports.tracks import TRACKS, advice, broken_by_all, broken_rules
from collection.importing.commands import mended_by_the_reader, reading
from stats.plurals import counted


class Command(BaseCommand):
    help = "Check a file of cited reports by a track's rules, and keep nothing. Exit status 1 if one is broken."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--track", required=True, choices=TRACKS)

    def handle(self, *args: Any, file: Path, track: str, **options: Any) -> None:
        found, broken, asked = [], 0, TRACKS[track]
        with mended_by_the_reader(), reading(file, quiet=True) as opened, opened:
            for number, report in read_cited_reports(opened):
                found.append((report.run, report.topic_id))
                for rule in broken_rules(report, asked):
                    broken += 1
                    self.stdout.write(f"{file}, line {number}: {rule}")
                for rule in advice(report, asked):
                    self.stdout.write(f"{file}, line {number}, advice: {rule}")
        for rule in broken_by_all(found, asked):
            broken += 1
            self.stdout.write(f"{file}: {rule}")
        if broken:
            raise CommandError(f"{counted(broken, 'rules')} of {asked.title} broken.")
        self.stdout.write(f"{counted(len(found), 'reports')} in the form of {asked.title}.")
