"""Which systems have no score: too much of what it would rest on was never judged, or the labels are their own ranking.

What is unjudged counts as not relevant, so a mean is too low by at most the share that is unjudged: P@10 with 10 % of
the first ten unjudged is at most .1 too low, and in fact by that share times the chance that an unjudged passage is
relevant, some .02 to .05. That is about the standard error of a mean over 50 topics; beyond it, holes would decide the
order. TREC's own runs have next to none, for their pools are made of them.

Where it is declared that what a source does not name is irrelevant, as gold passages are all that is relevant, nothing
is unjudged: `GradeTable.with_unnamed` gives it that grade, and all that asks here finds it judged.

Measures of all that is relevant in a topic, AP and R, look at the same first passages whatever their cutoff: deeper
down hardly anything is judged in any collection, and what is not judged there adds little to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from stats.measures.grades import GradeTable
from stats.ratings import FloatArray

if TYPE_CHECKING:
    import pandas as pd

MOST_UNJUDGED = 0.1
# How far down judged@k looks where a measure reads the whole ranking: as deep as the usual pool.
DEPTH = 10
# Of fewer topics a good run may rank what is relevant, and nothing else, by chance.
FEWEST_TOPICS = 5
ITSELF = "the labels are what it ranks itself, so its score would say nothing"


def judged_share(table: GradeTable, top: Sequence[str], *, asked: FloatArray | None = None) -> float:
    """Return the share of the texts' grades, of all elements, that are there; NaN without texts.

    `asked`, in the shape of the grades, is 1 where an item exists: then only those count.
    """
    if not top or not table.elements:
        return float("nan")
    if asked is None:
        return sum(map(table.n_known, top)) / (len(top) * len(table.elements))
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


def withheld_in_words(withheld: Mapping[str, str], judged: Mapping[str, float]) -> str:
    """Say why systems are given no score, with how much is unjudged where there are several reasons.

    `judged`: the share of what each system's score rests on that is judged.
    """
    reasons = sorted(set(withheld.values()))
    shares = [judged[system] for system in withheld if system in judged]
    if len(reasons) < 2 or len(shares) < len(withheld):
        return "; ".join(reasons)
    most, least = 1 - min(shares), 1 - max(shares)
    return f"{least:.0%} to {most:.0%} of what scores rest on is unjudged, more than {MOST_UNJUDGED:.0%}"


def runs_that_are_the_labels(
    tables: Mapping[str, GradeTable], rankings: Mapping[str, Mapping[str, Sequence[str]]]
) -> list[str]:
    """Return the runs that rank, on every labelled topic, the labelled passages and no other.

    None where any label is 0: who judges passages finds some that are not relevant, who lists gold ones does not. Where
    what is not named is declared irrelevant, labels of 0 say nothing of that, and the others are those listed.
    """
    labelled = {topic: table for topic, table in tables.items() if not np.isnan(table.grades).all()}
    judged = any((table.grades <= 0).any() for table in labelled.values() if np.isnan(table.unnamed))
    if len(labelled) < FEWEST_TOPICS or judged:
        return []
    wanted = {topic: _listed(table) for topic, table in labelled.items()}
    return [
        run
        for run, ranked in rankings.items()
        if all(passages == set(ranked.get(topic, ())) for topic, passages in wanted.items())
    ]


def _listed(table: GradeTable) -> set[str]:
    """Return the labelled passages; where all others are irrelevant, the relevant ones."""
    is_listed = ~np.isnan(table.grades) if np.isnan(table.unnamed) else table.grades > 0
    return {table.passages[row] for row in np.flatnonzero(np.asarray(is_listed).any(axis=1))}
