"""Populations whose truth is known, with labels drawn from them."""

from __future__ import annotations

import numpy as np

from stats.calibration.labels import Labels, equal_weights
from stats.ratings import FloatArray, IntArray

# How often a judge gives each grade 0–5, and how often people say yes there: .485 of the items are a yes.
GIVEN = np.array([0.3, 0.1, 0.1, 0.1, 0.1, 0.3])
YES = np.array([0.05, 0.2, 0.4, 0.6, 0.8, 0.9])
TRUTH = float(GIVEN @ YES)


def population(rng: np.random.Generator, n_items: int) -> tuple[FloatArray, FloatArray]:
    """Return the yes (1) or no (0) that people would say of each item, and the judge's grade."""
    grades = rng.choice(6, size=n_items, p=GIVEN)
    return (rng.random(n_items) < YES[grades]).astype(np.float64), grades.astype(np.float64)


def sampled(
    rng: np.random.Generator, n_labels: int, n_items: int, *, topics: IntArray | None = None, per_topic: bool = False
) -> Labels:
    """Return a population of which people labelled a simple random sample."""
    yes, grades = population(rng, n_items)
    people = only(yes, rng.choice(n_items, n_labels, replace=False))
    return Labels(
        people, (grades >= 3).astype(np.float64), grades, equal_weights(people), topics=topics, per_topic=per_topic
    )


def only(values: FloatArray, rows: IntArray | list[int]) -> FloatArray:
    """Return the values of these rows, NaN elsewhere."""
    kept = np.full(len(values), np.nan)
    kept[rows] = values[rows]
    return kept
