"""A leaderboard's means by a property of the topics, or by how long the answers are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from collection.models import Report
from evaluation.leaderboards.columns import Column
from evaluation.leaderboards.sources import StudySources
from stats.measures.scores import Score, TopicMean, length_bins, mean_by_attribute
from stats.ranking.measure_names import NoLeaderboard

LENGTH = "length of the answer"
# A topic attribute with more values than these tells topics apart, it does not group them.
MOST_GROUPS = 30
BINS = 3


@dataclass(frozen=True)
class LeaderboardBreakdown:
    """Means by group: by source and system, in the order of `groups`; None where the system has no such topic."""

    by: str
    groups: tuple[str, ...]
    means: Mapping[str, Mapping[str, tuple[TopicMean | None, ...]]]

    def table(self) -> list[list[Any]]:
        """Return the means in long form, with a first row of names."""
        return [
            ["source", "system", "by", "group", "mean", "se", "topics"],
            *(
                [source, system, self.by, group, mean.value, mean.standard_error, mean.n]
                for source, of_systems in self.means.items()
                for system, means in of_systems.items()
                for group, mean in zip(self.groups, means, strict=True)
                if mean is not None
            ),
        ]


def groupings(boards: StudySources) -> list[str]:
    """Return by what the study's topics can be grouped: attributes with a few values, and the length of answers."""
    attributes = boards.topic_attributes.values()
    names = sorted({name for of_topic in attributes for name in of_topic})
    found = [name for name in names if _groups([of_topic.get(name) for of_topic in attributes])]
    reports = Report.objects.filter(run__collection=boards.study.collection_id)
    return [*found, *([LENGTH] if reports.exists() else [])]


def _groups(values: list[Any]) -> bool:
    """Whether these values group topics: several, none of them so many that each topic has its own."""
    if not all(isinstance(value, Hashable) for value in values):
        return False
    return 1 < len(set(values)) <= MOST_GROUPS and len(set(values)) < len(values)


def break_down(boards: StudySources, columns: Sequence[Column], by: str) -> LeaderboardBreakdown:
    """Return each source's means by this grouping. Raises NoLeaderboard for one there is not."""
    offered = groupings(boards)
    if by == "length" and by not in offered:
        by = LENGTH
    if by not in offered:
        raise NoLeaderboard(f"Topics cannot be grouped by “{by}”. Choose one of: {', '.join(offered) or 'nothing'}.")
    group_of = _bins(boards) if by == LENGTH else _attribute(boards, by)
    means = {
        column.name: {
            str(system): mean_by_attribute(_scores(row), group_of(str(system)))
            for system, row in column.table.iterrows()
        }
        for column in columns
    }
    groups = sorted({group for of_systems in means.values() for found in of_systems.values() for group in found})
    return LeaderboardBreakdown(
        by,
        tuple(group or "none" for group in groups),
        {
            source: {system: tuple(found.get(group) for group in groups) for system, found in of_systems.items()}
            for source, of_systems in means.items()
        },
    )


def _scores(row: pd.Series[float]) -> dict[str, Score]:
    return {str(topic): Score(float(score)) for topic, score in row.items() if not pd.isna(score)}


def _attribute(boards: StudySources, name: str) -> Any:
    named = boards.topic_names
    values = {named[pk]: str(of.get(name, "")) for pk, of in boards.topic_attributes.items() if pk in named}
    return lambda _: values


def _bins(boards: StudySources) -> Any:
    """Return for a system the bin of its answer's length on each topic: terciles, in characters, over all answers."""
    lengths: dict[str, dict[str, float]] = {}
    for topic, run, text in boards.report_texts():
        lengths.setdefault(run, {})[boards.topic_names[topic]] = float(len(text))
    every = [length for of_run in lengths.values() for length in of_run.values()]
    edges = sorted(set(np.quantile(every, np.arange(1, BINS) / BINS).round().tolist()))
    return lambda system: length_bins(lengths.get(system, {}), edges)
