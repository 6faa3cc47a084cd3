"""Which systems have no score, because too much of what it would rest on was never judged.

What is unjudged counts as not relevant, so a mean is too low by at most the share that is unjudged: P@10 with 10 % of
the first ten unjudged is at most .1 too low, and in fact by that share times the chance that an unjudged passage is
relevant, some .02 to .05. That is about the standard error of a mean over 50 topics; beyond it, holes would decide the
order. TREC's own runs have next to none, for their pools are made of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from stats.measures.grades import GradeTable
from stats.ratings import FloatArray

MOST_UNJUDGED = 0.1
# How far down judged@k looks where a measure reads the whole ranking: as deep as the usual pool.
DEPTH = 10


def judged_share(table: GradeTable, top: Sequence[str], *, asked: FloatArray | None = None) -> float:
    """Return the share of the texts' grades, of all elements, that are there; NaN without texts.

    `asked`, in the shape of the grades, is 1 where an item exists: then only those count.
    """
    if not top or not table.elements:
        return float("nan")
    if asked is None:
        return sum(table.n_there.get(passage, 0) for passage in top) / (len(top) * len(table.elements))
    there = ~np.isnan(table.of(top))
    items = ~np.isnan(GradeTable(table.passages, table.elements, asked).of(top))
    return float(there[items].mean()) if items.any() else float("nan")


def withheld_for_unjudged(judged: pd.DataFrame, what: str) -> dict[str, str]:
    """Return why systems have no score, by name.

    `judged`, systems × topics: the share of what a score rests on that is judged; NaN where there is nothing to judge.
    `what` names it in the plural: “its first 20 passages are”.
    """
    means: Mapping[object, float] = judged.mean(axis=1).to_dict()
    return {
        str(system): f"{1 - share:.0%} of {what} unjudged, more than {MOST_UNJUDGED:.0%}"
        for system, share in means.items()
        if share < 1 - MOST_UNJUDGED
    }
