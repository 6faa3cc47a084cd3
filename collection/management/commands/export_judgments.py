from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from collection.exporting.judgments import exported_judgments
from collection.management.importing import the_study
from collection.services import HighlightDoesNotFit


class Command(BaseCommand):
    help = "Write a study's judgments to standard output as a long table."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--format", choices=["csv", "jsonl"], default="csv")

    def handle(self, *args: Any, study: str, **options: Any) -> None:
        try:
            for line in exported_judgments(the_study(study), table=options["format"]):
                self.stdout.write(line, ending="")
        except HighlightDoesNotFit as misplaced:
            raise CommandError(str(misplaced)) from misplaced
