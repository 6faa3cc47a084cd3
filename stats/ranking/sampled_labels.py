"""P@k and DCG@k estimated from labels that were drawn with known probabilities.

A labelled passage stands for w = 1 / π passages, π being the probability with which it was drawn. How many of the first
k were drawn is chance, so the weighted sum of their gains (Horvitz and Thompson, 1952) swings with it and may exceed
what k passages can gain. It is therefore divided by the weighted sum over all that were labelled and multiplied by what
is known of the ranking, over all topics at once, so that the ratio's bias is that of 30 labels, not of one (Hájek,
comment on Basu, 1971; Särndal, Swensson and Wretman 1992, 5.7):

    mean = (Σ w·gain·discount / Σ w·discount) · (Σ discount of drawable passages) / topics

It lies within the measure's range. A topic's score is its linear part, with which it moves the mean: the scores' mean
is the estimate, and their spread its error, of topics and draws together. Alone it says nothing of the topic.

AP and nDCG divide by what is relevant in the whole topic, which a sample knows too badly. By how much they are wrong,
and how often the intervals given here hold the truth, `tests/sampled_labels_check.py` shows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stats.intervals import FEWEST_ITEMS, FEWEST_TOPICS
from stats.measures.grades import GradeTable
from stats.plurals import counted
from stats.ranking.rankable import with_few_rankings
from stats.ranking.unjudged import MOST_UNJUDGED
from stats.ratings import BoolArray, FloatArray

if TYPE_CHECKING:
    import pandas as pd

Rankings = Mapping[str, Mapping[str, Sequence[str]]]


@dataclass(frozen=True)
class LabelDraw:
    """With which weights a source's labels stand for all items of a study.

    - `weights`: by topic, in the shape of the grades; NaN where an item has no label.
    - `n_labelled` of `n_items`; `n_waiting` more were drawn and have no label yet.
    """

    weights: Mapping[str, GradeTable]
    n_labelled: int
    n_items: int
    n_waiting: int

    @property
    def in_words(self) -> str:
        return f"a drawn sample of labels ({self.n_labelled:,} of {counted(self.n_items, 'items')})"

    @property
    def unusable(self) -> str:
        """Why nothing can be estimated from it yet; empty where something can."""
        if reason := waiting_for(self.n_waiting, self.n_labelled + self.n_waiting):
            return reason
        partly = any(((~np.isnan(one.grades)).sum(axis=1) % len(one.elements)).any() for one in self.weights.values())
        return "rubric elements were drawn individually, so no passage’s label is known" if partly else ""


def waiting_for(n_waiting: int, n_drawn: int) -> str:
    """Say that too many of the drawn items have no label yet; empty where they are few."""
    if n_waiting <= MOST_UNJUDGED * n_drawn:
        return ""
    return f"{n_waiting:,} of the {n_drawn:,} drawn items have no label yet"


def chance_of_the_top(depths: FloatArray, labelled: BoolArray) -> float:
    """Return how often a simple random sample reaches no deeper than the labelled passages do.

    `depths`, shape (passages,): the best rank of each that could be labelled, inf without one. It is the lower tail of
    the sample's maximum, C(m, n) / C(N, n) with m of N passages down to that rank, and so an exact p-value.
    """
    n = int(labelled.sum())
    if not n:
        return 1.0
    within = int((depths <= depths[labelled].max()).sum())
    return float(np.exp(_log_choose(within, n) - _log_choose(len(depths), n)))


def _log_choose(of: int, n: int) -> float:
    return math.lgamma(of + 1) - math.lgamma(n + 1) - math.lgamma(of - n + 1)


def withheld_outside(rankings: Rankings, draw: LabelDraw, cutoffs: Mapping[str, int]) -> dict[str, str]:
    """Return why systems have no score: they rank too much that nobody could draw, or something on too few topics."""
    found = {}
    pools = {topic: set(table.passages) for topic, table in draw.weights.items()}
    for system, of_topics in rankings.items():
        tops = [(pool, of_topics.get(topic, ())[: cutoffs[topic]]) for topic, pool in pools.items()]
        shares = [sum(docno not in pool for docno in top) / len(top) for pool, top in tops if top]
        if reason := _outside(np.array(shares)):
            found[system] = reason
    return {**found, **with_few_rankings(rankings, list(pools))}


def _outside(shares: FloatArray) -> str:
    if not len(shares) or shares.mean() <= MOST_UNJUDGED:
        return ""
    return f"{shares.mean():.0%} of its first passages are not items of the study, so they could not be drawn"


@dataclass(frozen=True)
class Estimated:
    """Estimated scores and judged@k, systems × topics, and why systems have none."""

    table: pd.DataFrame
    judged: pd.DataFrame
    withheld: Mapping[str, str]


def estimate_sums(
    gains: Mapping[str, Mapping[str, float]],
    draw: LabelDraw,
    rankings: Rankings,
    *,
    cutoffs: Mapping[str, int],
    discounts: Sequence[float],
) -> Estimated:
    """Return each system's estimated mean over topics of the sum, over the first k passages, of gain times discount.

    It is the mean of the table's row, whose cells are the topics' linear parts.
    `gains`: of each labelled passage, by topic and docno; `cutoffs`: k by topic; `discounts`: by place, from the first.
    A passage that could not be drawn, being no item of the study, has no gain. Topics are those of the draw.
    """
    import pandas as pd

    shape = (len(rankings), len(draw.weights))
    gained, labelled, drawable = (np.zeros(shape) for _ in range(3))
    judged, outside = (np.full(shape, np.nan) for _ in range(2))
    n_labelled = np.zeros(len(rankings), dtype=np.int64)
    for column, (topic, table) in enumerate(draw.weights.items()):
        weights = dict(zip(table.passages, table.grades[:, 0].tolist(), strict=True)) if table.elements else {}
        of_topic = gains.get(topic, {})
        for row, found in enumerate(rankings.values()):
            top = found.get(topic, ())[: cutoffs[topic]]
            known = [(place, docno) for place, docno in enumerate(top) if docno in of_topic]
            gained[row, column] = sum(weights[docno] * of_topic[docno] * discounts[place] for place, docno in known)
            labelled[row, column] = sum(weights[docno] * discounts[place] for place, docno in known)
            drawable[row, column] = sum(discounts[place] for place, docno in enumerate(top) if docno in weights)
            n_labelled[row] += len(known)
            if top:
                judged[row, column] = len(known) / len(top)
                outside[row, column] = sum(docno not in weights for docno in top) / len(top)
    scores = _linear_parts(gained, labelled, drawable)
    systems, topics = list(rankings), list(draw.weights)
    withheld = {}
    for row, system in enumerate(systems):
        if reason := _too_little(int(n_labelled[row]), outside[row], len(topics)):
            withheld[system] = reason
    return Estimated(
        pd.DataFrame(scores, index=systems, columns=topics),
        pd.DataFrame(judged, index=systems, columns=topics),
        {**withheld, **with_few_rankings(rankings, topics)},
    )


def _linear_parts(gained: FloatArray, labelled: FloatArray, drawable: FloatArray) -> FloatArray:
    """Return each topic's linear part of (Σ gained / Σ labelled) · (Σ drawable / topics); all systems × topics."""
    total, known = labelled.sum(axis=1, keepdims=True), drawable.mean(axis=1, keepdims=True)
    share = np.divide(labelled, total, out=np.zeros_like(labelled), where=total > 0)
    per_passage = np.divide(gained.sum(axis=1, keepdims=True), total, out=np.zeros_like(total), where=total > 0)
    inverse = np.divide(known * gained.shape[1], total, out=np.zeros_like(total), where=total > 0)
    apart = inverse * (gained - per_passage * labelled) / np.maximum(1 - share, 1 / gained.shape[1])
    return np.asarray(per_passage * drawable + apart - apart.mean(axis=1, keepdims=True))


def _too_little(n_labelled: int, outside: FloatArray, n_topics: int) -> str:
    if n_topics < FEWEST_TOPICS:
        return f"an estimate from a drawn sample needs {FEWEST_TOPICS} topics"
    if reason := _outside(outside[~np.isnan(outside)]):
        return reason
    if n_labelled < FEWEST_ITEMS:
        return f"{n_labelled} of its first passages were drawn; an estimate needs {FEWEST_ITEMS}"
    return ""
