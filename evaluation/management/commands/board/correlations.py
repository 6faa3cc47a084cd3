from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.judgments.judged_criteria import find_study
from collection.web.commands import add
from collection.web.options import add_options, choose
from collection.web.report_commands import command_of
from evaluation.leaderboards.evaluation_files.correlate import Correlations, board_of, correlate
from evaluation.leaderboards.reports import CorrelationsReport
from evaluation.leaderboards.serializers import CorrelateChoice


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
    found = Correlations(compared)
    notes = [f"{one.other}, {one.other_measure}: {' '.join(one.notes)}" for one in compared if one.notes]
    text = [found.answer, *notes, *(table.text() for table in found.tables().values())]
    return found.as_dict(), "\n\n".join(filter(None, text))
