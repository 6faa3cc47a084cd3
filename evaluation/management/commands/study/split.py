from __future__ import annotations

import math
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from collection.judgments.judged_criteria import find_study
from collection.splits import make_split
from collection.web.commands import FiguresCommand, add
from evaluation.data.rater_names import judges_of
from evaluation.data.visibility import parts_of, readings_by_judge
from stats.plurals import counted, times


class Command(FiguresCommand):
    help = "Lock a share of a study's topics as test topics; without --test-share, show the split."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--study", required=True)
        parser.add_argument(
            "--test-share", type=float, metavar="S", help="between 0 and 1; a study can be split only once"
        )
        parser.add_argument("--seed", default="", help="seed for drawing the topics (default: random)")
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        share = options["test_share"]
        if share is not None and not (math.isfinite(share) and 0 < share < 1):
            raise CommandError("--test-share must be between 0 and 1.")
        study = find_study(options["study"])
        if share is not None:
            make_split(study=study, test_share=share, by=None, at=now(), seed=options["seed"])
        parts = parts_of(study)
        if parts is None:
            raise CommandError(f"“{study}” is not split. Split it with --test-share 0.5.")
        readings = readings_by_judge(parts, list(judges_of(study)))
        lines = [f"{counted(len(parts.development), 'topics')} to develop on, {len(parts.test):,} test topics"]
        if parts.n_later:
            lines.append(f"{counted(parts.n_later, 'topics')} came later, in neither")
        lines += [f"{one.completeness.after(one.judge.name)}: test topics unlocked {times(one.n)}" for one in readings]
        return parts.as_dict() | {"readings": {one.judge.name: one.n for one in readings}}, "\n".join(lines)
