from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from collection.exporting.clapnq import LeftOut, exported_clapnq
from collection.finished_files import write_text
from collection.importing.commands import the_study
from stats.plurals import counted


class Command(BaseCommand):
    help = "Write a study's written answers, of both rounds, to standard output in CLAPNQ's format."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")

    def handle(self, *args: Any, study: str, **options: Any) -> None:
        told = LeftOut()
        write_text(self.stdout, exported_clapnq(the_study(study), told))
        if told.unanswered:
            self.stderr.write(f"Left out, without an answer yet: {counted(told.unanswered, 'passages')}.")
