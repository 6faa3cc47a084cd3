from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from collection.exporting.scores import exported_scores
from collection.finished_files import write_text
from collection.formats.scores.tools import LABELS, SeveralCriteria
from collection.importing.commands import mended_by_the_reader, the_study


class Command(BaseCommand):
    help = "Write a study's judgments to standard output as scores of another tool."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--as", required=True, dest="form", choices=list(LABELS))
        parser.add_argument("--criterion", default="", metavar="C", help="only this one")

    def handle(self, *args: Any, study: str, form: str, criterion: str, **options: Any) -> None:
        with mended_by_the_reader(SeveralCriteria):
            write_text(self.stdout, exported_scores(the_study(study), form, criterion=criterion))
