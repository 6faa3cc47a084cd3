"""Compares systems' scores by people's labels and by filled ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from stats.measures.grades import GradeTable
from stats.measures.score_bounds import open_pairs
from stats.ranking.filled_qrels import Pair
from stats.ranking.filled_scores import FilledScores, SystemChange
from stats.ranking.leaderboard import leaderboard
from stats.ranking.qrels_scoring import Labels, QrelsMeasure
from stats.ranking.rank_correlation import bootstrap_over_topics
from stats.ranking.rankable import complete
from stats.ranking.sampled_labels import Rankings
from stats.ranking.scoring import ScoreTable, SourceGrades, score_systems
from stats.ranking.unjudged import withheld_in_words
from stats.ranking.unjudged_bounds import bound_scores, check_bounded

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
    boards = [_board(measure, labels, rankings, highest) for labels in (before, after)]
    bounds = [
        bound_scores(measure, labels, rankings, free, highest=highest).without(board.left_out).means()
        for labels, board in zip((before, after), boards, strict=True)
    ]
    k = measure.looks_to
    unjudged = [_unjudged(labels, rankings, k) for labels in (before, after)]
    systems = _changes(boards, bounds, unjudged)
    full = [one.system for one in systems if one.system not in boards[0].few]
    return FilledScores(
        measure=measure.shown,
        k=k,
        n_topics=len(topics),
        systems=tuple(sorted(systems, key=lambda one: (one.rank or len(systems) + 1, one.rank_after or 0, one.system))),
        n_pairs=len(full) * (len(full) - 1) // 2,
        n_open=len(open_pairs({system: bounds[0][system] for system in full})),
        n_open_after=len(open_pairs({system: bounds[1][system] for system in full})),
        kendall=bootstrap_over_topics(*(one.rankable for one in boards), correlation="kendall"),
        tau_ap=bootstrap_over_topics(*(one.rankable for one in boards), correlation="tau_ap"),
        withheld=withheld_in_words(
            boards[0].withheld, {system: 1 - share for system, share in unjudged[0].items() if share is not None}
        ),
    )


def _board(measure: QrelsMeasure, labels: Labels, rankings: Rankings, highest: int) -> ScoreTable:
    """Return what a leaderboard by these labels gives."""
    tables = {
        topic: GradeTable(tuple(found), ("",), np.array(list(found.values()), dtype=np.float64)[:, None])
        for topic, found in labels.items()
    }
    grades = SourceGrades(tables, threshold=measure.relevant or 1, scale=tuple(map(float, range(highest + 1))))
    return score_systems(measure, grades, rankings)


def _changes(
    boards: Sequence[ScoreTable],
    bounds: Sequence[Mapping[str, tuple[float, float]]],
    unjudged: Sequence[Mapping[str, float | None]],
) -> list[SystemChange]:
    tables = [complete(one.rankable) for one in boards]
    both = tables[0].index.intersection(tables[1].index)
    ranks = [_ranks(table) for table in tables]
    first, second = (_ranks(table.loc[both]) for table in tables)
    means = [one.given.mean(axis=1) for one in boards]
    return [
        SystemChange(
            system=system,
            n_topics=int((~boards[0].left_out.loc[[system]]).to_numpy().sum()),
            rank=ranks[0].get(system),
            rank_after=ranks[1].get(system),
            before=_known(means[0][system]),
            low=bounds[0][system][0],
            high=bounds[0][system][1],
            after=_known(means[1][system]),
            low_after=bounds[1][system][0],
            high_after=bounds[1][system][1],
            unjudged=unjudged[0][system],
            unjudged_after=unjudged[1][system],
            places=second[system] - first[system] if system in first else None,
            reason=boards[0].why_unranked(system),
            reason_after=boards[1].why_unranked(system),
        )
        for system in map(str, boards[0].table.index)
    ]


def _known(mean: float) -> float | None:
    return None if np.isnan(mean) else float(mean)


def _ranks(table: pd.DataFrame) -> dict[str, int]:
    return {one.system: one.rank for one in leaderboard(table) if one.rank is not None}


def _by_topic(labels: Mapping[Pair, int], topics: Sequence[str]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {topic: {} for topic in topics}
    for (topic, docno), label in labels.items():
        if topic in found:
            found[topic][docno] = label
    return found


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
