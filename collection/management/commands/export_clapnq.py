from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from collection.exporting.clapnq import Told, exported_clapnq
from collection.management.importing import the_study


class Command(BaseCommand):
    help = "Write a study's written answers, of both rounds, to standard output in CLAPNQ's format."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")

    def handle(self, *args: Any, study: str, **options: Any) -> None:
        told = Told()
        for line in exported_clapnq(the_study(study), told):
            self.stdout.write(line, ending="")
        if told.unanswered:
            self.stderr.write(f"{told.unanswered:,} passages have no answer yet and are left out.")
