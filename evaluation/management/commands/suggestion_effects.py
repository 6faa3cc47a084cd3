"""manage.py suggestion_effects: what suggesting a judge's grades did to labels, arm by arm."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from collection.judgments.judged_criteria import find_study
from collection.web.commands import EvaluationCommand
from collection.web.options import add_options, choose
from evaluation import computations
from evaluation.trust.serializers import EffectsChoice


class Command(EvaluationCommand):
    help = "Compare labels by how a judge's grade was suggested: shift towards it, time, agreement, leaderboard."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        add_options(parser, EffectsChoice)
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        found = computations.suggestion_effects(find_study(options["study"]), **choose(EffectsChoice, options))
        if options["json"]:
            self.print_json(found.as_dict())
            return
        self.stdout.write(f"{found.criterion.name}, suggestions of {found.judge.name}, {found.n_labels:,} labels")
        self.stdout.write(f"Since the first draw there are {found.n_since:,} labels on items that the judge graded")
        for arm in found.arms:
            self.stdout.write(f"{arm.name}: {arm.n_labels:,} labels")
            for name, estimate in arm.estimates().items():
                if estimate.value is not None:
                    self.stdout.write(f"  {name} {estimate.value:.3f} ({estimate.interval_in_words()})")
