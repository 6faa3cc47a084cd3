"""Whether a source's labels are a drawn sample, and with which weights they stand for all of a study's items."""

from __future__ import annotations

import numpy as np

from collection.models import Criterion
from evaluation.data.drawn_labels import Draws, draws_of_items, weights_of_labels
from evaluation.leaderboards.grade_tables import Layout
from stats.ranking.sampled_labels import LabelDraw
from stats.ratings import FloatArray

# A judge that graded what was drawn for people, and hardly anything else, graded a sample too.
MOSTLY = 0.9


def read_draws(criterion: Criterion, layout: Layout) -> Draws | None:
    """Return how the items were drawn, in the order of the layout; None where nothing was."""
    draws = draws_of_items(criterion, layout.items)
    return draws if (draws.probabilities[draws.drawn] < 1).any() else None


def label_draw(draws: Draws | None, layout: Layout, grades: FloatArray) -> LabelDraw | None:
    """Return how the labels were drawn; None where they are no sample: every item has one, or none was drawn.

    `grades`, in the order of the layout, is NaN where an item has no label.
    """
    if draws is None or not layout.shapes:
        return None
    rows = np.concatenate([shape.places for shape in layout.shapes.values()])
    topics = np.repeat(np.arange(len(layout.shapes)), [len(shape.places) for shape in layout.shapes.values()])
    labelled = np.isfinite(grades[rows])
    of_rows = draws.of(rows)
    drawn = of_rows.drawn
    if labelled.all() or not labelled.any() or (drawn & labelled).sum() < MOSTLY * labelled.sum():
        return None
    weights, known, kept = weights_of_labels(labelled, of_rows, topics)
    if weights is None or known == "all":
        return None
    of_items = np.full(len(layout.items), np.nan)
    of_items[rows] = np.where(kept, weights, np.nan)
    return LabelDraw(
        weights=layout.tables(of_items),
        n_labelled=int(kept.sum()),
        n_items=len(rows),
        n_waiting=int((drawn & ~labelled).sum()),
    )
