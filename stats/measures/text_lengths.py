"""How long texts are, in numbers: what papers print of a collection's texts.

Source: Ju et al., CRUX (2025), Table 4 (average token length).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# The ends of the middle 90 % of the texts.
SHORT, LONG = 0.05, 0.95


@dataclass(frozen=True)
class TextLengths:
    """Lengths of some texts, in the unit they were counted in; None where no text was counted.

    `short` and `long` are the ends of the middle 90 %, between values where they fall between (linear interpolation).
    """

    n: int
    mean: float | None = None
    minimum: float | None = None
    short: float | None = None
    median: float | None = None
    long: float | None = None
    maximum: float | None = None
    total: float | None = None


def text_lengths(lengths: Sequence[float]) -> TextLengths:
    """Return the numbers of these lengths, one a text; texts of unknown length are left out before."""
    if not lengths:
        return TextLengths(0)
    counted = np.asarray(lengths, dtype=float)
    minimum, short, median, long, maximum = np.quantile(counted, (0, SHORT, 0.5, LONG, 1)).tolist()
    total = float(counted.sum())
    return TextLengths(len(counted), total / len(counted), minimum, short, median, long, maximum, total)
