from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.judgments.judged_criteria import find_study
from collection.web.commands import FiguresCommand
from collection.web.options import add_options, choose
from evaluation.formats.text import estimate_text
from evaluation.leaderboards.evaluation_files.correlate import board_of, correlate
from evaluation.leaderboards.evaluation_files.values import EvaluationsCompared, answer_of
from evaluation.leaderboards.serializers import CorrelateChoice
from stats.plurals import counted


class Command(FiguresCommand):
    help = "Correlate evaluation files with the first of them, or with a study's leaderboard."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
        parser.add_argument("--study", metavar="NAME", help="with --board: its leaderboard is the reference")
        add_options(parser, CorrelateChoice)
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        chosen = choose(CorrelateChoice, options)
        if bool(options["study"]) != bool(chosen["board"]):
            raise CommandError("Name a --study and the --board (a measure) together, or neither.")
        board = board_of(find_study(options["study"]), chosen) if options["study"] else None
        compared = correlate([(str(path), path) for path in options["files"]], chosen, board=board)
        answer = answer_of(compared)
        found = {"answer": answer, "comparisons": [one.as_dict() for one in compared]}
        return found, "\n\n".join(filter(None, [answer, *map(_text, compared)]))


def _text(one: EvaluationsCompared) -> str:
    topics = counted(one.n_topics, "topics") if one.n_topics else "means alone"
    head = f"{one.other_measure} of {one.other} against {one.measure} of {one.reference}"
    lines = [f"{head}: {counted(one.n_runs, 'runs')}, {topics}", *(f"  {note}" for note in one.notes)]
    return "\n".join([*lines, *(f"  {name:<12}{estimate_text(found)}" for name, found in one.correlations.items())])
