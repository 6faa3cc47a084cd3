"""Several judges beside the same people on the same items: the best by κ, corrected for the choice; differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stats.intervals import COEFFICIENT, Estimate, Sample, undefined
from stats.judges.best_of_several import Differences, corrected_best, differences, pseudo_values
from stats.judges.thresholds import kappa_at_threshold, kappa_without_topics
from stats.ratings import BoolArray, FloatArray, IntArray

ONE_JUDGE = "there is only one judge, so nothing was chosen"


@dataclass(frozen=True)
class SeveralJudges:
    """κ of yes and no of each judge, over the same items, and what can be said of them together.

    - `best`: the place of the judge with the highest κ, None where no κ is known;
    - `corrected`: its κ, corrected for having been chosen for being the highest; a reason where it is not of `known`;
    - `apart`: differences of κ between the judges of `known`, in their order; None for `reason`.
    """

    kappas: tuple[Estimate, ...]
    best: int | None
    corrected: Estimate
    known: tuple[int, ...] = ()
    apart: Differences | None = None
    reason: str = ""

    @property
    def reference(self) -> int | None:
        """The judge that others are held against where none was asked for: the best of those that can be compared."""
        return max(self.known, key=lambda place: self.kappas[place].value or 0.0) if self.known else self.best

    def difference(self, first: int, second: int) -> tuple[float, float, float] | None:
        """Return κ of one judge minus that of another with the simultaneous interval; None where it is not known."""
        if self.apart is None or first not in self.known or second not in self.known:
            return None
        a, b = self.known.index(first), self.known.index(second)
        found = self.apart
        return float(found.value[a, b]), float(found.low[a, b]), float(found.high[a, b])


def compare_judges(people_yes: BoolArray, judges: Sequence[FloatArray], topics: IntArray) -> SeveralJudges:
    """Compare judges by κ of yes and no. All arrays of shape (items,); a judge's are 1, 0 and NaN (ungraded)."""
    sides = [(judge == 1, np.isnan(judge)) for judge in judges]
    kappas = tuple(kappa_at_threshold(people_yes, yes, ungraded, topics) for yes, ungraded in sides)
    left = [kappa_without_topics(people_yes, yes, ungraded, topics) for yes, ungraded in sides]
    return compare_kappas(kappas, left, n_items=len(people_yes))


def compare_kappas(kappas: Sequence[Estimate], left: Sequence[FloatArray], *, n_items: int) -> SeveralJudges:
    """Compare judges by their κ and what it is with each topic left out, each of `left` of shape (topics,)."""
    known = tuple(
        place
        for place, kappa in enumerate(kappas)
        if kappa.value is not None and kappa.low is not None and np.isfinite(left[place]).all()
    )
    defined = [place for place, kappa in enumerate(kappas) if kappa.value is not None]
    best = max(defined, key=lambda place: kappas[place].value or 0.0) if defined else None
    if len(known) < 2:
        reason = ONE_JUDGE if len(kappas) == 1 else next((one.reason for one in kappas if one.reason), ONE_JUDGE)
        return SeveralJudges(tuple(kappas), best, undefined(reason), reason=reason)
    values = np.array([kappas[place].value for place in known], dtype=np.float64)
    parts = pseudo_values(values, np.stack([left[place] for place in known], axis=1))
    sample = kappas[known[0]].sample or Sample(len(parts), n_items)
    assert best is not None  # one of those that are known, or one above them
    # Who is above all that are known, but without an interval, is not passed over for one of these.
    corrected = (
        corrected_best(values, parts, sample, within=COEFFICIENT) if best in known else undefined(kappas[best].reason)
    )
    return SeveralJudges(tuple(kappas), best, corrected, known, differences(values, parts, sample))
