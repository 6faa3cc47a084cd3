from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from collection.finished_files import write_file
from collection.judgments.judged_criteria import find_study
from collection.web.charts.drawing import draw, draw_pdf
from collection.web.commands import FiguresCommand, add
from collection.web.options import add_options, choose
from evaluation.figures.figure import NoFigure
from evaluation.figures.serializers import FigureChoice
from evaluation.figures.studies import FIGURES, draw_figure


class Command(FiguresCommand):
    help = "Draw a figure of a study, and print its numbers."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("figure", metavar="FIGURE", help=", ".join(FIGURES))
        add(parser, "--study", required=True)
        add_options(parser, FigureChoice)
        for form in ("svg", "pdf"):
            parser.add_argument(f"--{form}", type=Path, metavar="FILE", help=f"write it as {form.upper()}")
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        found = draw_figure(find_study(options["study"]), options["figure"], **choose(FigureChoice, options))
        if (options["svg"] or options["pdf"]) and found.description is None:
            raise NoFigure("There is nothing to draw.")
        if options["svg"] and found.description:
            write_file(options["svg"], draw(found.description))
        if options["pdf"] and found.description:
            write_file(options["pdf"], draw_pdf(found.description))
        return found.as_dict(), "\n".join(
            [found.title, *filter(None, [found.answer]), *found.notes, "", found.tables()["numbers"].text()]
        )
