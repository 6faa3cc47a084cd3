"""Studies in which a rater errs, more in some topics than in others: shares of errors, their surplus, differences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from stats.judges.errors import direction_of, error_group
from stats.ratings import FloatArray
from tests.simulations.scenarios import Intervals, Scenario

TOPICS = (6, 10, 20, 50)
ITEMS_A_TOPIC = 20
HIGHEST = 3
RARE = "rare errors"
FIGURES = ("share of errors", "share of false yeses", "surplus of yeses", "mean difference")


@dataclass(frozen=True)
class Shape:
    """The share of an expected no, how often each answer is missed, and the correlation of two items of a topic."""

    name: str
    no: float
    false_yes: float
    false_no: float
    correlation: float


SHAPES = (
    Shape("as often either way", 0.5, 0.2, 0.2, 0.1),
    Shape("yes too often", 0.5, 0.3, 0.1, 0.1),
    Shape("topics differ much", 0.6, 0.25, 0.15, 0.3),
    Shape(RARE, 0.7, 0.05, 0.05, 0.05),
)


def draw_errors(random: np.random.Generator, *, shape: Shape, n: int) -> Intervals:
    """Draw a study of n topics. Where the rater errs, its grade is 1 to 3 above or below."""
    topics = np.repeat(np.arange(n), ITEMS_A_TOPIC)

    def by_topic(share: float) -> FloatArray:
        spread = 1 / shape.correlation - 1
        return np.repeat(random.beta(share * spread, (1 - share) * spread, n), ITEMS_A_TOPIC)

    yes = random.random(len(topics)) < by_topic(1 - shape.no)
    wrong = random.random(len(topics)) < np.where(yes, by_topic(shape.false_no), by_topic(shape.false_yes))
    found = direction_of(yes, yes ^ wrong, np.zeros(len(topics), dtype=bool), topics)
    signs = np.where(yes, -1.0, 1.0)
    off_by: FloatArray = (signs * wrong * random.integers(1, HIGHEST + 1, len(topics))).astype(np.float64)
    group = error_group("all", wrong, off_by, topics, width=HIGHEST)
    up, down = shape.no * shape.false_yes, (1 - shape.no) * shape.false_no
    truths = (up + down, shape.false_yes, up - down, (up - down) * (1 + HIGHEST) / 2)
    estimates = (found.wrong, found.false_yes, found.surplus, group.difference)
    return dict(zip(FIGURES, zip(estimates, truths, strict=True), strict=True))


def scenarios() -> list[Scenario]:
    """Return the studies, by topics; none of 6 topics whose few errors, 6 among 120 items, promise nothing."""
    return [
        Scenario("topics", f"errors: {shape.name}", n, partial(draw_errors, shape=shape, n=n), cautious=FIGURES)
        for shape in SHAPES
        for n in TOPICS
        if shape.name != RARE or n > TOPICS[0]
    ]
