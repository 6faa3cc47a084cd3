"""What the commands share that read people's labels and a judge's grades, of a study or of two tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.web.commands import add_study, finite
from stats.calibration.label_tables import labels_of_tables
from stats.calibration.labels import Labels


def add_source(parser: CommandParser) -> None:
    """Add the arguments that name a study or two tables."""
    parser.add_argument("human_table", nargs="?", help="CSV or JSONL: item, rater, grade")
    parser.add_argument("judge_table", nargs="?", help="the judge's grades, of these and other items")
    add_study(parser, help="use this study instead")
    parser.add_argument("--threshold", type=finite, metavar="η", help="tables: a grade ≥ η is a yes")
    parser.add_argument(
        "--human-threshold", type=finite, metavar="η", help="the same for the human grades, if different"
    )
    parser.add_argument(
        "--random-sample", action="store_true", help="tables: the labelled items are a simple random sample"
    )


def check_source(options: dict[str, Any]) -> None:
    """Raise CommandError unless a study or two tables are named, with what each needs."""
    if bool(options["study"]) == bool(options["human_table"] and options["judge_table"]):
        raise CommandError("Name either a HUMAN_TABLE and a JUDGE_TABLE, or a --study.")
    of_tables = [options["threshold"], options["human_threshold"]]
    if options["study"] and any(threshold is not None for threshold in of_tables):
        raise CommandError("A study's criteria have their own thresholds; --threshold is only for tables.")
    if options["study"] and options["random_sample"]:
        raise CommandError("Declare it of the study, with manage.py study declare; --random-sample is only for tables.")
    if not options["study"] and options["threshold"] is None:
        raise CommandError("Give --threshold, the lowest grade that counts as positive.")


def labels_of(options: dict[str, Any]) -> tuple[Labels, int]:
    """Return the labels of the two tables, and how many items only people have. Raises Refused."""
    return labels_of_tables(
        Path(options["human_table"]),
        Path(options["judge_table"]),
        at=options["threshold"],
        people_at=options["human_threshold"],
        criterion=options["criterion"],
        judge=options["judge"],
        declared_random=options["random_sample"],
    )
