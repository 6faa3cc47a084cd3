"""How the items that people labelled were drawn, and why labels cannot stand for the others where they cannot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from collection.models import Criterion
from evaluation.data.drawn_labels import Draws, draws_of_items
from evaluation.leaderboards.sources import Scorer
from stats.plurals import counted
from stats.ratings import BoolArray, FloatArray, IntArray

HOW_TO_DRAW = (
    "Have a part of the items drawn: set how many texts assessors judge when you make a study, or draw the next "
    "items to label on the calibration page."
)
NO_DRAW = (
    "The probabilities with which the labelled items were chosen are not recorded. If they are a simple random sample, "
    f"declare it on the page Declarations. {HOW_TO_DRAW}"
)
EVERYTHING = "Assessors have labelled every item that the judge was asked about, so there is nothing to correct."
NOTHING = f"No item that the judge was asked about has a human label. {HOW_TO_DRAW}"
NOT_DRAWN = (
    "Assessors were given every item and have not labelled all of them. Which labels come first is no draw, so they "
    f"cannot stand for the others. {HOW_TO_DRAW}"
)


class NothingToCorrect(Exception):
    """There are no corrected scores; the message says why."""


def sentence(reason: str) -> str:
    """Return a reason as a sentence."""
    return f"{reason[0].upper()}{reason[1:]}."


def refuse_without_draw(labelled: BoolArray, probabilities: FloatArray) -> None:
    """Raise NothingToCorrect where labels are all, none, or no draw. `probabilities`: NaN where nothing was drawn."""
    drawn = np.isfinite(probabilities)
    if labelled.all():
        raise NothingToCorrect(EVERYTHING)
    if not drawn.any():
        raise NothingToCorrect(NO_DRAW if labelled.any() else NOTHING)
    if not labelled.any():
        raise NothingToCorrect(NOTHING)
    if drawn.all() and (probabilities[drawn] >= 1).all():
        raise NothingToCorrect(NOT_DRAWN)


@dataclass(frozen=True)
class DrawsOfItems:
    """How a criterion's visible items, by primary key, were drawn."""

    items: IntArray
    draws: Draws

    @classmethod
    def under(cls, criterion: Criterion, scorer: Scorer) -> DrawsOfItems:
        return scorer.once(f"draws under {criterion.pk}", lambda: cls._read(scorer, criterion))

    @classmethod
    def _read(cls, scorer: Scorer, criterion: Criterion) -> DrawsOfItems:
        under = scorer.loader.items_under(criterion).order_by("pk").values_list("pk", flat=True)
        items = np.array(list(under), dtype=np.int64)
        return cls(items, draws_of_items(criterion, items))

    def of(self, items: IntArray) -> Draws:
        """Return the draws of these items."""
        return self.draws.of(np.searchsorted(self.items, items))

    def in_words(self, n_labelled: int, n_items: int, n_topics: int, probabilities: FloatArray) -> str:
        """Return “463 of 9,260 items of 43 topics have human labels, drawn with probability 0.05 (simple)”."""
        known = probabilities[np.isfinite(probabilities)]
        least, most = (f"{edge:.2g}" for edge in (known.min(), known.max()))
        chance = f"probability {least}" if least == most else f"probabilities from {least} to {most}"
        named = f" ({self.draws.designs})" if self.draws.designs else ""
        items = f"{n_labelled:,} of {counted(n_items, 'items')} of {counted(n_topics, 'topics')}"
        return f"{items} have human labels, drawn with {chance}{named}"
