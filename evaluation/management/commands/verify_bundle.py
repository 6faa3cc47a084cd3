"""manage.py verify_bundle: whether an audit bundle holds, file by file and figure by figure."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.archives import ArchiveRefused, read_archive
from evaluation.management.base import EvaluationCommand
from evaluation.verification import Verdict, verify


class Command(EvaluationCommand):
    help = "Check every hash of an audit bundle, compute its figures again, and say yes or no (status 1)."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("bundle", type=Path, metavar="FILE.zip")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        path: Path = options["bundle"]
        try:
            verdict = verify(read_archive(path))
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
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
        if verdict.holds:
            self.stdout.write(
                f"Yes: {verdict.n_files:,} files are what the manifest says, "
                f"and all {verdict.n_figures:,} figures come out of the tables."
            )
        else:
            self.stdout.write(f"No: {len(verdict.problems):,} things do not hold.")
