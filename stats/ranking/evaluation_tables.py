"""How far two evaluations put runs in the same order: of values by topic where both have them, else of means.

An evaluation has a table of values, runs × topics, NaN where it has none, and the means that it states itself. Values
are interval or ratio, higher is better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stats.intervals import Estimate, Sample
from stats.plurals import counted
from stats.ranking.common_topics import named, on_common_topics
from stats.ranking.missing_values import Missing
from stats.ranking.order_verdict import OrderVerdict, order_verdict
from stats.ranking.rank_correlation import Correlation, bootstrap_over_topics, correlation_of
from stats.refusals import Refused

if TYPE_CHECKING:
    import pandas as pd

COEFFICIENTS: dict[Correlation, str] = {
    "kendall": "Kendall’s τ_b",
    "tau_ap": "τ_AP",
    "spearman": "Spearman’s ρ",
    "pearson": "Pearson’s r",
}
MEANS_ALONE = "there are only means, and no values by topic to resample"
# Values are often written with four digits: a mean of such may be so far from a stated one.
SAME_MEAN = 1.5e-4


class ValuesMissing(Refused):
    """One evaluation lacks values that the other has."""


@dataclass(frozen=True)
class EvaluationTable:
    """What one measure makes of runs; `stated` are the means over all topics as the evaluation gives them."""

    by_topic: pd.DataFrame
    stated: Mapping[str, float]

    @property
    def runs(self) -> list[str]:
        return list(dict.fromkeys([*map(str, self.by_topic.index), *self.stated]))

    @property
    def means(self) -> dict[str, float]:
        """The stated means, and where there is none that of the run's topics."""
        of_topics = self.by_topic.mean(axis=1)
        return {
            run: self.stated[run] if run in self.stated else float(of_topics[run])
            for run in self.runs
            if run in self.stated or not np.isnan(of_topics[run])
        }


@dataclass(frozen=True)
class TablesCompared:
    """Correlations by name, over how many runs and topics, and what to know of what was compared.

    `verdict`: whether the orders are the same, where there are values by topic.
    """

    correlations: dict[str, Estimate]
    n_runs: int
    n_topics: int
    notes: tuple[str, ...]
    verdict: OrderVerdict | None = None


def compare_tables(
    reference: EvaluationTable,
    other: EvaluationTable,
    *,
    missing: Missing = "warn",
    default: float = 0.0,
    at: Sequence[int] = (),
    among: int = 1,
) -> TablesCompared:
    """Return τ_b, τ_AP, ρ and r of two evaluations, and for each k of `at` `kendall@k` of the reference's k best runs.

    Where both have values by topic, means are taken anew over the topics on which all compared runs have one, and these
    are resampled; else the means are compared, without an interval. The verdict is for one `among` so many comparisons.
    Raises ValuesMissing for `missing="error"`.
    """
    by_topic = not reference.by_topic.dropna(how="all").empty and not other.by_topic.dropna(how="all").empty
    gaps = _gaps_by_topic(reference, other) if by_topic else _gaps_of_means(reference, other)
    if gaps and missing == "error":
        raise ValuesMissing(" ".join(gaps))
    notes = tuple(gaps) if missing == "warn" else ()
    if missing == "default" and gaps:
        notes = (f"{' '.join(gaps)} {default:g} is taken in their place.",)
    asked: list[tuple[str, Correlation, int | None]] = [(name, name, None) for name in COEFFICIENTS]
    asked += [(f"kendall@{k}", "kendall", k) for k in at]
    if not by_topic:
        return _of_means(reference, other, asked, notes, default if missing == "default" else None)
    first, second = reference.by_topic, other.by_topic
    if missing == "default":
        runs, topics = first.index.union(second.index), first.columns.union(second.columns)
        first, second = (table.reindex(index=runs, columns=topics).fillna(default) for table in (first, second))
    else:
        notes += tuple(filter(None, (_note_on_means(reference), _note_on_means(other))))
    compared = on_common_topics({"reference": first, "other": second})
    runs = compared["reference"].index.intersection(compared["other"].index)
    return TablesCompared(
        {
            name: bootstrap_over_topics(first, second, correlation=correlation, top_k=k)
            for name, correlation, k in asked
        },
        n_runs=len(runs),
        n_topics=len(compared["reference"].columns),
        notes=notes,
        verdict=order_verdict(
            *(table.loc[runs].to_numpy(dtype=np.float64) for table in compared.values()), among=among
        ),
    )


def _of_means(
    reference: EvaluationTable,
    other: EvaluationTable,
    asked: Sequence[tuple[str, Correlation, int | None]],
    notes: tuple[str, ...],
    default: float | None,
) -> TablesCompared:
    one, two = reference.means, other.means
    runs = [run for run in dict.fromkeys([*one, *two]) if default is not None or (run in one and run in two)]
    x, y = ([means.get(run, default or 0.0) for run in runs] for means in (one, two))
    found = {}
    for name, correlation, k in asked:
        point = correlation_of(correlation, x, y, top_k=k)
        found[name] = (
            point
            if point.value is None
            else Estimate(point.value, reason=MEANS_ALONE, sample=Sample(n_items=len(runs), unit="runs"))
        )
    return TablesCompared(found, n_runs=len(runs), n_topics=0, notes=notes)


def _gaps_by_topic(reference: EvaluationTable, other: EvaluationTable) -> list[str]:
    """Say which values one evaluation has and the other lacks: whole runs, whole topics, and single ones."""
    said = []
    for which, has, lacks in (("other", reference, other), ("reference", other, reference)):
        has_rows, lacks_rows = has.by_topic.dropna(how="all"), lacks.by_topic.dropna(how="all")
        has_rows, lacks_rows = has_rows.dropna(axis=1, how="all"), lacks_rows.dropna(axis=1, how="all")
        runs = [str(run) for run in has_rows.index if run not in lacks_rows.index]
        topics = [str(topic) for topic in has_rows.columns if topic not in lacks_rows.columns]
        shared = has_rows.loc[
            has_rows.index.intersection(lacks_rows.index), has_rows.columns.intersection(lacks_rows.columns)
        ]
        n_single = int((shared.notna() & lacks_rows.reindex_like(shared).isna()).to_numpy().sum())
        parts = [
            *([f"{counted(len(runs), 'runs')} ({named(runs)})"] if runs else []),
            *([f"{counted(len(topics), 'topics')} ({named(topics)})"] if topics else []),
            *([f"{counted(n_single, 'values')} of other runs and topics"] if n_single else []),
        ]
        if parts:
            said.append(f"The {which} lacks {', '.join(parts)}.")
    return said


def _gaps_of_means(reference: EvaluationTable, other: EvaluationTable) -> list[str]:
    said = []
    for which, has, lacks in (("other", reference, other), ("reference", other, reference)):
        if runs := [run for run in has.means if run not in lacks.means]:
            said.append(f"The {which} lacks {counted(len(runs), 'runs')} ({named(runs)}).")
    return said


def _note_on_means(table: EvaluationTable) -> str:
    """Say where stated means are not those of the topics: the comparison is of the latter."""
    of_topics = table.by_topic.mean(axis=1)
    differing = [
        run
        for run, mean in table.stated.items()
        if run in of_topics.index and not np.isnan(of_topics[run]) and abs(of_topics[run] - mean) > SAME_MEAN
    ]
    if not differing:
        return ""
    runs = f"{counted(len(differing), 'runs')} ({named(differing)})"
    return f"The values of “all” are not the means of the topics for {runs}."
