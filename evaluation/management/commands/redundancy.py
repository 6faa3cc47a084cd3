"""manage.py redundancy: which passages are required and which redundant, as qrels of 3, 2 and 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.data.judgments import CriterionNotFound, find_study
from evaluation.leaderboards.sources import StudySources
from evaluation.management.base import EvaluationCommand
from evaluation.rubrics.redundancy import ORDERS, measure_redundancy
from stats.plurals import counted
from stats.ranking.measure_names import NoLeaderboard


class Command(EvaluationCommand):
    help = "Classify rated passages as CRUX does: 3 required, 2 partly and 1 fully redundant. Prints qrels."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument(
            "--source", default="", metavar="NAME", help="people, or a judge (default: the first source)"
        )
        parser.add_argument("--order", choices=list(ORDERS), default="gain", help="how to choose required passages")
        parser.add_argument("--run", default="", metavar="RUN", help="only the passages that this run ranks")
        parser.add_argument("--output", type=Path, metavar="FILE", help="output file (default: standard output)")
        parser.add_argument("--json", action="store_true", help="print JSON instead")

    def handle(self, **options: Any) -> None:
        try:
            boards = StudySources(find_study(options["study"]))
            found = measure_redundancy(boards, source=options["source"], order=options["order"], run=options["run"])
        except (CriterionNotFound, NoLeaderboard) as refused:
            raise CommandError(str(refused)) from refused
        if options["json"]:
            self.print_json(found.as_dict())
            return
        if options["output"]:
            try:
                options["output"].write_text(found.qrels, encoding="utf-8")
            except OSError as error:
                raise CommandError(f"{options['output']}: {error.strerror}") from error
        else:
            self.stdout.write(found.qrels, ending="")
        counts = ", ".join(f"{n:,} {name}" for name, n in found.totals.items())
        self.note(f"{found.rule}: {counts} of {counted(len(found.topics), 'topics')}.")
