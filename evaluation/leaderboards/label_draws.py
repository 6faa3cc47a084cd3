"""Whether a source's labels are a drawn sample, and with which weights they stand for all of a study's items."""

from __future__ import annotations

import numpy as np

from collection.models import Criterion
from evaluation.data.population import draws_of_items, weights_of_labels
from evaluation.leaderboards.grade_tables import Layout
from stats.ranking.sampled_labels import LabelDraw
from stats.ratings import FloatArray, IntArray

# A judge that graded what was drawn for people, and hardly anything else, graded a sample too.
MOSTLY = 0.9

Draws = tuple[IntArray, FloatArray]


def read_draws(criterion: Criterion, layout: Layout) -> Draws | None:
    """Return each item's wave and inclusion probability, in the order of the layout; None where nothing was drawn."""
    waves, probabilities = draws_of_items(criterion, layout.items)
    drawn = np.isfinite(probabilities)
    return (waves, probabilities) if (probabilities[drawn] < 1).any() else None


def label_draw(draws: Draws | None, layout: Layout, grades: FloatArray) -> LabelDraw | None:
    """Return how the labels were drawn; None where they are no sample: every item has one, or none was drawn.

    `grades`, in the order of the layout, is NaN where an item has no label.
    """
    if draws is None or not layout.shapes:
        return None
    rows = np.concatenate([shape.places for shape in layout.shapes.values()])
    topics = np.repeat(np.arange(len(layout.shapes)), [len(shape.places) for shape in layout.shapes.values()])
    labelled = np.isfinite(grades[rows])
    waves, probabilities = (of[rows] for of in draws)
    drawn = np.isfinite(probabilities)
    if labelled.all() or not labelled.any() or (drawn & labelled).sum() < MOSTLY * labelled.sum():
        return None
    weights, known, kept = weights_of_labels(labelled, waves, probabilities, topics)
    if weights is None or known != "drawn":
        return None
    of_items = np.full(len(layout.items), np.nan)
    of_items[rows] = np.where(kept, weights, np.nan)
    return LabelDraw(
        weights=layout.tables(of_items),
        n_labelled=int(kept.sum()),
        n_items=len(rows),
        n_waiting=int((drawn & ~labelled).sum()),
    )
