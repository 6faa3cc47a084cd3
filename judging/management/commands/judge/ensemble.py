from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from collection.importing.commands import mended_by_the_reader
from collection.models import Study
from judging.judges.ensembles import RULES, TIES, ensemble_of
from judging.judges.registry import BadJudge


class Command(BaseCommand):
    help = "Create an ensemble of judges, or of samples of one judge. The same ensemble again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "members",
            nargs="+",
            metavar="JUDGE",
            help="the members, imported ones as STUDY/CRITERION/NAME; or one judge, with --samples",
        )
        parser.add_argument("--samples", type=int, metavar="N", help="take N samples of the one judge")
        parser.add_argument("--temperature", type=float, default=0.7, metavar="T", help="of the samples (0.7)")
        parser.add_argument("--rule", choices=RULES, default="majority")
        parser.add_argument("--ties", choices=TIES, default="lower")
        parser.add_argument(
            "--quorum", type=int, metavar="Q", help="members that must have graded (default: more than half)"
        )
        parser.add_argument("--at", type=float, metavar="θ", help="expected: from which expected grade on it is a yes")
        parser.add_argument("--name", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        choices = {name: options[name] for name in ("rule", "ties", "quorum", "at", "name", "samples", "temperature")}
        with mended_by_the_reader(BadJudge):
            ensemble, new = ensemble_of(options["members"], studies=Study.objects.all(), **choices)
        self.stdout.write(f"{ensemble} is {'created' if new else 'already there'}. Its members:")
        for member in ensemble.members.select_related("judge", "rater"):
            self.stdout.write(f"  {member}")
