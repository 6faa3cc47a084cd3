"""What commands share: one list of arguments, JSON alone on standard output, status 1 for every error."""

from __future__ import annotations

import json
import math
import sys
from argparse import _ActionsContainer
from pathlib import Path
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from collection.web.options import REFUSALS

# What is called so in every command. A word without dashes is a position.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "file": {"type": Path, "metavar": "FILE", "help": "the file"},
    "files": {"type": Path, "metavar": "FILE", "nargs": "+", "help": "the files"},
    "judge": {"metavar": "JUDGE", "help": "the judge; manage.py judge list names them"},
    "--study": {"metavar": "NAME", "help": "the study"},
    "--collection": {"metavar": "NAME", "help": "the collection"},
    "--criterion": {"metavar": "C", "help": "the criterion, if there are several"},
    "--bank": {"metavar": "NAME", "help": "the nugget bank"},
    "--rater": {"metavar": "NAME", "help": "whose judgments: a person’s or an LLM judge’s"},
    "--judge": {"metavar": "NAME", "help": "the judge"},
    "--run": {"metavar": "NAME", "help": "this run"},
    "--track": {"metavar": "TRACK", "help": "the track"},
    "--team": {"metavar": "NAME", "help": "the team"},
    "--run-desc": {"metavar": "TEXT", "help": "what the run is, in words"},
    "--topic": {"metavar": "ID", "help": "this topic alone"},
    "--by": {"metavar": "USER", "help": "the person in whose name it is done"},
    "--owner": {"metavar": "USER", "help": "the owner, if the collection is new"},
    "--as": {"dest": "form", "help": "the form of the file"},
    "--out": {"type": Path, "metavar": "FILE", "help": "the file that is written (default: standard output)"},
    "--json": {"action": "store_true", "help": "print JSON"},
    "--quiet": {"action": "store_true", "help": "no progress bar"},
    "--job": {"type": int, "metavar": "N", "help": "the number of the job"},
    "--seed": {"type": int, "metavar": "N", "help": "of the draw; the same seed draws the same (%(default)s)"},
    "--test": {"action": "store_true", "help": "use the study's test topics, which is counted"},
}


def add(parser: _ActionsContainer, *names: str, **more: Any) -> None:
    """Add arguments of the list, with `more` said of them."""
    for name in names:
        parser.add_argument(name, **{**ARGUMENTS[name], **more})


def add_study(parser: CommandParser, *, help: str | None = None, criterion: bool = True) -> None:
    """Add the options that name a study and one of its criteria; the study is required unless `help` says why not."""
    add(parser, "--study", required=help is None, help=help or ARGUMENTS["--study"]["help"])
    if criterion:
        add(parser, "--criterion")


def cleaned(form: forms.BaseForm) -> dict[str, Any]:
    """Return what a form takes of a command's options. Raises CommandError with what is wrong with them."""
    if not form.is_valid():
        raise CommandError("; ".join(f"{name}: {' '.join(map(str, of))}" for name, of in form.errors.items()))
    return form.cleaned_data


def finite(text: str) -> float:
    """Read a number that is one."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


class SiteCommand(BaseCommand):
    """A command: what a service refuses, `refusals` among it, and a file that cannot be used, is an error, status 1."""

    refusals: ClassVar[tuple[type[Exception], ...]] = ()
    as_json = False

    def run_from_argv(self, argv: list[str]) -> None:
        """Run; a wrong option ends with status 1 like every other error, not with argparse's 2."""
        try:
            super().run_from_argv(argv)
        except SystemExit as end:
            sys.exit(1 if end.code == 2 else end.code)

    def execute(self, *args: Any, **options: Any) -> str | None:
        self.as_json = bool(options.get("json"))
        try:
            return super().execute(*args, **options)
        except ValidationError as invalid:
            raise CommandError(" ".join(invalid.messages)) from invalid
        except (*REFUSALS, *self.refusals) as refused:  # type: ignore[misc]  # mypy sees no exceptions in a starred tuple
            raise CommandError(str(refused)) from refused
        except OSError as error:
            if error.filename is None:
                raise
            raise CommandError(f"{error.filename}: {error.strerror}") from error

    def print_json(self, answer: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(answer, ensure_ascii=False, indent=2, allow_nan=False))

    def say(self, text: str, **answer: Any) -> None:
        """Print a result in words; with --json, as an object in a line of its own."""
        self.stdout.write(json.dumps(answer, ensure_ascii=False, allow_nan=False) if self.as_json else text)

    def note(self, text: str) -> None:
        """Say something beside the answer."""
        self.stderr.write(text)


class FiguresCommand(SiteCommand):
    """A command whose answer is printed as JSON, or as text."""

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--json")

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """Return the answer as a dictionary and as text."""
        raise NotImplementedError

    def handle(self, **options: Any) -> None:
        answer, text = self.answer(options)
        if options["json"]:
            self.print_json(answer)
        else:
            self.stdout.write(text)
