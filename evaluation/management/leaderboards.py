"""What the commands that score systems share: how judgments become scores, and readings of the test part."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from collection.rankings import ORDERS
from evaluation.data.visibility import read_test_part
from evaluation.leaderboards.sources import Source, StudySources, judges_among


def add_rules(parser: CommandParser) -> None:
    """Add the options by which judgments become scores."""
    parser.add_argument(
        "--combine", choices=["majority", "median"], default="majority", help="how to aggregate several assessors"
    )
    parser.add_argument(
        "--order",
        choices=list(ORDERS),
        default="score",
        help="order of ranked passages: by score as in trec_eval (the default), or by rank",
    )
    parser.add_argument("--oracle", metavar="RUN", help="whose passages define what can be answered")
    parser.add_argument(
        "--test", action="store_true", help="use the study's test topics, which is counted for every judge shown"
    )


def read_test_parts(boards: StudySources, sources: Iterable[Source]) -> None:
    """Count a reading of each judge that is about to be shown. Raises NotSplit, and CommandError without one."""
    judges = judges_among(sources)
    if not judges:
        raise CommandError("No judge is among these sources. Human judgments are not locked: leave --test out.")
    for judge in judges:
        read_test_part(boards.study, judge, by=None, at=now())
