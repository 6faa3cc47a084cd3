from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from collection.models import Study
from collection.web.commands import SiteCommand, add
from judging.judges.ensembles import RULES, TIES, ensemble_of
from judging.judges.registry import BadJudge


class Command(SiteCommand):
    help = "Create an ensemble of judges, or of samples of one judge. The same ensemble again changes nothing."
    refusals = (BadJudge,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "members",
            nargs="+",
            metavar="JUDGE",
            help="the members, imported ones as STUDY/CRITERION/NAME; or one judge, with --samples",
        )
        add(parser, "--json")
        parser.add_argument("--samples", type=int, metavar="N", help="take N samples of the one judge")
        parser.add_argument("--temperature", type=float, default=0.7, metavar="T", help="of the samples (0.7)")
        parser.add_argument("--rule", choices=RULES, default="majority", help="how grades become one (%(default)s)")
        parser.add_argument("--ties", choices=TIES, default="lower", help="which grade a tie becomes (%(default)s)")
        parser.add_argument(
            "--quorum", type=int, metavar="Q", help="members that must have graded (default: more than half)"
        )
        parser.add_argument("--at", type=float, metavar="θ", help="expected: from which expected grade on it is a yes")
        parser.add_argument("--name", default="", help="its name, if not made of the members'")

    def handle(self, **options: Any) -> None:
        choices = {name: options[name] for name in ("rule", "ties", "quorum", "at", "name", "samples", "temperature")}
        ensemble, new = ensemble_of(options["members"], studies=Study.objects.all(), **choices)
        members = list(map(str, ensemble.members.select_related("judge", "rater")))
        text = f"{ensemble} is {'created' if new else 'already there'}. Its members:"
        self.say("\n  ".join([text, *members]), ensemble=str(ensemble), new=new, members=members)
