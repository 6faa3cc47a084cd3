from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.timezone import now

from collection.formats.problems import InputFile
from collection.importing.commands import add_relevant_from, mended_by_the_reader, progress_bar, the_study
from judging.imported.formats import FORMATS, NO_GRADE
from judging.imported.importer import Wanted, import_grades, try_grades


class Command(BaseCommand):
    help = "Import another tool's grades as those of a judge, recording their provenance and the file's hash."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--quiet", action="store_true", help="no progress bar")
        parser.add_argument("--format", choices=list(FORMATS), required=True)
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--judge", required=True, metavar="NAME", help="name of the judge")
        parser.add_argument("--tool", required=True, metavar="NAME", help="the program that graded")
        parser.add_argument("--tool-version", default="", metavar="V")
        parser.add_argument("--model", default="", metavar="NAME", help="the model that the tool used")
        parser.add_argument("--prompt-file", type=Path, metavar="FILE", help="a file with the exact prompt")
        parser.add_argument("--graded-on", type=date.fromisoformat, metavar="DATE", help="2026-05-31")
        parser.add_argument("--criterion", default="", metavar="NAME", help="of qrels")
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

    def handle(self, *args: Any, file: Path, quiet: bool, **options: Any) -> None:
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
                "file_format": options["format"],
                "version": options["tool_version"],
                "prompt": prompt,
                "add_items": not options["only_items"],
                "add_passages": options["without_texts"],
            }
        )
        bring = try_grades if options["preview"] else import_grades
        size = file.stat().st_size if file.is_file() else None
        with mended_by_the_reader(), progress_bar(file.name, size, quiet=quiet) as bar:
            told = InputFile(file, name=file.name, advance=bar.update)
            read = bring(file=told, study=study, wanted=wanted, at=now())
        if options["preview"]:
            self.stdout.write("Nothing has been imported yet. Preview:")
        for line in read.lines():
            self.stdout.write(line)


def numbers(written: str) -> tuple[float, ...]:
    """Return the numbers of a list with commas."""
    try:
        return tuple(float(part) for part in written.split(",") if part.strip())
    except ValueError:
        raise ArgumentTypeError(f"“{written}” are not numbers separated by commas. Write, for example: -1,-2") from None
