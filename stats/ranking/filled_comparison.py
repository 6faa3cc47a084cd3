"""Compares systems' scores by people's labels and by filled ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import chain
from typing import TYPE_CHECKING

from stats.measures.score_bounds import open_pairs
from stats.ranking.filled_qrels import Pair
from stats.ranking.filled_scores import FilledScores, SystemChange
from stats.ranking.qrels_scoring import Labels, QrelsMeasure, label_scores
from stats.ranking.rank_correlation import bootstrap_over_topics
from stats.ranking.sampled_labels import Rankings
from stats.ranking.unjudged import DEPTH
from stats.ranking.unjudged_bounds import bound_scores, check_bounded
from stats.rounding import rounded

if TYPE_CHECKING:
    import pandas as pd


def compare_filled(
    measure: QrelsMeasure, people: Mapping[Pair, int], filled: Mapping[Pair, int], rankings: Rankings, *, highest: int
) -> FilledScores:
    """Compare the systems' scores by people's labels and by the filled ones. Raises UnknownMeasure.

    Over the topics that people labelled. `highest` is the scale's. What may have any grade: all that has no label and
    that any system ranks among its first k (anywhere, for a measure without a cutoff), or that was filled.
    """
    check_bounded(measure)
    topics = sorted({topic for topic, _ in people})
    before, after = _by_topic(people, topics), _by_topic(filled, topics)
    free = {
        topic: set(chain(*(found.get(topic, ())[: measure.cutoff] for found in rankings.values()), after[topic]))
        for topic in topics
    }
    tables = [label_scores(measure, None, labels, rankings) for labels in (before, after)]
    bounds = [bound_scores(measure, labels, rankings, free, highest=highest) for labels in (before, after)]
    k = measure.cutoff or DEPTH
    unjudged = [_unjudged(labels, rankings, k) for labels in (before, after)]
    means = [_means(table) for table in tables]
    ranges = [(_means(one.low), _means(one.high)) for one in bounds]
    systems = [
        SystemChange(
            system,
            *(_rank(system, one) for one in means),
            *(means[0][system], *(one[system] for one in ranges[0])),
            *(means[1][system], *(one[system] for one in ranges[1])),
            *(one[system] for one in unjudged),
        )
        for system in rankings
    ]
    return FilledScores(
        measure=measure.shown,
        k=k,
        n_topics=len(topics),
        systems=tuple(sorted(systems, key=lambda one: (one.rank, one.system))),
        n_pairs=len(systems) * (len(systems) - 1) // 2,
        n_open=len(open_pairs(bounds[0].means())),
        n_open_after=len(open_pairs(bounds[1].means())),
        kendall=bootstrap_over_topics(*tables, correlation="kendall"),
        tau_ap=bootstrap_over_topics(*tables, correlation="tau_ap"),
    )


def _by_topic(labels: Mapping[Pair, int], topics: Sequence[str]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {topic: {} for topic in topics}
    for (topic, docno), label in labels.items():
        if topic in found:
            found[topic][docno] = label
    return found


def _means(table: pd.DataFrame) -> dict[str, float]:
    return {str(system): float(mean) for system, mean in table.mean(axis=1).items()}


def _rank(system: str, means: Mapping[str, float]) -> int:
    mine = rounded(means[system])
    return 1 + sum(bool(rounded(mean) > mine) for mean in means.values())


def _unjudged(labels: Labels, rankings: Rankings, k: int) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for system, of_system in rankings.items():
        top = [docno in known for topic, known in labels.items() for docno in of_system.get(topic, ())[:k]]
        found[system] = top.count(False) / len(top) if top else None
    return found


def pool_of(rankings: Rankings, *, depth: int) -> Set[Pair]:
    """Return what any of the systems ranks among its first so many."""
    return {
        (topic, docno)
        for of_system in rankings.values()
        for topic, docnos in of_system.items()
        for docno in docnos[:depth]
    }
