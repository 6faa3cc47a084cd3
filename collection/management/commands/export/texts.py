from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser

from collection.exporting.exchanged import EXPORTS, SUFFIXES
from collection.exporting.runs import NoSuchRun
from collection.management.exporting import ExportCommand
from collection.models import Collection
from collection.web.commands import add

NO_TEXT = "A zip is not text: write it to a file, with > runs.zip"


class Command(ExportCommand):
    help = "Write a collection's topics, passages or rankings to standard output, as the field exchanges them."
    of = "collection"
    refusals = (NoSuchRun,)

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add(parser, "--as", required=True, choices=list(EXPORTS))
        add(parser, "--run", default="", help="of a pool or a run file, where the collection has several runs")

    def advice(self, options: dict[str, Any]) -> str:
        return NO_TEXT if SUFFIXES.get(options["form"]) == "zip" else ""

    def pieces(self, of: Collection, options: dict[str, Any]) -> Iterable[str] | Iterable[bytes]:
        return EXPORTS[options["form"]](of, options["run"])
