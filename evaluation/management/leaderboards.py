"""What the commands that score systems share: readings of the test part."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.management.base import CommandError
from django.utils.timezone import now

from evaluation.data.visibility import read_test_part
from evaluation.leaderboards.sources import Source, StudySources, judges_among


def read_test_parts(boards: StudySources, sources: Iterable[Source]) -> None:
    """Count a reading of each judge that is about to be shown. Raises NotSplit, and CommandError without one."""
    judges = judges_among(sources)
    if not judges:
        raise CommandError("No judge is among these sources. Human judgments are not locked: leave --test out.")
    for judge in judges:
        read_test_part(boards.study, judge, by=None, at=now())
