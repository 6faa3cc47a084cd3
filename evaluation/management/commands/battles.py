"""manage.py battles: systems in order by battles of their reports, by people and by each judge."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from collection.web.commands import FiguresCommand
from collection.web.options import add_options, choose
from evaluation import computations
from evaluation.battles.battles import NO_BATTLES, Battles, VotersBoard
from evaluation.battles.rounds import draw_next_pairs
from evaluation.battles.serializers import BattlesChoice
from evaluation.data.judgments import find_study
from stats.plurals import counted


class Command(FiguresCommand):
    help = "Put systems in order by battles of their reports (Bradley–Terry with ties), with 95 % intervals."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        add_options(parser, BattlesChoice)
        parser.add_argument("--draw", type=int, metavar="N", help="first draw N more pairs for people")
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        chosen = choose(BattlesChoice, options)
        study = find_study(options["study"])
        if options["draw"] is not None:
            made = draw_next_pairs(study, n=options["draw"], at=now())
            self.note(f"{counted(made.drawn, 'pairs')} drawn, {made.left:,} left; open the study to make their tasks.")
        found = computations.battles(study, side=not chosen["no_side"], penalty=chosen["penalty"])
        if found is None:
            raise CommandError(NO_BATTLES)
        return found.as_dict(), "\n".join(_lines(found))


def _lines(found: Battles) -> list[str]:
    lines = [found.answer]
    for board in found.boards:
        lines += ["", *_board(board)]
    return lines


def _board(board: VotersBoard) -> list[str]:
    lines = [board.answer]
    for one in board.found.standings:
        rank = "" if one.rank is None else f"{one.rank}"
        ranks = f"({one.ranks[0]}–{one.ranks[1]})" if one.ranks else ""
        rate = "" if one.win_rate.value is None else f"{one.win_rate.value:.3f}  {one.win_rate.interval_in_words()}"
        lines.append(f"{rank:>4} {ranks:<8}{one.system:<32}{one.wins}–{one.ties}–{one.losses}  {rate}".rstrip())
    return lines
