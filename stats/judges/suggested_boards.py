"""What the leaderboard would be if all labels had been given as those of one arm of a suggestion design were.

A system's score on a topic is the share of yes among the arm's labels on its items, each weighing 1 / the probability
of its arm; its score is the mean over topics, each counting once. Differences from *none* are paired by topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from stats.intervals import DIFFERENCE_OF_SHARES, SHARE, Estimate, mean_interval
from stats.judges.suggested_labels import NONE, SuggestedLabels
from stats.ranking.rank_correlation import kendall
from stats.ratings import FloatArray, IntArray
from stats.rounding import rounded


@dataclass(frozen=True)
class SystemScores:
    """A system's scores by arm, its ranks (1 is best, ties share the better one), and differences from *none*."""

    name: str
    scores: Mapping[int, Estimate]
    ranks: Mapping[int, int]
    differences: Mapping[int, Estimate]


@dataclass(frozen=True)
class SuggestedBoards:
    """The systems by their score in *none*, best first; `kendall` is τ_b of each arm's order with that of *none*."""

    systems: tuple[SystemScores, ...]
    kendall: Mapping[int, Estimate]


def boards_of(
    labels: SuggestedLabels, *, threshold: float, systems: Mapping[str, IntArray], arms: tuple[int, ...]
) -> SuggestedBoards:
    """Return the leaderboard of each arm. `systems` maps a system's name to its items."""
    yes = (labels.grades >= threshold).astype(np.float64)
    by_topic = {
        (name, arm): _shares(labels.of((labels.arms == arm) & mine), yes[(labels.arms == arm) & mine])
        for name, items in systems.items()
        for mine in (np.isin(labels.items, items),)
        for arm in arms
    }
    scores = {key: mean_interval(list(of.values()), within=SHARE) for key, of in by_topic.items()}
    ranks = {arm: _ranks({name: scores[name, arm].value for name in systems}) for arm in arms}
    found = [
        SystemScores(
            name,
            {arm: scores[name, arm] for arm in arms},
            {arm: ranks[arm][name] for arm in arms if name in ranks[arm]},
            {arm: _difference(by_topic[name, arm], by_topic[name, NONE]) for arm in arms if arm != NONE},
        )
        for name in systems
    ]
    found.sort(key=lambda one: (one.ranks.get(NONE, len(systems) + 1), one.name))
    return SuggestedBoards(tuple(found), {arm: _same_order(found, arm) for arm in arms if arm != NONE})


def _shares(labels: SuggestedLabels, yes: FloatArray) -> dict[int, float]:
    topics, places = np.unique(labels.topics, return_inverse=True)
    of_all = np.bincount(places, weights=labels.weights, minlength=len(topics))
    of_yes = np.bincount(places, weights=labels.weights * yes, minlength=len(topics))
    return dict(zip(topics.tolist(), (of_yes / of_all).tolist(), strict=True))


def _difference(first: Mapping[int, float], second: Mapping[int, float]) -> Estimate:
    both = sorted(first.keys() & second.keys())
    return mean_interval([first[topic] - second[topic] for topic in both], within=DIFFERENCE_OF_SHARES)


def _ranks(scores: Mapping[str, float | None]) -> dict[str, int]:
    known = {name: float(rounded(score)) for name, score in scores.items() if score is not None}
    return {name: 1 + sum(other > score for other in known.values()) for name, score in known.items()}


def _same_order(systems: list[SystemScores], arm: int) -> Estimate:
    pairs = [(one.scores[NONE].value, one.scores[arm].value) for one in systems]
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    return kendall([a for a, _ in both], [b for _, b in both])
