"""Which pairs of reports people should compare next, so that few votes give the order that all pairs would.

Pairs are drawn with probabilities that grow with the doubt about which of the two systems is better, and never 0
(`stats.calibration.active_sampling`). The model's likelihood does not depend on why a pair was asked, so abilities need
no weights. `tests/battle_rounds_check.py` shows what that saves (docs/battles.md).
"""

from __future__ import annotations

import numpy as np

from stats.calibration.active_sampling import Drawn, draw_by_doubt
from stats.pattern_intervals import SEED
from stats.ranking.battles.bradley_terry import why_not
from stats.ranking.battles.bradley_terry_fit import Fit, Votes
from stats.ratings import BoolArray, FloatArray, IntArray

# A penalty that gives abilities after few votes, for the choice of pairs alone.
PULL = 0.5
# The part of a draw that goes to all pairs alike. Abilities need no weights, so it is less than in other draws.
EVEN = 0.02


def doubt_of(votes: Votes) -> FloatArray:
    """Return how likely the order of two systems is wrong, shape systems × systems; .5 where nothing is known.

    Errors are those of the likelihood with a small penalty: they need neither five topics nor connected systems.
    """
    from scipy.special import ndtr

    k, decided = len(votes.systems), votes.decided
    if not len(decided.left) or not decided.wins.any():
        return np.full((k, k), 0.5)
    fit = Fit.of(decided, side=not why_not(decided), penalty=PULL)
    ahead = fit.ahead_of(fit.parameters)
    errors = fit.likelihood_error_of_differences()
    return np.asarray(ndtr(-np.abs(ahead) / np.maximum(errors, np.finfo(float).tiny)))


def draw_pairs(
    votes: Votes, left: IntArray, right: IntArray, n: int, *, available: BoolArray, seed: int = SEED
) -> Drawn:
    """Draw `n` of the available pairs, each of the systems `left` and `right` on some topic.

    Raises TooFewItems where so many are not available.
    """
    doubt = doubt_of(votes)[left, right] ** 2
    return draw_by_doubt(doubt, n, available=available, even=EVEN, seed=seed)
