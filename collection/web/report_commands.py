"""The commands of reports, all by one class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.text import capfirst

from collection.finished_files import write_file
from collection.judgments.judged_criteria import find_criterion, find_study
from collection.models import Criterion, Study
from collection.web.cached_results import imported
from collection.web.charts.drawing import draw, draw_pdf
from collection.web.commands import FiguresCommand, add_study
from collection.web.options import add_options, choose
from collection.web.reports import Chart, Report


class ReportCommand(FiguresCommand):
    """Prints a report, as text or JSON, computed now; with charts, writes these too."""

    report: Report
    study_help: str | None = None

    def add_arguments(self, parser: CommandParser) -> None:
        if self.report.files:
            parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help=self.report.files.about)
        add_study(parser, help=self.study_help, criterion=self.report.of_criterion)
        add_options(parser, self.report.options, first=self.report.addressed)
        if "part" in self.report.options().fields:
            counted = "use the study's test topics; each judge that this unlocks is counted"
            parser.add_argument("--test", action="store_true", help=counted)
        if self._chart:
            for form in ("svg", "pdf"):
                parser.add_argument(f"--{form}", type=Path, metavar="FILE", help="write the chart")
        parser.add_argument("--tex", type=Path, metavar="FILE", help="write the first table as LaTeX")
        super().add_arguments(parser)

    def result(self, options: dict[str, Any]) -> Any:
        """Return the result that is asked for; CommandError where there is nothing to show."""
        subject = self._subject(options)
        chosen = choose(self.report.options, options)
        if options.get("test"):
            self.report.read_test_part(subject, chosen)
            chosen["part"] = "test"
        if self.report.files:
            return self.report.of_files(subject, [(str(path), path) for path in options["files"]], chosen)
        result = self.report.computed(subject, chosen)
        if missing := self.report.missing(result):
            raise CommandError(missing)
        return result

    def _subject(self, options: dict[str, Any]) -> Study | Criterion:
        if self.report.of_criterion:
            return find_criterion(options["study"], options["criterion"])
        return find_study(options["study"])

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        result = self.result(options)
        self._draw(result, options)
        if options.get("tex"):
            table = next(filter(None, self.report.tables(result).values()), None)
            if table is None:
                raise CommandError("Nothing to write.")
            caption = self.report.caption(self._subject(options), result, table)
            write_file(options["tex"], table.latex(caption))
        sentences = [result.answer] if isinstance(result.answer, str) else result.answer
        part = self.report.narrowing(result).removeprefix(", ")
        said = "\n".join(filter(None, [*sentences, part and f"{capfirst(part)}.", *self.report.notes(result)]))
        return self.report.as_dict(result), "\n\n".join(filter(None, [said, *self._texts(result)]))

    def _texts(self, result: Any) -> list[str]:
        """Return the tables that a page has columns of; the others are files alone."""
        return [table.text() for table in self.report.tables(result).values() if table and table.shown()]

    @property
    def _chart(self) -> Chart | None:
        """The report's one chart; None where there are several, or it takes more than the result."""
        charts = [chart for chart in self.report.charts.values() if not chart.asks]
        return charts[0] if len(charts) == 1 else None

    def _draw(self, result: Any, options: dict[str, Any]) -> None:
        for form, write in (("svg", draw), ("pdf", draw_pdf)):
            if self._chart and options.get(form):
                description = imported(self._chart.describe)(result)
                if description is None:
                    raise CommandError("There is nothing to draw.")
                write_file(options[form], write(description))


def command_of(kind: type[Report]) -> type[ReportCommand]:
    """Return the command of a report."""
    return type("Command", (ReportCommand,), {"report": kind(), "help": kind.about})
