"""Score tables of measures on qrels that are made of one source's grades: a passage's label is its highest grade.

Where the labels are a drawn sample, measures that are sums over the first passages are estimated, and no other is
given.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from stats.measures.grades import GradeTable
from stats.measures.rubric import qrels_from_grades
from stats.measures.trec import UnknownMeasure
from stats.ranking.measure_names import SystemMeasure, parse_measure
from stats.ranking.oracle_contexts import Oracle
from stats.ranking.sampled_labels import LabelDraw, Rankings, estimate_sums
from stats.ranking.unjudged import DEPTH, judged_share, withheld_for_unjudged
from stats.ratings import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

NOT_JUDGED = "the source has no judgments of the topic"
NO_CONTEXT = "the oracle ranks no passage for the topic"

Labels = Mapping[str, Mapping[str, int]]
Bound = tuple[float, float]


@dataclass(frozen=True)
class QrelsMeasure(SystemMeasure):
    """A measure on qrels. `at` puts a source's threshold in the place of η; before that it has no cutoff and no grade.

    - `relevant`: the grade from which a passage is relevant to it; None where gains are the grades themselves;
    - `shown`: its name with that grade: “P(rel≥2)@10”.

    A class declares also:

    - `bounded_as`: a name of which it knows the bounds; empty where it knows none;
    - `ratio`: which of `corrected_ratios` it is; `of_all_relevant`: whether it divides by all that is relevant;
    - `offers_to`: to which studies it is offered: of all labels, of a drawn sample of them, or both;
    - `knows_unjudged`: whether what is unjudged is something else to it than what is irrelevant;
    - `needs_judged`: whether a system has no score where too much is unjudged.
    """

    relevant: int | None = None
    shown: str = ""

    of_qrels = True
    questions = (("relevance", ""), ("rating", ""))
    bounded_as: ClassVar[str] = ""
    ratio: ClassVar[Literal["AP", "nDCG"] | None] = None
    of_all_relevant: ClassVar[bool] = False
    offers_to: ClassVar[Literal["all", "sample", "both"]] = "both"
    knows_unjudged: ClassVar[bool] = False
    needs_judged: ClassVar[bool] = True

    def at(self, threshold: float) -> Self:  # noqa: ARG002 - of what has a relevant grade
        """Return the measure by a source of this threshold. Raises UnknownMeasure."""
        return replace(self, shown=self.name)

    def scores(self, labels: Labels, rankings: Rankings, size: int | None) -> pd.DataFrame:
        """Return the scores, systems × topics; `size` cuts a measure that is cut at the oracle's. Of sums as here."""
        import pandas as pd

        rows = {
            system: [self._sum(list(found.get(topic, ()))[:size], grades) for topic, grades in labels.items()]
            for system, found in rankings.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index", columns=list(labels))

    def _sum(self, top: Sequence[str], grades: Mapping[str, int]) -> float:
        gains = self.gains(np.array([grades.get(docno, 0) for docno in top], dtype=np.float64)).tolist()
        return math.fsum(map(operator.mul, gains, self.weights(len(top)))) / self.divisor(len(top))

    def gains(self, grades: FloatArray | IntArray) -> FloatArray:
        """Return what grades gain, of any shape; NaN where there is none."""
        if self.relevant is None:
            return np.maximum(grades, 0)
        return np.where(np.isnan(grades), np.nan, grades >= (self.relevant or 1))

    def weights(self, size: int) -> list[float]:  # noqa: ARG002 - of sums
        """Return what a gain counts at each of the first places, if the measure is a sum of these; else nothing."""
        return []

    def divisor(self, size: int) -> float:  # noqa: ARG002 - of means
        """Return what the sum over so many places is divided by."""
        return 1

    def bounds(self, ranked: Ranked) -> Bound:
        """Return the lowest and the highest score of a ranking. Of sums as here: without and with all the free."""
        weights = np.array(self.weights(len(ranked.grades)))
        low, most = (float((weights * self.gains(grades)).sum()) for grades in (ranked.grades, ranked.highest_grades))
        divisor = self.divisor(self.cutoff or len(weights))
        return low / divisor, most / divisor

    def refuse_unless_computable(self) -> None:
        """Raise UnknownMeasure for what cannot be computed here."""

    @property
    def is_bounded(self) -> bool:
        """Whether its bounds are known, as it is written."""
        return bool(self.bounded_as) and not self.at_oracle

    @property
    def sees_unjudged(self) -> bool:
        """Whether what is unjudged is something else to it than what is irrelevant."""
        return self.knows_unjudged or "judged_only" in self.name

    @property
    def estimable(self) -> bool:
        """Whether it can be estimated from a drawn sample: a sum over the first passages."""
        return bool(self.weights(1)) and not self.sees_unjudged and (bool(self.cutoff) or self.at_oracle)

    @property
    def looks_to(self) -> int:
        """How far down judged@k looks."""
        return min(self.cutoff or DEPTH, DEPTH) if self.of_all_relevant else self.cutoff or DEPTH

    @property
    def first_passages(self) -> str:
        """What of a ranking its judged@k is about."""
        return f"its first {'|Z*|' if self.at_oracle else self.looks_to} passages are"

    def withheld(self, judged: pd.DataFrame) -> dict[str, str]:
        """Return why systems have no score by it, by name; `judged`: the share of what they rank, systems × topics."""
        return withheld_for_unjudged(judged, self.first_passages) if self.needs_judged else {}


def parse_qrels_measure(name: str, *, threshold: float) -> QrelsMeasure:
    """Return the measure of this name, rel=η being the threshold. Raises UnknownMeasure."""
    found = parse_measure(name)
    if not isinstance(found, QrelsMeasure):
        raise UnknownMeasure(f"“{name}” is not computed on qrels.")
    return found.at(threshold)


@dataclass(frozen=True)
class Ranked:
    """A ranking down to the cutoff, on a topic whose labels leave some passages free to have any grade.

    - `grades`: of each place, 0 without a label; `free`: whether the passage may have any grade to `highest`;
    - `known`: the grades of all labels of the topic; `n_elsewhere`: how many of the free are not in this ranking.
    """

    grades: IntArray
    free: BoolArray
    known: IntArray
    n_elsewhere: int
    highest: int

    @property
    def highest_grades(self) -> IntArray:
        """The grades, if all that is free had the highest."""
        return np.where(self.free, self.highest, self.grades)

    def relevant_from(self, grade: int) -> tuple[BoolArray, BoolArray, int, int]:
        """Return by place what is relevant and what may be, and how many of the topic are, or may be elsewhere."""
        free = self.free & (self.highest >= grade)
        n_elsewhere = self.n_elsewhere if self.highest >= grade else 0
        return self.grades >= grade, free, int((self.known >= grade).sum()), n_elsewhere


@dataclass(frozen=True)
class QrelsBoard:
    """Scores and judged@k, systems × topics, NaN where undefined.

    - `reasons`: why scores are undefined, and how many are for that reason; `withheld`: why systems have none;
    - `n_unjudged` of `n_ranked`: passages down to the cutoff without a label, of all systems together;
    - `estimated`: whether scores are estimates from a drawn sample.
    """

    table: pd.DataFrame
    judged: pd.DataFrame
    reasons: Mapping[str, int]
    n_unjudged: int
    n_ranked: int
    withheld: Mapping[str, str]
    estimated: bool = False


def score_qrels(
    measure: QrelsMeasure,
    tables: Mapping[str, GradeTable],
    rankings: Rankings,
    *,
    oracle: Oracle | None = None,
    draw: LabelDraw | None = None,
) -> QrelsBoard:
    """Score every system on every topic of one source's grades. Raises UnknownMeasure.

    `draw` says how the labels were drawn, where they are a sample.
    """
    import pandas as pd

    cutoffs = {topic: oracle.size(topic) if measure.at_oracle and oracle else measure.cutoff for topic in tables}
    labels = _labels(measure, tables, rankings, cutoffs)
    looks_to = {topic: cutoffs[topic] if measure.at_oracle else measure.looks_to for topic in tables}
    judged = _judged(tables, labels, rankings, looks_to)
    if draw is not None and not (measure.estimable and (judged.isna() | (judged == 1)).to_numpy().all()):
        counts = _count_unjudged(tables, labels, rankings, cutoffs)
        return _estimated(measure, labels, rankings, cutoffs, draw, judged, counts)
    reasons = Counter({NOT_JUDGED: sum(not found for found in labels.values()) * len(rankings)})
    scored = {topic: found for topic, found in labels.items() if found}
    if measure.at_oracle:
        reasons[NO_CONTEXT] = sum(not cutoffs[topic] for topic in scored) * len(rankings)
        scored = {topic: found for topic, found in scored.items() if cutoffs[topic]}
    by_size = [
        measure.scores(of_these, rankings, cutoffs[next(iter(of_these))]) for of_these in _by_size(scored, cutoffs)
    ]
    table = pd.DataFrame(np.nan, index=list(rankings), columns=list(labels))
    if by_size:
        table = pd.concat(by_size, axis=1).reindex(index=table.index, columns=table.columns)
    if not scored:
        measure.refuse_unless_computable()
    n_unjudged, n_ranked = _count_unjudged(tables, scored, rankings, cutoffs)
    return QrelsBoard(
        table, judged, {why: n for why, n in reasons.items() if n}, n_unjudged, n_ranked, measure.withheld(judged)
    )


def _labels(
    measure: QrelsMeasure, tables: Mapping[str, GradeTable], rankings: Rankings, cutoffs: Mapping[str, int | None]
) -> Labels:
    """Return the labels by topic, with what is ranked and not an item, where that is declared irrelevant.

    To other measures it is irrelevant anyway, and many topics rank very many passages.
    """
    labels = {topic: qrels_from_grades(table) for topic, table in tables.items()}
    if not measure.sees_unjudged:
        return labels
    for topic, table in tables.items():
        if labels[topic] and not np.isnan(table.unnamed):
            ranked = {docno for found in rankings.values() for docno in found.get(topic, ())[: cutoffs[topic]]}
            labels[topic] |= dict.fromkeys(ranked - table.n_there.keys(), int(table.unnamed))
    return labels


def _judged(
    tables: Mapping[str, GradeTable], labels: Labels, rankings: Rankings, looks_to: Mapping[str, int | None]
) -> pd.DataFrame:
    """Return the share of the grades of each system's first passages that are there; NaN for topics without labels."""
    import pandas as pd

    shares = {
        system: [
            judged_share(table, found.get(topic, ())[: looks_to[topic] or DEPTH]) if labels[topic] else np.nan
            for topic, table in tables.items()
        ]
        for system, found in rankings.items()
    }
    return pd.DataFrame.from_dict(shares, orient="index", columns=list(tables), dtype=np.float64)


def _by_size(labels: Labels, cutoffs: Mapping[str, int | None]) -> Iterator[Labels]:
    """Yield the topics of each cutoff, of which there are several where the oracle's context sets it."""
    for size in dict.fromkeys(cutoffs[topic] for topic in labels):
        yield {topic: found for topic, found in labels.items() if cutoffs[topic] == size}


def discount(place: int) -> float:
    """Return the discount of a place, from 0."""
    return 1 / math.log2(place + 2)


def _count_unjudged(
    tables: Mapping[str, GradeTable], labels: Labels, rankings: Rankings, cutoffs: Mapping[str, int | None]
) -> tuple[int, int]:
    """Return how many passages down to the cutoff have no label, and how many there are, of all systems."""
    tops = [
        [tables[topic].n_known(docno) > 0 for docno in found.get(topic, ())[: cutoffs[topic]]]
        for found in rankings.values()
        for topic in labels
    ]
    return sum(top.count(False) for top in tops), sum(map(len, tops))


def _estimated(
    measure: QrelsMeasure,
    labels: Labels,
    rankings: Rankings,
    cutoffs: Mapping[str, int | None],
    draw: LabelDraw,
    judged: pd.DataFrame,
    counts: tuple[int, int],
) -> QrelsBoard:
    import pandas as pd

    n_unjudged, n_ranked = counts
    reason = draw.unusable
    if not measure.estimable:
        reason = f"cannot be estimated from {draw.in_words}; P@k and DCG@k can"
    if reason:
        none = pd.DataFrame(np.nan, index=list(rankings), columns=list(labels))
        return QrelsBoard(none, judged, {}, n_unjudged, n_ranked, dict.fromkeys(rankings, reason), estimated=True)
    sizes = {topic: size or 0 for topic, size in cutoffs.items()}
    gains: dict[str, dict[str, float]] = {
        topic: dict(zip(found, measure.gains(np.array([*found.values()], dtype=np.float64)) / of, strict=True))
        for topic, found in labels.items()
        if (of := measure.divisor(sizes[topic]))
    }
    discounts = measure.weights(max(sizes.values(), default=0))
    found = estimate_sums(gains, draw, rankings, cutoffs=sizes, discounts=discounts)
    return QrelsBoard(found.table, found.judged, {}, n_unjudged, n_ranked, found.withheld, estimated=True)
