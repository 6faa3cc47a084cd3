"""What a threshold on a judge's score keeps, and how much of it people say is wrong.

Source: Qi et al., LONG²RAG (2024), appendix A.2, Figure 13.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stats.ratings import FloatArray

# More thresholds than these are drawn on a grid of equal steps between the least and the highest score.
MOST_THRESHOLDS = 21


# The shares of scores below them at which Figure 13 marks scores.
MARKED = (0.5, 0.6, 0.7)


@dataclass(frozen=True)
class ScoreThreshold:
    """What scores from `at` up keep: `n_kept` items, the share of all with a score; `n_labelled` of them by anybody.

    `by_person`: the share of the items kept that the person labelled and says no to; None without any. `mean`: over
    people who have one.
    """

    at: float
    n_kept: int
    share_kept: float
    n_labelled: int
    by_person: Mapping[str, float | None]

    @property
    def mean(self) -> float | None:
        known = [share for share in self.by_person.values() if share is not None]
        return sum(known) / len(known) if known else None


def thresholds_of_scores(
    scores: FloatArray, people: Mapping[str, FloatArray], *, yes: float, at: Sequence[float] = ()
) -> list[ScoreThreshold]:
    """Return what each threshold keeps, the lowest first; nothing without a score.

    `at`: the thresholds, which rise; without them each score is one, or a grid of many. `scores`, shape (items,), in
    the judge's unit; `people` by name, of the same shape, in that of their scale, a yes from `yes` up. NaN where there
    is none: an item without a score is in no figure.
    """
    known = ~np.isnan(scores)
    values = np.unique(scores[known])
    if at and len(values):
        values = np.asarray(at, dtype=float)
    elif len(values) > MOST_THRESHOLDS:
        values = np.linspace(values[0], values[-1], MOST_THRESHOLDS)
    found = []
    for least in values.tolist():
        kept = known & (scores >= least - 1e-9)
        labels = {person: of[kept & ~np.isnan(of)] for person, of in people.items()}
        any_label = np.any([~np.isnan(of) for of in people.values()], axis=0) if people else np.zeros(len(scores), bool)
        shares = {person: float((of < yes).mean()) if len(of) else None for person, of in labels.items()}
        n_kept = int(kept.sum())
        found.append(ScoreThreshold(least, n_kept, n_kept / int(known.sum()), int((kept & any_label).sum()), shares))
    return found


def marked_scores(scores: FloatArray) -> dict[float, float]:
    """Return for each of the shares `MARKED` the least score that as many have or stay below; nothing without any."""
    known = scores[~np.isnan(scores)]
    if not len(known):
        return {}
    return {share: float(np.quantile(known, share, method="inverted_cdf")) for share in MARKED}
