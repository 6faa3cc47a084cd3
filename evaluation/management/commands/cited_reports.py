"""manage.py cited_reports: how well a study's cited reports are supported, and which nuggets they answer, by run."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from collection.judgments.judged_criteria import find_study
from collection.web.commands import FiguresCommand
from collection.web.options import add_options, choose
from evaluation import computations
from evaluation.cited_reports.reading import CitedReports
from evaluation.cited_reports.runs import Share
from evaluation.cited_reports.serializers import CitedReportsChoice
from evaluation.formats.text import interval_text
from stats.intervals import Estimate
from stats.plurals import counted


class Command(FiguresCommand):
    help = "Show ARGUE's figures of each run's cited reports: support of citations and sentences, nugget coverage, F1."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        add_options(parser, CitedReportsChoice)
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        found = computations.cited_reports(find_study(options["study"]), **choose(CitedReportsChoice, options))
        return found.as_dict(), "\n".join(_lines(found))


def _lines(found: CitedReports) -> list[str]:
    if not found.names:
        return ["No citation is judged yet."]
    lines = [f"By {found.mark.after(found.source)}{', made by a simulation' if found.simulated else ''}:"]
    for run in found.runs:
        lines += ["", f"{run.run}, {counted(run.n_topics, 'topics')}", *(f"  {_line(share)}" for share in run.shares)]
    return lines


def _figure(figure: Estimate) -> str:
    if figure.value is None:
        return "–"
    return f"{figure.value:.3f}" + (f" {interval_text(figure)}" if figure.low is not None else "")


def _line(share: Share) -> str:
    values = "  ".join(f"{name} {_figure(one)}" for name, one in (("micro", share.micro), ("macro", share.macro)))
    line = f"{share.name:<26}{values}  over {counted(share.n_topics, 'topics')}"
    if share.counted is not None:
        line += f"; {share.counted.yes:,} of {share.counted.of:,}{share.left_out and f', {share.left_out}'}"
    return line if share.macro.low is not None else f"{line}; {share.macro.reason}"
