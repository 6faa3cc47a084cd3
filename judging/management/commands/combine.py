from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.timezone import now

from collection.models import Criterion
from judging.judges.combining import EnsembleDoesNotFit, NotAnEnsemble, combine
from judging.models import Judge


class Command(BaseCommand):
    help = "Combine the members' current judgments into an ensemble's. Running it again writes only changes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--ensemble", required=True, metavar="NAME")
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--criterion", required=True, metavar="C")

    def handle(self, *args: Any, **options: Any) -> None:
        ensemble = Judge.objects.select_related("rater", "scale", "examples_from").filter(name=options["ensemble"])
        criterion = Criterion.objects.select_related("study").filter(
            study__name=options["study"], name=options["criterion"]
        )
        if not ensemble:
            raise CommandError(f"There is no judge “{options['ensemble']}”. manage.py judges lists them.")
        if not criterion:
            raise CommandError(f"There is no study “{options['study']}” with a criterion “{options['criterion']}”.")
        try:
            done = combine(ensemble=ensemble[0], criterion=criterion[0], at=now())
        except (NotAnEnsemble, EnsembleDoesNotFit) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{done.graded:,} graded, {done.ungraded:,} undecided, {done.waiting:,} waiting for a member; "
            f"{done.changed:,} new or changed."
        )
