from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from collection.importing.commands import mended_by_the_reader
from judging.judges.ensembles import RULES, TIES, make_ensemble, make_ensemble_of_samples
from judging.judges.registry import BadJudge
from judging.management.starting import the_judge


class Command(BaseCommand):
    help = "Create an ensemble of judges, or of samples of one judge. The same ensemble again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("members", nargs="+", metavar="JUDGE", help="the members; or one judge, with --samples")
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
        members = [the_judge(name) for name in options["members"]]
        choices = {name: options[name] for name in ("rule", "ties", "quorum", "at", "name")}
        with mended_by_the_reader(BadJudge):
            if not options["samples"]:
                ensemble, new = make_ensemble(members, **choices)
            elif len(members) != 1:
                raise CommandError("Samples are taken of one judge.")
            else:
                ensemble, new = make_ensemble_of_samples(
                    members[0], count=options["samples"], temperature=options["temperature"], **choices
                )
        self.stdout.write(f"{ensemble} is {'created' if new else 'already there'}. Its members:")
        for member in ensemble.members.select_related("judge"):
            self.stdout.write(f"  {member.judge.name}")
