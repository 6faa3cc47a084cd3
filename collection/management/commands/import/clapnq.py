from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction
from django.utils.timezone import now

from collection.importing.commands import mended_by_the_reader, reading, the_first_researcher, the_user
from collection.importing.datasets.clapnq import import_clapnq
from collection.importing.studies import closed_study_in


class Command(BaseCommand):
    help = (
        "Import CLAPNQ files: questions with their passages as a collection, answers as both rounds of a closed study."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--collection", metavar="NAME", help="default: the study's name")
        parser.add_argument(
            "--owner", metavar="USER", help="the owner of the new collection and study; default: the first researcher"
        )
        parser.add_argument("--quiet", action="store_true", help="no progress bar")

    def handle(self, *args: Any, files: list[Path], study: str, **options: Any) -> None:
        owner = the_user(options["owner"]) if options["owner"] else the_first_researcher()
        with mended_by_the_reader(), transaction.atomic():
            into = closed_study_in(
                options["collection"] or study, name=study, title="CLAPNQ", owner=owner, source="CLAPNQ files"
            )
            for path in files:
                with reading(path, quiet=options["quiet"]) as file:
                    imported = import_clapnq(file=file, study=into, at=now())
                self.stdout.write(f"{path.name}\n{imported.told(everything=options['verbosity'] > 1)}")
