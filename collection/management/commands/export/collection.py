from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from collection.exporting.collections import exported_collection
from collection.finished_files import write_text
from collection.importing.commands import the_collection


class Command(BaseCommand):
    help = "Write a collection to standard output as Assize JSONL."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--collection", required=True, metavar="NAME")

    def handle(self, *args: Any, collection: str, **options: Any) -> None:
        write_text(self.stdout, exported_collection(the_collection(collection)))
