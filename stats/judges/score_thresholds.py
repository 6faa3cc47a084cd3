"""What a threshold on a judge's score keeps, and how much of it people say is wrong.

Source: Qi et al., LONG²RAG (2024), appendix A.2, Figure 13.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stats.intervals import Estimate, undefined
from stats.judges.accuracy import mean_accuracy
from stats.ratings import FloatArray, IntArray

# More thresholds than these are drawn on a grid of equal steps between the least and the highest score.
MOST_THRESHOLDS = 21


# The shares of scores below them at which Figure 13 marks scores.
MARKED = (0.5, 0.6, 0.7)


@dataclass(frozen=True)
class ScoreThreshold:
    """What scores from `at` up keep: `n_kept` items, the share of all with a score; `n_labelled` of them by anybody.

    `by_person`: the share of the items kept that the person labelled and says no to; None without any.
    `false_positives`: the mean over people who have one, with its interval over topics, or over items without any.
    """

    at: float
    n_kept: int
    share_kept: float
    n_labelled: int
    by_person: Mapping[str, float | None]
    false_positives: Estimate

    @property
    def mean(self) -> float | None:
        return self.false_positives.value


def thresholds_of_scores(
    scores: FloatArray,
    people: Mapping[str, FloatArray],
    *,
    yes: float,
    at: Sequence[float] = (),
    topics: IntArray | None = None,
) -> list[ScoreThreshold]:
    """Return what each threshold keeps, the lowest first; nothing without a score.

    `at`: the thresholds, which rise; without them each score is one, or a grid of many. `scores`, shape (items,), in
    the judge's unit; `people` by name, of the same shape, in that of their scale, a yes from `yes` up. NaN where there
    is none: an item without a score is in no figure. `topics`, shape (items,): what intervals leave out in turn.
    """
    known = ~np.isnan(scores)
    values = np.unique(scores[known])
    if at and len(values):
        values = np.asarray(at, dtype=float)
    elif len(values) > MOST_THRESHOLDS:
        values = np.linspace(values[0], values[-1], MOST_THRESHOLDS)
    given = np.column_stack(list(people.values())) if people else np.full((len(scores), 0), np.nan)
    found = []
    for least in values.tolist():
        kept = known & (scores >= least - 1e-9)
        labels = {person: of[kept & ~np.isnan(of)] for person, of in people.items()}
        shares = {person: float((of < yes).mean()) if len(of) else None for person, of in labels.items()}
        labelled = ~np.isnan(given) & kept[:, None]
        wrong = mean_accuracy(given < yes, labelled, topics).estimate if people else undefined("nobody labelled any")
        n_kept, n_labelled = int(kept.sum()), int(labelled.any(axis=1).sum())
        found.append(ScoreThreshold(least, n_kept, n_kept / int(known.sum()), n_labelled, shares, wrong))
    return found


def marked_scores(scores: FloatArray) -> dict[float, float]:
    """Return for each of the shares `MARKED` the least score that as many have or stay below; nothing without any."""
    known = scores[~np.isnan(scores)]
    if not len(known):
        return {}
    return {share: float(np.quantile(known, share, method="inverted_cdf")) for share in MARKED}
