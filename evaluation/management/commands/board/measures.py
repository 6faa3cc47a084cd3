from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from collection.finished_files import write_file
from collection.web.report_commands import command_of
from evaluation.leaderboards.measures.reports import MeasuresBoardReport


class Command(command_of(MeasuresBoardReport)):  # type: ignore[misc]  # a class that is made
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--tex", type=Path, metavar="FILE", help="write the table as LaTeX")

    def print_also(self, result: Any, options: dict[str, Any]) -> None:
        if options["tex"]:
            caption = self.report.caption(result.study, result, self.report.tables(result)["board"])
            write_file(options["tex"], self.report.tables(result)["board"].latex(caption))
