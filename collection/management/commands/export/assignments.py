from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from collection.exporting.nugget_banks import HeldOut, assigning_raters, exported_assignments, exported_nugget_scores
from collection.finished_files import write_text
from collection.importing.commands import the_criterion, the_study
from collection.models.studies import TaskType


class Command(BaseCommand):
    help = (
        "Write which nuggets answers support by one rater to standard output, as AutoNuggetizer does; or their scores."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--rater", required=True, metavar="NAME", help="a person or an LLM judge")
        parser.add_argument("--criterion", default="support", metavar="NAME")
        parser.add_argument("--run", default="", metavar="NAME", help="answers of this run alone")
        parser.add_argument("--scores", action="store_true", help="the six scores of each answer instead")

    def handle(self, *args: Any, study: str, rater: str, **options: Any) -> None:
        criterion = the_criterion(the_study(study), options["criterion"])
        if criterion.task_type != TaskType.NUGGET:
            raise CommandError(f"“{criterion}” does not ask about nuggets.")
        found = assigning_raters(criterion, rater).first()
        if found is None:
            raise CommandError(f"“{rater}” has no judgments of nuggets that count in the study “{study}”.")
        written = exported_nugget_scores if options["scores"] else exported_assignments
        try:
            write_text(self.stdout, written(criterion, found, run=options["run"]))
        except HeldOut as refused:
            raise CommandError(str(refused)) from refused
