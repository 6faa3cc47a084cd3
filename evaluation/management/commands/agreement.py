"""manage.py agreement: how far raters agree, in a table or in a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.models import Criterion
from evaluation.agreement.written_answers import WrittenAgreement, measure_written
from evaluation.data.judgments import CriterionNotFound, find_criterion, load_criterion
from evaluation.formats.text import agreement_text, estimate_text
from evaluation.management.base import EvaluationCommand
from stats.agreement.report import measure_agreement
from stats.plurals import counted
from stats.rating_tables import TableBroken, parse_scale, ratings_of_table, read_table
from stats.ratings import LEVELS, LevelDoesNotFit, Ratings


class Command(EvaluationCommand):
    help = "Percent agreement, Fleiss, Randolph, Gwet, Krippendorff, and Cohen per pair, with 95 % intervals."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("table", nargs="?", help="CSV or JSONL: item, rater, grade, optionally topic, criterion")
        parser.add_argument("--study", metavar="NAME", help="use the human judgments of this study instead")
        parser.add_argument("--criterion", metavar="C", help="the criterion, if there are several")
        parser.add_argument("--level", choices=LEVELS, help="level of measurement (only for tables)")
        parser.add_argument(
            "--scale", metavar="0,1,…", help="all grades of the scale, lowest first, including unused ones"
        )
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        if bool(options["table"]) == bool(options["study"]):
            raise CommandError("Name either a TABLE or a --study.")
        written = None
        try:
            if options["study"]:
                criterion, ratings = _of_study(options)
                written = measure_written(criterion)
            else:
                ratings = _of_table(options)
        except (TableBroken, LevelDoesNotFit, CriterionNotFound) as error:
            raise CommandError(str(error)) from error
        agreement = measure_agreement(ratings)
        if agreement.n_ungraded:
            self.note(f"{agreement.n_ungraded} of {agreement.n_ungraded + agreement.n_ratings} rows have no grade.")
        if options["json"]:
            self.print_json(agreement.as_dict() | ({"written_answers": written.as_dict()} if written else {}))
            return
        self.stdout.write(agreement_text(agreement))
        if written:
            self.stdout.write("\n".join(["", *_written_lines(written)]))


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
