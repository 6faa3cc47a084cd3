from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any, cast

from django.core.management.base import BaseCommand, CommandError

from collection.exporting.exchanged import EXPORTS, SUFFIXES
from collection.exporting.runs import NoSuchRun
from collection.finished_files import write_bytes, write_text
from collection.importing.commands import the_collection


class Command(BaseCommand):
    help = "Write a collection's topics, passages or rankings to standard output, as the field exchanges them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--collection", required=True, metavar="NAME")
        parser.add_argument("--as", required=True, dest="form", choices=list(EXPORTS))
        parser.add_argument(
            "--run", default="", metavar="NAME", help="of a pool or a run file, where the collection has several runs"
        )

    def handle(self, *args: Any, collection: str, form: str, run: str, **options: Any) -> None:
        try:
            written = EXPORTS[form](the_collection(collection), run)
        except NoSuchRun as refused:
            raise CommandError(str(refused)) from refused
        if SUFFIXES.get(form) == "zip":
            advice = "A zip is not text: write it to a file, with > runs.zip"
            write_bytes(self.stdout, cast("Iterator[bytes]", written), advice=advice)
            return
        write_text(self.stdout, cast("Iterator[str]", written))
