from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.judgments.judged_criteria import find_criterion
from collection.models import Criterion
from collection.web.commands import FiguresCommand, add_study
from evaluation.agreement.report import tables_of_people
from evaluation.agreement.written_answers import WrittenAgreement, measure_written
from evaluation.data.judgments import load_criterion
from evaluation.formats.text import estimate_text
from stats.agreement.report import Agreement, measure_agreement, plain_grade
from stats.plurals import counted
from stats.rating_tables import parse_scale, ratings_of_table, read_table
from stats.ratings import LEVELS, Ratings


class Command(FiguresCommand):
    help = "Percent agreement, Fleiss, Randolph, Gwet, Krippendorff, and Cohen per pair, with 95 % intervals."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("table", nargs="?", help="CSV or JSONL: item, rater, grade, optionally topic, criterion")
        add_study(parser, help="use the human judgments of this study instead")
        parser.add_argument("--level", choices=LEVELS, help="level of measurement (only for tables)")
        parser.add_argument(
            "--scale", metavar="0,1,…", help="all grades of the scale, lowest first, including unused ones"
        )
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        if bool(options["table"]) == bool(options["study"]):
            raise CommandError("Name either a TABLE or a --study.")
        written = None
        if options["study"]:
            criterion, ratings = _of_study(options)
            written = measure_written(criterion)
        else:
            ratings = _of_table(options)
        agreement = measure_agreement(ratings)
        if agreement.n_ungraded:
            self.note(f"{agreement.n_ungraded} of {agreement.n_ungraded + agreement.n_ratings} rows have no grade.")
        tables = [table.text() for table in tables_of_people(agreement).values() if table]
        text = "\n\n".join([_head(agreement), *tables, *(["\n".join(_written_lines(written))] if written else [])])
        return agreement.as_dict() | ({"written_answers": written.as_dict()} if written else {}), text


def _head(agreement: Agreement) -> str:
    scale = ", ".join(str(plain_grade(grade)) for grade in agreement.scale)
    return (
        f"{counted(agreement.n_items, 'items')}, {counted(agreement.n_raters, 'raters')}, "
        f"{counted(agreement.n_ratings, 'ratings')}; two or more: {counted(agreement.n_pairable, 'items')}\n"
        f"{agreement.level} scale: {scale}; 95 % intervals"
    )


def _of_table(options: dict[str, Any]) -> Ratings:
    scale = parse_scale(options["scale"]) if options["scale"] else None
    table = read_table(Path(options["table"]), criterion=options["criterion"])
    return ratings_of_table(table, level=options["level"], scale=scale)


def _written_lines(written: WrittenAgreement) -> list[str]:
    """Return how alike the written answers are, and the least alike."""
    lines = [
        f"written answers: {written.n_answers:,}; {counted(len(written.items), 'questions')} have two or more",
        f"{'ROUGE-L of pairs':<20}{estimate_text(written.rouge_l)}",
    ]
    return lines + [f"  {item.rouge_l:.4f}  {item.item_id}" for item in written.disputed]


def _of_study(options: dict[str, Any]) -> tuple[Criterion, Ratings]:
    if options["scale"]:
        raise CommandError("A study has its own scale; --scale is only for tables.")
    criterion = find_criterion(options["study"], options["criterion"])
    return criterion, load_criterion(criterion, level=options["level"]).people
