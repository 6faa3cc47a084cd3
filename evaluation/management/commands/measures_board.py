"""manage.py measures_board: a study's systems by several measures, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from collection.finished_files import write_file
from collection.judgments.judged_criteria import find_study
from collection.web.charts.drawing import draw, draw_pdf
from collection.web.commands import FiguresCommand
from collection.web.latex import latex_table
from collection.web.options import add_options, choose
from evaluation.leaderboards.divergence import asked_of
from evaluation.leaderboards.measures.board import MeasuresBoard, measure_board
from evaluation.leaderboards.measures.chart import board_chart
from evaluation.leaderboards.measures.export import board_as_dict, board_text, paper_table
from evaluation.leaderboards.serializers import MeasuresChoice
from evaluation.leaderboards.sources import StudySources
from evaluation.management.leaderboards import add_test, read_test_parts
from stats.ranking.measure_names import NoLeaderboard


class Command(FiguresCommand):
    help = "Show a study's systems by several measures, side by side."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        add_options(parser, MeasuresChoice)
        add_test(parser)
        for form in ("tex", "svg", "pdf"):
            parser.add_argument(f"--{form}", type=Path, metavar="FILE", help=f"write it as {form.upper()}, too")
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        chosen = choose(MeasuresChoice, options)
        study = find_study(options["study"])
        rules = {name: chosen.pop(name) for name in ("combine", "oracle", "order", "confidence")}
        sort, columns = chosen.pop("sort"), chosen.pop("column")
        boards = StudySources(study, **rules)
        if options["test"]:
            read_test_parts(boards, [asked_of(boards, key)[1] for key in columns])
            chosen["part"] = "test"
        board = measure_board(boards, columns, **chosen)
        _write(board, sort, options)
        return board_as_dict(board, sort), board_text(board, sort)


def _write(board: MeasuresBoard, sort: str, options: dict[str, Any]) -> None:
    if options["tex"]:
        head, *rows = paper_table(board, sort)
        write_file(options["tex"], latex_table(head, rows, caption=f"Study {board.study.name}"))
    if options["svg"] or options["pdf"]:
        description = board_chart(board, sort=sort)
        if description is None:
            raise NoLeaderboard("No system has a score.")
        if options["svg"]:
            write_file(options["svg"], draw(description))
        if options["pdf"]:
            write_file(options["pdf"], draw_pdf(description))
