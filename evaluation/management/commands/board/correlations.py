from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.judgments.judged_criteria import find_study
from collection.web.commands import add
from collection.web.options import add_options, choose
from collection.web.report_commands import command_of
from evaluation.formats.text import estimate_text
from evaluation.leaderboards.evaluation_files.correlate import board_of, correlate
from evaluation.leaderboards.evaluation_files.values import EvaluationsCompared, answer_of
from evaluation.leaderboards.reports import CorrelationsReport
from evaluation.leaderboards.serializers import CorrelateChoice
from stats.plurals import counted


class Command(command_of(CorrelationsReport)):  # type: ignore[misc]  # a class that is made
    help = (
        "How far measures put a study's systems in the same order; with FILEs, how far evaluation files put theirs in "
        "that of the first, or of the study's leaderboard (--board)."
    )
    study_help = "the measures of this study; with FILEs and --board: its leaderboard is the reference"

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "files", nargs="*", help="evaluation files")
        super().add_arguments(parser)
        add_options(parser, CorrelateChoice)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        if options["files"]:
            return _of_files(options)
        if not options["study"]:
            raise CommandError("Name a --study, or evaluation files.")
        answer: tuple[dict[str, Any], str] = super().answer(options)
        return answer


def _of_files(options: dict[str, Any]) -> tuple[dict[str, Any], str]:
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
