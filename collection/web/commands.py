"""What the commands of this app share: JSON alone on standard output, status 1 for every error."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from collection.web.options import REFUSALS


def add_study(parser: CommandParser, *, help: str | None = None, criterion: bool = True) -> None:
    """Add the options that name a study and one of its criteria; the study is required unless `help` says why not."""
    parser.add_argument("--study", metavar="NAME", required=help is None, help=help)
    if criterion:
        parser.add_argument("--criterion", metavar="C", help="the criterion, if there are several")


def finite(text: str) -> float:
    """Read a number that is one."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


class EvaluationCommand(BaseCommand):
    def run_from_argv(self, argv: list[str]) -> None:
        """Run; a wrong option ends with status 1 like every other error, not with argparse's 2."""
        try:
            super().run_from_argv(argv)
        except SystemExit as end:
            sys.exit(1 if end.code == 2 else end.code)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run; what a service refuses, and a file that cannot be read or written, is an error with its reason."""
        try:
            return super().execute(*args, **options)
        except REFUSALS as refused:
            raise CommandError(str(refused)) from refused
        except OSError as error:
            if error.filename is None:
                raise
            raise CommandError(f"{error.filename}: {error.strerror}") from error

    def print_json(self, answer: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(answer, ensure_ascii=False, indent=2, allow_nan=False))

    def note(self, text: str) -> None:
        """Say something beside the answer."""
        self.stderr.write(text)


class FiguresCommand(EvaluationCommand):
    """A command whose answer is printed as JSON, or as text."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print JSON")

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """Return the answer as a dictionary and as text."""
        raise NotImplementedError

    def handle(self, **options: Any) -> None:
        answer, text = self.answer(options)
        if options["json"]:
            self.print_json(answer)
        else:
            self.stdout.write(text)
