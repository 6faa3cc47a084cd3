from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from collection.collections.sharing import make_collection
from collection.formats.problems import InputFile
from collection.importing.collections import import_collection
from collection.importing.commands import ImportCommand, the_user
from collection.importing.rows import Imported
from collection.models import Collection


class Command(ImportCommand):
    help = "Import an Assize JSONL file into a collection, which is created if it is new."
    importer = staticmethod(import_collection)

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--collection", required=True, metavar="NAME")
        parser.add_argument("--owner", metavar="USER", help="the owner, if the collection is new")

    @transaction.atomic
    def bring(self, file: InputFile, **options: Any) -> Imported:
        return self.importer(file=file, collection=collection_of(options["collection"], options["owner"]))


def collection_of(name: str, owner: str | None) -> Collection:
    """Return this collection, made if it is new. Raises CommandError and ValidationError."""
    collection = Collection.objects.filter(name=name).first()
    if collection is None:
        if owner is None:
            raise CommandError(f"The collection “{name}” is new: give its owner with --owner USER.")
        collection = make_collection(name=name, owner=the_user(owner))
    return collection
