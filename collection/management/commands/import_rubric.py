from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.utils.timezone import now

from collection.formats.problems import InputFile
from collection.formats.rubric_workbench import WorkbenchFile
from collection.importing.commands import add_relevant_from, mended_by_the_reader, progress_bar, the_user
from collection.importing.datasets.rubric import import_rubric


class Command(BaseCommand):
    help = (
        "Import a graded file of the RUBRIC workbench: its texts and rankings as a collection, its grades as a study."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="graded passages (.jsonl.gz)")
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--owner", required=True, metavar="USER", help="the owner of the new collection and study")
        parser.add_argument("--collection", metavar="NAME", help="default: the study's name")
        parser.add_argument(
            "--bank", type=Path, metavar="FILE", help="the question bank: texts of topics and questions"
        )
        parser.add_argument(
            "--qrels", type=Path, metavar="FILE", help="read relevance from here, not from the graded file"
        )
        parser.add_argument("--assessors", default="NIST", metavar="NAME", help="whose relevance it is (NIST)")
        add_relevant_from(parser)
        parser.add_argument("--quiet", action="store_true", help="no progress bar")

    def handle(self, *args: Any, file: Path, quiet: bool, **options: Any) -> None:
        owner = the_user(options["owner"])
        with mended_by_the_reader(), ExitStack() as bars:

            def opened(path: Path | None, kind: type[InputFile]) -> InputFile | None:
                if path is None:
                    return None
                size = path.stat().st_size if path.is_file() else None
                bar = bars.enter_context(progress_bar(path.name, size, quiet=quiet))
                return kind(path, name=str(path), advance=bar.update)

            graded = opened(file, WorkbenchFile)
            assert graded is not None
            imported = import_rubric(
                file=graded,
                bank=opened(options["bank"], WorkbenchFile),
                qrels=opened(options["qrels"], InputFile),
                study_name=options["study"],
                collection_name=options["collection"] or options["study"],
                owner=owner,
                assessors=options["assessors"],
                relevant_from=options["relevant_from"],
                at=now(),
            )
        self.stdout.write(imported.told(everything=options["verbosity"] > 1))
