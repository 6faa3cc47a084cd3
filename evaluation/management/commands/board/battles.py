from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.utils.timezone import now

from collection.judgments.judged_criteria import find_study
from collection.web.report_commands import command_of
from evaluation.battles.reports import BattlesReport
from evaluation.battles.rounds import draw_next_pairs
from stats.plurals import counted


class Command(command_of(BattlesReport)):  # type: ignore[misc]  # a class that is made
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--draw", type=int, metavar="N", help="first draw N more pairs for people")
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        if options["draw"] is not None:
            made = draw_next_pairs(find_study(options["study"]), n=options["draw"], at=now())
            self.note(f"{counted(made.drawn, 'pairs')} drawn, {made.left:,} left; open the study to make their tasks.")
        answer: tuple[dict[str, Any], str] = super().answer(options)
        return answer
