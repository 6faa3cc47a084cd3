from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.formats.cited_reports import read_cited_reports
from collection.formats.cited_reports.tracks import TRACKS, advice, broken_by_all, broken_rules
from collection.importing.commands import reading
from collection.web.commands import SiteCommand, add
from stats.plurals import counted


class Command(SiteCommand):
    help = "Check a file of cited reports by a track's rules, and keep nothing. Exit status 1 if one is broken."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "file")
        parser.add_argument("--track", required=True, choices=TRACKS, help="whose rules")

    def handle(self, *, file: Path, track: str, **options: Any) -> None:
        found, broken, asked = [], 0, TRACKS[track]
        with reading(file, quiet=True) as opened, opened:
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
