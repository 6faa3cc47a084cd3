"""When two scores are equal: wherever systems are ranked, correlated or told apart.

Two means of the same scores may differ in their last bit, by the order in which the scores were added. Such means are
ties: everything that puts scores in order rounds them here first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stats.ratings import FloatArray

# Scores that differ by less are equal but for the order in which floating-point numbers were added.
DECIMALS = 12


def rounded(scores: npt.ArrayLike) -> FloatArray:
    """Return the scores, of any shape and unit, such that those that are equal but for rounding are the same."""
    return np.asarray(np.round(np.asarray(scores, dtype=np.float64), DECIMALS), dtype=np.float64)
