"""Which systems may be put in an order: the one rule of every rank, every τ and every list of divergent systems.

A system has no rank, and no part in the comparison of two orders, where

- it is given no score, since too much of what it would rest on is unjudged (`unjudged`);
- it has something to score on fewer than half of the topics. Its mean is then over those alone, or there is none where
  labels are a drawn sample, since an estimated or corrected mean is over all topics of the draw;
- it lacks a score on a topic that is compared.

A run that ranks nothing on some topics, but something on half of them or more, scores 0 there, as by trec_eval's `-c`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from stats.plurals import counted
from stats.ratings import BoolArray

if TYPE_CHECKING:
    import pandas as pd

FEWEST_OF_TOPICS = 0.5


def unranked_topics(rankings: Mapping[str, Mapping[str, Sequence[str]]], topics: Sequence[str]) -> pd.DataFrame:
    """Return where a run ranks nothing: systems × topics, True or False."""
    import pandas as pd

    rows = {system: [not found.get(topic) for topic in topics] for system, found in rankings.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(topics), dtype=bool)


def has_enough(there: BoolArray) -> BoolArray:
    """Return which systems have something on half of the topics or more, of those on which any system has something.

    `there` has the shape systems × topics, the answer (systems,).
    """
    return np.asarray(there.sum(axis=1) >= FEWEST_OF_TOPICS * there.any(axis=0).sum())


def with_few_topics(table: pd.DataFrame, unranked: pd.DataFrame | None = None) -> dict[str, str]:
    """Return why systems have no rank, by name: they have something to score on fewer than half of the scored topics.

    `table`, systems × topics, is NaN where nothing is scored; `unranked` is True where a score is 0 without a ranking.
    """
    known = table.notna().to_numpy()
    scored = known.any(axis=0)
    there = known if unranked is None else known & ~unranked.loc[table.index, table.columns].to_numpy()
    what, of = "a score" if unranked is None else "a ranking", counted(int(scored.sum()), "topics")
    needed = math.ceil(FEWEST_OF_TOPICS * scored.sum())
    few = known.any(axis=1) & (there.sum(axis=1) < needed)
    return {
        str(system): f"{what} on {n} of {of} alone; it needs one on {needed}"
        for system, n in zip(table.index[few], there[few].sum(axis=1).tolist(), strict=True)
    }


def with_few_rankings(rankings: Mapping[str, Mapping[str, Sequence[str]]], topics: Sequence[str]) -> dict[str, str]:
    """Return why runs have no rank, by name, where every topic counts: they rank something on fewer than half."""
    unranked = unranked_topics(rankings, topics)
    return with_few_topics(unranked.astype(float), unranked)


def complete(table: pd.DataFrame, *, without: Collection[str] = ()) -> pd.DataFrame:
    """Return the systems that have a score on every topic that any system has, over these topics."""
    kept = table.loc[~table.index.isin(list(without))]
    known = kept.dropna(axis="columns", how="all")
    return known.dropna(axis="index", how="any") if len(known.columns) else known.iloc[:0]
