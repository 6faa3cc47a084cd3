from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from collection.finished_files import write_file
from collection.judgments.judged_criteria import find_study
from collection.web.commands import SiteCommand, add
from collection.web.options import add_options, choose
from evaluation.leaderboards.evaluation_files.values import evaluation_files
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.serializers import EvaluationChoice
from evaluation.leaderboards.sources import Scorer
from stats.plurals import counted
from stats.ranking.measure_names import parse_measure


class Command(SiteCommand):
    help = "Write a study's leaderboard as evaluation files: values by topic, and over all."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--study", required=True)
        add(parser, "--json")
        add(parser, "--out", required=True, metavar="FOLDER", help="the folder that is written")
        add_options(parser, EvaluationChoice)

    def handle(self, **options: Any) -> None:
        chosen = choose(EvaluationChoice, options)
        rules = {name: chosen[name] for name in ("combine", "oracle", "order", "confidence")}
        scorer = Scorer.of(find_study(options["study"]), **rules)
        board = measure_leaderboard(
            scorer, parse_measure(chosen["measure"]), sources=chosen["source"], topics=chosen["topics"]
        )
        files = evaluation_files(board, form=chosen["form"])
        for name, content in files.items():
            path = options["out"] / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, content)
        self.say(f"{counted(len(files), 'files')} in {options['out']}.", files=list(files))
