"""Two files as a judge's items with people's labels on a part of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stats.calibration.labels import Labels, equal_weights
from stats.pairing import NotComparable, people_threshold
from stats.rating_tables import ratings_of_table, read_table
from stats.ratings import FloatArray, Ratings, grades_of
from stats.votes_on_items import votes_on


def labels_of_tables(
    human_table: Path,
    judge_table: Path,
    *,
    at: float,
    people_at: float | None = None,
    criterion: str | None = None,
    judge: str | None = None,
    declared_random: bool = False,
) -> tuple[Labels, int]:
    """Return the judge's items with people's majority, and how many items only people have.

    `declared_random` says that the labelled items are a simple random sample of the judge's; else nobody knows. Raises
    TableBroken, LevelDoesNotFit and NotComparable.
    """
    people = ratings_of_table(read_table(human_table, criterion=criterion), numbers_only=True)
    judged = ratings_of_table(read_table(judge_table, criterion=criterion, rater=judge), numbers_only=True)
    if len(judged.raters) > 1:
        listed = ", ".join(map(str, judged.raters))
        raise NotComparable(f"{judge_table} contains several raters: {listed}. Choose one with --judge.")
    if people_at is None:
        people_at, _ = people_threshold(people, judged, at)
    votes = votes_on(people, judged.items, at=people_at)
    if not np.isfinite(votes.yes).any():
        raise NotComparable("No item is in both tables.")
    return _labels(votes.yes, judged, at, declared_random=declared_random), votes.n_elsewhere


def _labels(people: FloatArray, judged: Ratings, at: float, *, declared_random: bool) -> Labels:
    grades = grades_of(judged.codes[:, 0], judged.numbers)
    known = declared_random or bool(np.isfinite(people).all())
    return Labels(
        people=people,
        judge=np.where(np.isnan(grades), np.nan, grades >= at),
        grades=grades,
        weights=equal_weights(people) if known else None,
        topics=judged.topics,
        per_topic=judged.topics is not None,
    )
