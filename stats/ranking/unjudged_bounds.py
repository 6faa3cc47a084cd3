"""How low and how high a measure could be, whatever the grades of what has no label.

A passage without a label counts as not relevant. What a system's score on a topic could be if the passages of a set had
any grade from 0 to the highest is bounded here for each measure: the lower bound is reached, and so is the upper one
but of nDCG, which lies at or below it. A bound of P@k, DCG@k, RR and Success@k is the score with none, or all, of the
unlabelled relevant (Moffat and Zobel, Rank-Biased Precision, TOIS 2008, section 3, call their distance the residual).
R@k, AP and nDCG divide by what is relevant in the whole topic: they are lowest where what a system ranks low, and all
that it does not rank, is relevant. A mean's bounds are the means of the bounds, since topics have nothing in common.

Gains of nDCG and DCG are the grades, as trec_eval has them; a negative grade gains nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

import numpy as np

from stats.measures.score_bounds import ScoreBounds
from stats.measures.trec import UnknownMeasure
from stats.ranking.measure_names import registered
from stats.ranking.qrels_scoring import Bound, Labels, QrelsMeasure, Ranked
from stats.ranking.sampled_labels import Rankings


def check_bounded(measure: QrelsMeasure) -> None:
    """Raise UnknownMeasure for a measure whose bounds are not known."""
    if not measure.is_bounded:
        listed = ", ".join(one.bounded_as for one in registered() if issubclass(one, QrelsMeasure) and one.bounded_as)
        raise UnknownMeasure(f"The bounds of “{measure.name}” are not known. Choose from measures such as {listed}.")


def bound_scores(
    measure: QrelsMeasure, labels: Labels, rankings: Rankings, unlabelled: Mapping[str, Set[str]], *, highest: int
) -> ScoreBounds:
    """Return the bounds of every system's score on every topic of the labels. Raises UnknownMeasure.

    `unlabelled` has by topic the passages that may have any grade from 0 to the `highest`; whatever else has no label
    is not relevant.
    """
    import pandas as pd

    check_bounded(measure)
    cells: dict[str, list[Bound]] = {system: [] for system in rankings}
    for topic, known in labels.items():
        free = unlabelled.get(topic, frozenset()) - known.keys()
        for system, found in rankings.items():
            cells[system].append(measure.bounds(_ranked(found.get(topic, ())[: measure.cutoff], known, free, highest)))
    low, high = (
        pd.DataFrame.from_dict(
            {system: [bound[side] for bound in row] for system, row in cells.items()},
            orient="index",
            columns=list(labels),
            dtype=np.float64,
        )
        for side in (0, 1)
    )
    return ScoreBounds(low, high)


def _ranked(top: Sequence[str], known: Mapping[str, int], unlabelled: Set[str], highest: int) -> Ranked:
    """Return a ranking that is cut already, with what its passages may be."""
    free = np.array([docno in unlabelled for docno in top], dtype=bool)
    return Ranked(
        grades=np.array([max(known.get(docno, 0), 0) for docno in top], dtype=np.int64),
        free=free,
        known=np.array([max(grade, 0) for grade in known.values()], dtype=np.int64),
        n_elsewhere=len(unlabelled) - int(free.sum()),
        highest=highest,
    )
