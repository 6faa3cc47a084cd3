from typing import Any

from django.core.management.base import CommandParser
from django.utils.timezone import now

from collection.importing.commands import the_criterion, the_study, the_user
from collection.thresholds import NoSuchThreshold, ThresholdLocked, change_threshold
from collection.web.commands import SiteCommand, add


class Command(SiteCommand):
    help = "Change the threshold of a study's criterion: the grade from which a judgment counts as positive."
    refusals = (NoSuchThreshold, ThresholdLocked)

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--study", "--criterion", "--by", required=True)
        add(parser, "--json")
        parser.add_argument("--to", type=float, required=True, metavar="G", help="the new threshold, a grade")

    def handle(self, **options: Any) -> None:
        study, user = the_study(options["study"]), the_user(options["by"])
        criterion = the_criterion(study, options["criterion"])
        change = change_threshold(criterion=criterion, threshold=options["to"], by=user, at=now())
        text = str(change) if change else f"{criterion}: η is already {options['to']:g}"
        self.say(text, criterion=criterion.name, threshold=options["to"], changed=bool(change))
