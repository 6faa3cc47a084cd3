"""A context and the reports written from it are one system: where both are measured, they stand in one row.

CRUX (Ju et al. 2025) correlates measures of contexts Z with measures of the reports y that were written from them, over
pairs of both. A ranking run and the run of its reports have different names; this joins them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import pandas as pd

Scores = TypeVar("Scores", "pd.DataFrame", "pd.Series[float]")


def joined_rows(contexts: Mapping[str, str], rankings: Collection[str], reports: Collection[str]) -> dict[str, str]:
    """Return the rows of measures of rankings, each with the run whose ranking is measured in it.

    `contexts`: the run that each run of reports was written from. A run of reports that is measured stands for its
    context, which has a row of its own only where reports of its own are measured, or none was written from it.
    """
    found = {one: contexts[one] for one in reports if one not in rankings and contexts.get(one) in rankings}
    stood_for = set(found.values()) - set(reports)
    return {**{one: one for one in rankings if one not in stood_for}, **found}


@dataclass(frozen=True)
class WrittenReports:
    """Which tables of scores are of `rankings`, by key, and the context that each run of reports was written from."""

    contexts: Mapping[str, str] = field(default_factory=dict)
    rankings: frozenset[str] = frozenset()

    def pair(self, tables: Mapping[str, Scores], one: str, other: str) -> tuple[Scores, Scores]:
        """Return two tables, or series, by system: that of rankings in the rows of that of reports."""
        first, second = tables[one], tables[other]
        if not self.contexts or (one in self.rankings) == (other in self.rankings):
            return first, second
        if one in self.rankings:
            return self._joined(first, second), second
        return first, self._joined(second, first)

    def _joined(self, of_rankings: Scores, of_reports: Scores) -> Scores:
        rows = joined_rows(self.contexts, list(of_rankings.index), list(of_reports.index))
        found: Scores = of_rankings.loc[list(rows.values())].set_axis(list(rows))
        return found

    def note(self, tables: Mapping[str, Scores]) -> str:
        """Say which rows are of a context and its reports; empty where none is."""
        rankings = _systems(table for key, table in tables.items() if key in self.rankings)
        reports = _systems(table for key, table in tables.items() if key not in self.rankings)
        return joined_in_words(joined_rows(self.contexts, rankings, reports))


NONE_WRITTEN = WrittenReports()


def joined_in_words(rows: Mapping[str, str]) -> str:
    """Say which of the rows are of a context and its reports; empty where none is."""
    joined = [context for row, context in rows.items() if row != context]
    if not joined:
        return ""
    said = "1 run of reports stands in one row with the run that it was written from"
    if len(joined) > 1:
        said = f"{len(joined):,} runs of reports stand in one row with the run that they were written from"
    several = sorted(context for context, n in Counter(joined).items() if n > 1)
    if several:
        said += f"; in several rows, once for each of their runs of reports: {', '.join(several)}"
    return f"{said}."


def _systems(tables: Iterable[Scores]) -> list[str]:
    return list(dict.fromkeys(str(system) for table in tables for system in table.index))
