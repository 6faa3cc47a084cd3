"""A leaderboard's means over all topics that a study's were drawn from: weighted by the strata of the draw."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from collection.web.tables import Column, Table
from evaluation.data.topic_sample import TopicSample, topic_sample_of
from stats.calibration.topic_strata import stratified_mean
from stats.pattern_intervals import Estimate, undefined

if TYPE_CHECKING:
    from evaluation.leaderboards.leaderboard import Leaderboard


@dataclass(frozen=True)
class AllTopics:
    """Each system's mean over all topics, by each source in the order of the board's columns.

    `reason`: why there is none. `rows` are the systems, best first by the first source that has them.
    """

    sample: TopicSample
    sources: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Estimate, ...]], ...] = ()
    reason: str = ""

    def table(self) -> Table:
        """Return a row for each system and source."""
        rows = (
            (system, source, one, self.sample.population, self.sample.n_drawn, one.reason)
            for system, means in self.rows
            for source, one in zip(self.sources, means, strict=True)
        )
        return Table.of("Means over all topics", MEANS, rows)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "said": str(self.sample),
            "population": self.sample.population,
            "reason": self.reason,
            "systems": [
                {"system": system, **dict(zip(self.sources, (one.as_dict() for one in means), strict=True))}
                for system, means in self.rows
            ],
        }


MEANS = (
    *(Column("system", "System"), Column("source", "By")),
    Column("mean", "Mean", "estimate", names=("mean", "low", "high")),
    *(Column("topics", "Topics", "count"), Column("drawn", "Drawn", "count"), Column("reason", "Reason")),
)


def means_over_all_topics(board: Leaderboard) -> AllTopics | None:
    """Return the means over the topics of which the study's are a sample; None where it has all or chosen ones.

    A system has one by a source that scores it on every topic that was drawn.
    """
    sample = topic_sample_of(board.study)
    if sample is None or not sample.strata:
        return None
    sources = tuple(column.name for column in board.columns)
    if reason := sample.why_not_weighted or (
        "figures are of one part of the topics" if board.visibility.topics else ""
    ):
        return AllTopics(sample, sources, reason=reason)
    tables = [column.scored for column in board.columns]
    systems = list(dict.fromkeys(one.system for column in board.columns for one in column.standings))
    rows = [(system, tuple(_mean(sample, table, system) for table in tables)) for system in systems]
    return AllTopics(sample, sources, tuple(rows))


def _mean(sample: TopicSample, scored: Any, system: str) -> Estimate:
    given = scored.given
    if scored.estimated or system not in given.index:
        return undefined("its scores are estimates" if scored.estimated else "not scored")
    values: dict[str, list[float]] = defaultdict(list)
    row = given.loc[system].dropna()
    for topic, stratum in sample.stratum_of.items():
        if topic in row.index:
            values[stratum].append(float(row[topic]))
    if missing := sample.n_drawn - sum(map(len, values.values())):
        return undefined(f"no score on {missing} of the {sample.n_drawn} drawn topics")
    return stratified_mean(values, {one.name: one.population for one in sample.strata}, within=scored.within)
