from argparse import ArgumentParser
from typing import Any

from django.db import transaction

from collection.formats.problems import InputFile
from collection.importing.commands import ImportCommand
from collection.importing.rows import Imported
from collection.importing.trec import import_passages
from collection.management.commands.import_collection import collection_of


class Command(ImportCommand):
    help = 'Import passages from JSONL: {"id", "contents"}, or docid, text and similar.'

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--collection", required=True, metavar="NAME")
        parser.add_argument("--owner", metavar="USER", help="the owner, if the collection is new")

    @transaction.atomic
    def bring(self, file: InputFile, **options: Any) -> Imported:
        return import_passages(file=file, collection=collection_of(options["collection"], options["owner"]))
