from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.utils.timezone import now

from collection.importing.commands import the_criterion, the_study
from collection.web.commands import SiteCommand, add
from judging.judges.combining import EnsembleDoesNotFit, NotAnEnsemble, combine
from judging.management.starting import the_judge


class Command(SiteCommand):
    help = "Combine the members' current judgments into an ensemble's. Running it again writes only changes."
    refusals = (NotAnEnsemble, EnsembleDoesNotFit)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--ensemble", required=True, metavar="NAME", help="the ensemble")
        add(parser, "--study", "--criterion", required=True)
        add(parser, "--json")

    def handle(self, **options: Any) -> None:
        ensemble = the_judge(options["ensemble"])
        criterion = the_criterion(the_study(options["study"]), options["criterion"])
        done = combine(ensemble=ensemble, criterion=criterion, at=now())
        text = (
            f"{done.graded:,} graded, {done.ungraded:,} undecided, {done.waiting:,} waiting for a member; "
            f"{done.changed:,} new or changed."
        )
        self.say(text, **{name: getattr(done, name) for name in ("graded", "ungraded", "waiting", "changed")})
