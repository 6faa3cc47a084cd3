from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.timezone import now

from collection.importing.commands import the_study, the_user
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
        criterion = study.criteria.filter(name=options["criterion"]).first()
        if criterion is None:
            names = ", ".join(study.criteria.values_list("name", flat=True))
            raise CommandError(f"“{study}” has no criterion “{options['criterion']}”. It has: {names}.")
        try:
            change = change_threshold(criterion=criterion, threshold=options["to"], by=user, at=now())
        except (NoSuchThreshold, ThresholdLocked) as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(str(change) if change else f"{criterion}: η is already {options['to']:g}")
