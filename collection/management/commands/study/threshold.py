from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils.timezone import now

from collection.importing.commands import mended_by_the_reader, the_criterion, the_study, the_user
from collection.thresholds import NoSuchThreshold, ThresholdLocked, change_threshold


class Command(BaseCommand):
    help = "Change the threshold of a study's criterion: the grade from which a judgment counts as positive."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--criterion", required=True, metavar="NAME")
        parser.add_argument("--to", type=float, required=True, metavar="G", help="the new threshold, a grade")
        parser.add_argument("--by", required=True, metavar="USER", help="who changes it, for its history")

    def handle(self, *args: Any, **options: Any) -> None:
        study, user = the_study(options["study"]), the_user(options["by"])
        criterion = the_criterion(study, options["criterion"])
        with mended_by_the_reader(NoSuchThreshold, ThresholdLocked):
            change = change_threshold(criterion=criterion, threshold=options["to"], by=user, at=now())
        self.stdout.write(str(change) if change else f"{criterion}: η is already {options['to']:g}")
