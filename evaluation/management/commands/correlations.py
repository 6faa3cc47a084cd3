"""manage.py correlations: how far measures put a study's systems in the same order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from collection.finished_files import write_file
from collection.judgments.judged_criteria import find_study
from collection.web.charts.drawing import draw, draw_pdf
from collection.web.commands import FiguresCommand
from collection.web.options import add_options, choose
from evaluation.formats.text import estimate_text
from evaluation.leaderboards.available_measures import matrix_of, offered_measures
from evaluation.leaderboards.divergence import asked_of
from evaluation.leaderboards.measure_correlations import COEFFICIENTS, MeasureCorrelations, correlate_measures
from evaluation.leaderboards.measures.chart import matrix_chart
from evaluation.leaderboards.serializers import CorrelationsChoice
from evaluation.leaderboards.sources import StudySources
from evaluation.management.leaderboards import add_test, read_test_parts
from stats.plurals import counted


class Command(FiguresCommand):
    help = "Correlate measures of a study's systems, two by two; one of them at other thresholds and values of k."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        add_options(parser, CorrelationsChoice)
        add_test(parser)
        for form in ("svg", "pdf"):
            parser.add_argument(f"--{form}", type=Path, metavar="FILE", help=f"write the matrix as {form.upper()}, too")
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        chosen = choose(CorrelationsChoice, options)
        study = find_study(options["study"])
        boards = StudySources(study, **{name: chosen.pop(name) for name in ("combine", "oracle", "order")})
        columns, varied, also = chosen.pop("column"), chosen.pop("measure"), offered_measures(study)
        if options["test"]:
            read_test_parts(boards, [asked_of(boards, key)[1] for key in columns])
            chosen["part"] = "test"
        found = correlate_measures(boards, matrix_of(also), columns=columns, varied=varied, also=also, **chosen)
        if options["svg"]:
            write_file(options["svg"], draw(matrix_chart(found)))
        if options["pdf"]:
            write_file(options["pdf"], draw_pdf(matrix_chart(found)))
        return found.as_dict(), "\n".join(_lines(found))


def _lines(found: MeasureCorrelations) -> list[str]:
    name, n_topics = COEFFICIENTS[found.coefficient], counted(len(found.common.topics), "topics")
    lines = [found.answer, f"{name} over {n_topics}"]
    lines += [f"  {one} and {other}: {estimate_text(of)}" for (one, other), of in found.matrix.items()]
    for head, variants in (("threshold", found.by_threshold), ("k", found.by_k)):
        lines += [
            f"{one.measure} by {one.source} ({head} {one.setting}) and {one.reference}: {estimate_text(one.kendall)}"
            for one in variants
        ]
    return lines
