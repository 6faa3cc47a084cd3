from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from collection.exporting.labels import FORMS, LabelsRefused, exported_labels, label_files
from collection.finished_files import write_text
from collection.importing.commands import mended_by_the_reader, the_study


class Command(BaseCommand):
    help = "Write a study's labels to standard output as a paper's tool writes them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--as", required=True, dest="form", choices=list(FORMS))
        parser.add_argument("--rater", default="", metavar="NAME", help="whose, where several have such labels")
        parser.add_argument("--criterion", default="", metavar="C", help="default: the first of its task type")

    def handle(self, *args: Any, study: str, form: str, rater: str, criterion: str, **options: Any) -> None:
        found = the_study(study)
        with mended_by_the_reader(LabelsRefused):
            write_text(self.stdout, exported_labels(found, form, rater=rater, criterion=criterion))
        for remark in next((one.remarks for one in label_files(found) if one.form == form), []):
            self.stderr.write(remark)
