"""Corrected scores of several systems, and the table of topics that compares them.

A system is a population of its own: its labels alone correct it, so a judge that favours a system is found out. That
takes labels on every system; `planner` says how many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evaluation.calibration import Corrected, correct, topic_scores
from evaluation.labels import Labels
from evaluation.ratings import IntArray


def correct_systems(
    labels: Labels, systems: IntArray, names: Sequence[str], *, label_shift: bool = False
) -> dict[str, Corrected]:
    """Return the corrected scores of each system; `systems` numbers each item's from 0, in the order of `names`."""
    return {
        name: correct(labels.of_items(systems == number), label_shift=label_shift) for number, name in enumerate(names)
    }


def corrected_table(
    labels: Labels, systems: IntArray, corrected: Mapping[str, Corrected], *, score: str, topics: Sequence[str]
) -> pd.DataFrame:
    """Return systems × topics for `leaderboards`: a row's mean is its corrected score, its sd/√C the standard error.

    `corrected` is what `correct_systems` returned for the same labels, `score` the name of one of its scores; `topics`
    names the labels' topics by their numbers. NaN where a system has no item of a topic, or no such score. Values are
    linear parts and may leave 0…1.
    """
    table = pd.DataFrame(np.nan, index=list(corrected), columns=list(topics))
    for number, (name, one) in enumerate(corrected.items()):
        parts = topic_scores(labels.of_items(systems == number), one.scores[score])
        table.loc[name, [topics[topic] for topic in parts]] = list(parts.values())
    return table
