"""manage.py split: part a study's topics into a development and a test part, or say how they are parted."""

from __future__ import annotations

import math
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from collection.splits import AlreadySplit, TooFewTopics, make_split
from evaluation.management.base import EvaluationCommand
from evaluation.services.naming import judges_of
from evaluation.services.parts import parts_of, readings_by_judge, times
from evaluation.services.studies import CriterionNotFound, find_study


class Command(EvaluationCommand):
    help = "Lock a share of a study's topics away as its test part; without --test-share, show the parts."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--test-share", type=float, metavar="S", help="between 0 and 1; a split is made once")
        parser.add_argument("--seed", default="", help="what the topics are drawn with; else a new one")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        share = options["test_share"]
        if share is not None and not (math.isfinite(share) and 0 < share < 1):
            raise CommandError("--test-share lies between 0 and 1.")
        try:
            study = find_study(options["study"])
            if share is not None:
                make_split(study=study, test_share=share, by=None, at=now(), seed=options["seed"])
        except (CriterionNotFound, AlreadySplit, TooFewTopics) as refused:
            raise CommandError(str(refused)) from refused
        parts = parts_of(study)
        if parts is None:
            raise CommandError(f"“{study}” is not split. Split it with --test-share 0.5.")
        readings = readings_by_judge(parts, list(judges_of(study)))
        if options["json"]:
            self.print_json(parts.as_dict() | {"readings": {one.judge.name: one.n for one in readings}})
            return
        lines = [f"{len(parts.development):,} topics to develop on, {len(parts.test):,} to test on"]
        if parts.n_later:
            lines.append(f"{parts.n_later:,} topics came later and are in neither")
        self.stdout.write(
            "\n".join([*lines, *(f"{one.judge.name}: test part read {times(one.n)}" for one in readings)])
        )
