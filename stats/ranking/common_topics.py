"""The topics over which systems are compared: topics that every source scores, for every system.

Means over different topics are not in one order: a system that was scored on easy topics alone would stand first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal

from stats.ranking.rankable import has_enough

if TYPE_CHECKING:
    import pandas as pd

TopicChoice = Literal["common", "all", "own"]
TOPICS: dict[TopicChoice, str] = {
    "common": "topics that every source scores, for every system; unfinished and failing judges do not limit them",
    "all": "topics that every source scores, unfinished and failing judges included",
    "own": "each source’s own topics, without ranks where they differ",
}
MOST_NAMED = 3


@dataclass(frozen=True)
class CommonTopics:
    """`topics` in their order, and why each of the others is left out."""

    topics: tuple[str, ...]
    left_out: Mapping[str, str]

    def as_dict(self) -> dict[str, object]:
        return {"n": len(self.topics), "left_out": dict(self.left_out)}

    @property
    def reasons(self) -> dict[str, list[str]]:
        """The topics that are left out, by the reason."""
        found: dict[str, list[str]] = {}
        for topic, reason in self.left_out.items():
            found.setdefault(reason, []).append(topic)
        return found


def common_topics(tables: Mapping[str, pd.DataFrame]) -> CommonTopics:
    """Return the topics on which every source has a score of each of its systems.

    `tables` by source, systems × topics, NaN where a source has no score. Sources without any score have no say, and
    neither have systems that have too few of their source's topics to be ranked.
    """
    scored = {source: table for source, table in tables.items() if table.notna().to_numpy().any()}
    topics = list(dict.fromkeys(topic for table in tables.values() for topic in table.columns))
    missing = {source: _missing(table) for source, table in scored.items()}
    left_out = {}
    for topic in topics:
        found = (_why(source, of_source.get(topic)) for source, of_source in missing.items())
        if reason := next(filter(None, found), ""):
            left_out[topic] = reason
    return CommonTopics(tuple(topic for topic in topics if topic not in left_out) if scored else (), left_out)


def on_common_topics(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the tables on the topics that they share, each with the systems that have a score on all of them."""
    columns = next((one.columns for one in tables.values()), None)
    complete = (len(one) and one.columns.equals(columns) and one.notna().to_numpy().all() for one in tables.values())
    if all(complete):
        return dict(tables)
    topics = list(common_topics(tables).topics)
    found = {}
    for name, table in tables.items():
        shared = table.loc[:, topics] if topics else table.iloc[:0, :0]
        found[name] = shared.dropna()
    return found


def _missing(table: pd.DataFrame) -> dict[str, list[str] | None]:
    """Return the systems without a score on each topic; None stands for all of them."""
    known: Any = table.notna().to_numpy()
    any_score = known.any(axis=0)
    counting = has_enough(known)
    systems, lacking = list(map(str, table.index[counting])), ~known[counting]
    return {
        topic: list(compress(systems, lacks)) if scored else None
        for topic, scored, lacks in zip(table.columns, any_score.tolist(), lacking.T.tolist(), strict=True)
    }


def _why(source: str, systems: list[str] | None) -> str:
    """Say why a topic is left out; empty where the source scores all its systems on it."""
    if systems is None:
        return f"no score by {source}"
    return f"no score for {named(systems)} by {source}" if systems else ""


def named(names: Iterable[str]) -> str:
    """Return the first few names, and how many more there are."""
    listed = list(names)
    more = len(listed) - MOST_NAMED
    return ", ".join(listed[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
