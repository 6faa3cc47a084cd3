from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from judging.judges.ensembles import RULES, TIES, make_ensemble, make_ensemble_of_samples
from judging.judges.registry import BadJudge
from judging.models import Judge


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
        parser.add_argument("--name", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        names: list[str] = options["members"]
        judges = Judge.objects.select_related("rater", "template", "scale", "examples_from").in_bulk(
            names, field_name="name"
        )
        if unknown := [name for name in names if name not in judges]:
            raise CommandError(f"There is no judge “{unknown[0]}”. manage.py judges lists them.")
        members = [judges[name] for name in names]
        choices = {name: options[name] for name in ("rule", "ties", "quorum", "name")}
        try:
            if not options["samples"]:
                ensemble, new = make_ensemble(members, **choices)
            elif len(members) != 1:
                raise CommandError("Samples are taken of one judge.")
            else:
                ensemble, new = make_ensemble_of_samples(
                    members[0], count=options["samples"], temperature=options["temperature"], **choices
                )
        except BadJudge as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{ensemble} is {'created' if new else 'already there'}. Its members:")
        for member in ensemble.members.select_related("judge"):
            self.stdout.write(f"  {member.judge.name}")
