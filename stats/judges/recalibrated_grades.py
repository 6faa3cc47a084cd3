"""A judge's grades, each read as what people say on average where the judge gives it, learned on other topics.

A judge that grades everything too high puts systems in another order than people without disagreeing about any two
passages. What is left of that order once its grades are read so is what no recalibration repairs. A topic has no say in
how its own grades are read, so that labels of the very passages that are scored do not look like the judge's knowledge.
"""

from __future__ import annotations

import numpy as np

from stats.ratings import FloatArray, IntArray


def recalibrated(people: FloatArray, judge: FloatArray, topics: IntArray) -> FloatArray:
    """Return people's mean at the judge's grade over the other topics, shape (items,); NaN where the judge gave none.

    `people` are values of any unit (grades, or 1 and 0 for yes and no), NaN without a label; `judge` its grades, NaN
    where ungraded; `topics` are numbered from 0. A grade that it gives in no other topic with labels is read between
    the nearest ones that it does; NaN throughout a topic beside which there are no labels at all.
    """
    found = np.full(len(judge), np.nan)
    graded = ~np.isnan(judge)
    grades, of_item = np.unique(judge[graded], return_inverse=True)
    n_topics = int(topics.max(initial=-1)) + 1
    cells = of_item * n_topics + topics[graded]
    labels, shape = people[graded], (len(grades), n_topics)
    known = ~np.isnan(labels)
    n = np.bincount(cells[known], minlength=shape[0] * n_topics).reshape(shape)
    sums = np.bincount(cells[known], weights=labels[known], minlength=shape[0] * n_topics).reshape(shape)
    elsewhere = n.sum(axis=1, keepdims=True) - n
    means = (sums.sum(axis=1, keepdims=True) - sums) / np.maximum(elsewhere, 1)
    for topic in np.flatnonzero((elsewhere == 0).any(axis=0)):
        there = elsewhere[:, topic] > 0
        means[:, topic] = np.interp(grades, grades[there], means[there, topic]) if there.any() else np.nan
    found[graded] = means[of_item, topics[graded]]
    return found
