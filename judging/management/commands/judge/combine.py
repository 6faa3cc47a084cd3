from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils.timezone import now

from collection.importing.commands import mended_by_the_reader, the_criterion, the_study
from judging.judges.combining import EnsembleDoesNotFit, NotAnEnsemble, combine
from judging.management.starting import the_judge


class Command(BaseCommand):
    help = "Combine the members' current judgments into an ensemble's. Running it again writes only changes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--ensemble", required=True, metavar="NAME")
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--criterion", required=True, metavar="C")

    def handle(self, *args: Any, **options: Any) -> None:
        ensemble = the_judge(options["ensemble"])
        criterion = the_criterion(the_study(options["study"]), options["criterion"])
        with mended_by_the_reader(NotAnEnsemble, EnsembleDoesNotFit):
            done = combine(ensemble=ensemble, criterion=criterion, at=now())
        self.stdout.write(
            f"{done.graded:,} graded, {done.ungraded:,} undecided, {done.waiting:,} waiting for a member; "
            f"{done.changed:,} new or changed."
        )
