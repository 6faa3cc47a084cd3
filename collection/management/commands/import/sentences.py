from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from collection.importing.commands import the_collection
from collection.texts.report_sentences import split_reports
from stats.plurals import counted


class Command(BaseCommand):
    help = "Find the sentences of the reports that came in as one text; they are marked as found by a rule."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--collection", required=True, metavar="NAME")

    def handle(self, *args: Any, collection: str, **options: Any) -> None:
        self.stdout.write(f"{counted(split_reports(the_collection(collection)), 'reports')} split into sentences.")
