from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from collection.importing.commands import add_relevant_from, reading, the_study
from collection.web.commands import SiteCommand, add
from judging.imported.formats import FORMATS, NO_GRADE
from judging.imported.importer import Wanted, import_grades, try_grades


class Command(SiteCommand):
    help = "Import another tool's grades as those of a judge, recording their provenance and the file's hash."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "file", "--quiet", "--json")
        add(parser, "--as", choices=list(FORMATS), required=True)
        add(parser, "--study", "--judge", required=True)
        parser.add_argument("--tool", required=True, metavar="NAME", help="the program that graded")
        parser.add_argument("--tool-version", default="", metavar="V", help="its version")
        parser.add_argument("--model", default="", metavar="NAME", help="the model that the tool used")
        parser.add_argument("--prompt-file", type=Path, metavar="FILE", help="a file with the exact prompt")
        parser.add_argument("--graded-on", type=date.fromisoformat, metavar="DATE", help="2026-05-31")
        add(parser, "--criterion", default="", help="of qrels")
        add_relevant_from(parser)
        parser.add_argument(
            "--no-grade", type=numbers, default=NO_GRADE, metavar="N,…", help="qrels: the number for no grade (-1)"
        )
        parser.add_argument(
            "--only-items",
            action="store_true",
            help="leave out pairs that are not items of the study, instead of creating items",
        )
        parser.add_argument("--without-texts", action="store_true", help="qrels: create missing passages")
        parser.add_argument("--preview", action="store_true", help="preview the import, and change nothing")

    def handle(self, *, file: Path, quiet: bool, **options: Any) -> None:
        study = the_study(options["study"])
        prompt = ""
        if path := options["prompt_file"]:
            try:
                prompt = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise CommandError(f"{path}: the prompt cannot be read ({error}). Give a file in UTF-8.") from error
        wanted = Wanted.of(
            {
                **options,
                "file_format": options["form"],
                "version": options["tool_version"],
                "prompt": prompt,
                "add_items": not options["only_items"],
                "add_passages": options["without_texts"],
            }
        )
        bring = try_grades if options["preview"] else import_grades
        with reading(file, quiet=quiet, name=file.name) as opened:
            read = bring(file=opened, study=study, wanted=wanted, at=now())
        preview = ["Nothing has been imported yet. Preview:"] if options["preview"] else []
        counts = {"read": read.told, "taken": read.taken, "new": read.new, "known": read.known}
        self.say("\n".join([*preview, *read.lines()]), **counts, remarks=read.imported.remarks)


def numbers(written: str) -> tuple[float, ...]:
    """Return the numbers of a list with commas."""
    try:
        return tuple(float(part) for part in written.split(",") if part.strip())
    except ValueError:
        raise ArgumentTypeError(f"“{written}” are not numbers separated by commas. Write, for example: -1,-2") from None
