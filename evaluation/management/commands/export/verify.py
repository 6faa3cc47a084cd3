from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.web.commands import SiteCommand, add
from evaluation.formats.zip_files import ArchiveRefused, read_archive
from stats.audit_verification import Verdict, verify
from stats.plurals import counted


class Command(SiteCommand):
    help = "Verify an audit bundle: check every hash, recompute its figures, and answer yes or no (status 1)."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("bundle", type=Path, metavar="FILE.zip", help="the bundle")
        add(parser, "--json")

    def handle(self, **options: Any) -> None:
        path: Path = options["bundle"]
        try:
            verdict = verify(read_archive(path))
        except ArchiveRefused as refused:
            raise CommandError(f"{path}: {refused}") from refused
        if options["json"]:
            self.print_json(verdict.as_dict())
        else:
            self.tell(verdict)
        if not verdict.holds:
            sys.exit(1)

    def tell(self, verdict: Verdict) -> None:
        for problem in verdict.problems:
            self.stdout.write(str(problem))
        for figure in verdict.newer:
            self.stdout.write(f"{figure}: newer than the bundle, which cannot have it.")
        if verdict.holds:
            self.stdout.write(
                f"Yes: {counted(verdict.n_files, 'files')} are what the manifest says, "
                f"and all {counted(verdict.n_figures, 'figures')} come out of the tables."
            )
        else:
            self.stdout.write(f"No: {counted(len(verdict.problems), 'problems')}.")
