"""Which items people should label next, drawn at random with probabilities that are known and never 0.

Estimates weigh a label by one over its probability, so every draw returns it. Probabilities are those among the items
that may be drawn, given what was known before: `labels.weights_of_waves` puts several draws together.

Sources: probabilities that grow with doubt, mixed with equal ones: Zrnic and Candès, Active Statistical Inference
(2024), arXiv 2403.03208. Systematic draws with unequal probabilities: Madow, On the theory of systematic sampling II
(1949); in random order: Hartley and Rao, Sampling with unequal probabilities and without replacement (1962).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stats.calibration.allocation import Strata, allocate, spreads
from stats.calibration.labels import Labels
from stats.pattern_intervals import SEED
from stats.ratings import BoolArray, FloatArray
from stats.refusals import Refused

# The part of a draw that goes to all items alike, so that an item the judge is sure of can be found wrong. At one half
# no label stands for more than twice the items it would in a simple random sample; with much less, one surprise among
# items beyond doubt outweighs all else and intervals are too short.
EVEN = 0.5


class TooFewItems(Refused):
    """More items were asked for than may be drawn."""


@dataclass(frozen=True)
class Drawn:
    """Which items were drawn, and with which probability each item could have been. Both of shape (items,).

    `probabilities` is 0 for items that might not be drawn (they are labelled already). `design` says how, `strata`
    names each item's stratum where there are strata.
    """

    items: BoolArray
    probabilities: FloatArray
    design: str
    strata: Strata | None = None


def draw_by_strata(labels: Labels, strata: Strata, n: int, *, available: BoolArray, seed: int = SEED) -> Drawn:
    """Draw `n` of the available items, most from large strata where people's values vary (Neyman allocation).

    Within a stratum all available items have the same probability. Every stratum with available items gets two, or
    what it has.
    """
    _enough(available, n)
    kinds = len(strata.names)
    sizes = np.bincount(strata.numbers[available], minlength=kinds).astype(np.int64)
    given = allocate(sizes, spreads(labels, strata), n)
    rng = np.random.default_rng(seed)
    items = np.zeros(len(available), dtype=bool)
    for kind in range(kinds):
        rows = np.flatnonzero(available & (strata.numbers == kind))
        items[rng.choice(rows, given[kind], replace=False)] = True
    probabilities = np.where(available, (given / np.maximum(sizes, 1))[strata.numbers], 0.0)
    return Drawn(items, probabilities, "stratified, Neyman allocation", strata)


def draw_by_doubt(doubt: FloatArray, n: int, *, available: BoolArray, even: float = EVEN, seed: int = SEED) -> Drawn:
    """Draw `n` of the available items with probabilities that grow with `doubt` (≥ 0, NaN: as doubtful as any)."""
    _enough(available, n)
    probabilities = np.zeros(len(available))
    known = np.where(np.isfinite(doubt), doubt, np.nan)
    most = float(np.nanmax(known)) if np.isfinite(known).any() else 1.0
    filled = np.where(np.isfinite(known), known, most)
    probabilities[available] = inclusion_probabilities(filled[available], n, even=even)
    items = systematic_sample(probabilities, seed=seed)
    return Drawn(items, probabilities, "systematic, by uncertainty")


def inclusion_probabilities(scores: FloatArray, n: int, *, even: float = EVEN) -> FloatArray:
    """Return probabilities in (0, 1] that sum to `n`: a part `even` of them alike, the rest as the scores (≥ 0).

    Items whose part would exceed 1 are taken for certain, and the others share what is left.
    """
    if scores.min(initial=0) < 0:
        raise ValueError("Uncertainty must be 0 or more.")
    total = scores.sum()
    sizes = np.full(len(scores), 1 / max(len(scores), 1))
    if total > 0:
        sizes = even * sizes + (1 - even) * scores / total
    certain = np.zeros(len(scores), dtype=bool)
    while True:
        left = n - int(certain.sum())
        shares = np.where(certain, 0.0, sizes)
        probabilities = np.where(certain, 1.0, left * shares / max(shares.sum(), np.finfo(float).tiny))
        over = ~certain & (probabilities >= 1)
        if not over.any():
            return np.asarray(probabilities)
        certain |= over


def systematic_sample(probabilities: FloatArray, *, seed: int = SEED) -> BoolArray:
    """Draw items with exactly these probabilities; their sum is the number of items, a whole one.

    The items are laid end to end in random order, each as long as its probability, and every place at a random distance
    below 1 from a whole number draws the item it falls on.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.flatnonzero(probabilities > 0))
    n = round(float(probabilities.sum()))
    ends = np.cumsum(probabilities[order])
    ends *= n / ends[-1] if n else 1.0
    places = np.searchsorted(ends, rng.random() + np.arange(n), side="right")
    items = np.zeros(len(probabilities), dtype=bool)
    items[order[np.minimum(places, len(order) - 1)]] = True
    return items


def nearness(expected: FloatArray, threshold: float) -> FloatArray:
    """Return 1/(1 + |expected grade − threshold|), for judges that tell no probabilities. NaN stays NaN."""
    return np.asarray(1 / (1 + np.abs(expected - threshold)))


def _enough(available: BoolArray, n: int) -> None:
    if not 1 <= n <= available.sum():
        raise TooFewItems(f"{n} items cannot be drawn: {available.sum()} are available.")
