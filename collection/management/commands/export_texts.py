from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from collection.exporting.exchanged import EXPORTS, NoSuchRun
from collection.importing.commands import the_collection


class Command(BaseCommand):
    help = "Write a collection's topics, passages or rankings to standard output, as the field exchanges them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--collection", required=True, metavar="NAME")
        parser.add_argument("--as", required=True, dest="form", choices=list(EXPORTS))
        parser.add_argument(
            "--run", default="", metavar="NAME", help="of a pool, where the collection has several runs"
        )

    def handle(self, *args: Any, collection: str, form: str, run: str, **options: Any) -> None:
        try:
            for line in EXPORTS[form](the_collection(collection), run):
                self.stdout.write(line, ending="")
        except NoSuchRun as refused:
            raise CommandError(str(refused)) from refused
