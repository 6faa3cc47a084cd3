from typing import Any

from django.core.management.base import CommandParser

from collection.formats.problems import InputFile
from collection.importing.commands import ImportCommand, the_collection
from collection.importing.rows import Imported
from collection.importing.trec import import_run
from collection.web.commands import add


class Command(ImportCommand):
    help = "Import a six-column TREC run (topic Q0 docno rank score tag)."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add(parser, "--collection", required=True)
        add(parser, "--run", default="", help="the run's name, if it is not the tag")
        parser.add_argument("--system", default="", metavar="S", help="the system's name, if it is not the run's")

    def bring(self, file: InputFile, **options: Any) -> Imported:
        collection = the_collection(options["collection"])
        return import_run(file=file, collection=collection, run=options["run"], system=options["system"])
