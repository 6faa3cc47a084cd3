"""Score tables of measures on qrels that are made of one source's grades: a passage's label is its highest grade.

ir-measures computes them, but for DCG@k, which it lacks. Where the labels are a drawn sample P@k and DCG@k are
estimated, and no other measure is given.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stats.measures.grades import GradeTable
from stats.measures.rubric import qrels_from_grades
from stats.measures.trec import evaluator, parsed_measure, run_of, system_scores
from stats.ranking.oracle_contexts import Oracle
from stats.ranking.sampled_labels import LabelDraw, Rankings, estimate_sums
from stats.ranking.unjudged import DEPTH, OF_ALL_RELEVANT, judged_share, withheld_for_unjudged

if TYPE_CHECKING:
    import pandas as pd

AT_ORACLE = "@oracle"
DCG = re.compile(r"DCG@([1-9]\d*|oracle)")
# Measures whose gains are grades, less down the ranking.
DISCOUNTED = frozenset({"DCG"})
# Measures by which what is unjudged is something else than what is irrelevant, beside those with `judged_only`.
WITH_UNJUDGED = frozenset({"Judged", "Bpref", "infAP"})
NOT_JUDGED = "the source has no judgments of the topic"
NO_CONTEXT = "the oracle ranks no passage for the topic"

Labels = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class QrelsMeasure:
    """A measure on qrels, with a source's threshold in the place of η.

    - `cutoff`: None for one that reads the whole ranking, or is cut at the size of the oracle's context (`at_oracle`);
    - `relevant`: the grade from which a passage is relevant to it; None where gains are the grades themselves;
    - `shown`: its name with that grade: “P(rel≥2)@10”.
    """

    name: str
    family: str
    cutoff: int | None
    at_oracle: bool
    relevant: int | None
    shown: str

    @property
    def estimable(self) -> bool:
        """Whether it can be estimated from a drawn sample: a sum over the first passages."""
        return self.family in ("P", "DCG") and "judged_only" not in self.name and (bool(self.cutoff) or self.at_oracle)

    @property
    def looks_to(self) -> int:
        """How far down judged@k looks."""
        return min(self.cutoff or DEPTH, DEPTH) if self.family in OF_ALL_RELEVANT else self.cutoff or DEPTH

    @property
    def first_passages(self) -> str:
        """What of a ranking its judged@k is about."""
        return f"its first {'|Z*|' if self.at_oracle else self.looks_to} passages are"

    def cut_at(self, size: int) -> str:
        """Return its name with this cutoff in place of the oracle's."""
        return f"{self.name.removesuffix(AT_ORACLE)}@{size}" if self.at_oracle else self.name


def parse_qrels_measure(name: str, *, threshold: float) -> QrelsMeasure:
    """Return the measure of this name, rel=η being the threshold. Raises UnknownMeasure."""
    # Labels are whole numbers: they reach a threshold between two of them as they reach the next.
    name, at_oracle = name.replace("η", f"{math.ceil(threshold)}"), name.endswith(AT_ORACLE)
    if found := DCG.fullmatch(name):
        return QrelsMeasure(name, "DCG", None if at_oracle else int(found[1]), at_oracle, None, name)
    parsed = parsed_measure(f"{name.removesuffix(AT_ORACLE)}@1" if at_oracle else name)
    asked = dict(parsed.params)
    cutoff = asked.pop("cutoff", None)
    supported = parsed.SUPPORTED_PARAMS.get("rel")
    relevant = asked.pop("rel", supported.default if supported else None)
    relevant = relevant if isinstance(relevant, int) else None
    inside = [f"rel≥{relevant}"] if relevant is not None else []
    inside += [f"{key}={value}" for key, value in asked.items()]
    cut = AT_ORACLE if at_oracle else f"@{cutoff}" if cutoff is not None else ""
    shown = f"{parsed.NAME}({', '.join(inside)}){cut}" if inside else f"{parsed.NAME}{cut}"
    return QrelsMeasure(name, parsed.NAME, None if at_oracle else cutoff, at_oracle, relevant, shown)


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
        label_scores(measure, cutoffs[next(iter(of_these))], of_these, rankings)
        for of_these in _by_size(scored, cutoffs)
    ]
    table = pd.DataFrame(np.nan, index=list(rankings), columns=list(labels))
    if by_size:
        table = pd.concat(by_size, axis=1).reindex(index=table.index, columns=table.columns)
    if not scored and measure.family != "DCG":
        evaluator(measure.cut_at(1), {"topic": {"passage": 0}})  # refuses what it cannot compute
    withheld = {} if measure.family == "Judged" else withheld_for_unjudged(judged, measure.first_passages)
    n_unjudged, n_ranked = _count_unjudged(tables, scored, rankings, cutoffs)
    return QrelsBoard(table, judged, {why: n for why, n in reasons.items() if n}, n_unjudged, n_ranked, withheld)


def _labels(
    measure: QrelsMeasure, tables: Mapping[str, GradeTable], rankings: Rankings, cutoffs: Mapping[str, int | None]
) -> Labels:
    """Return the labels by topic, with what is ranked and not an item, where that is declared irrelevant.

    To other measures it is irrelevant anyway, and many topics rank very many passages.
    """
    labels = {topic: qrels_from_grades(table) for topic, table in tables.items()}
    if measure.family not in WITH_UNJUDGED and "judged_only" not in measure.name:
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


def label_scores(measure: QrelsMeasure, size: int | None, labels: Labels, rankings: Rankings) -> pd.DataFrame:
    """Return the scores on labels as they are, systems × topics; `size` cuts a measure that is cut at the oracle's."""
    import pandas as pd

    if measure.family == "DCG":
        return pd.DataFrame.from_dict(
            {
                system: [_dcg(list(found.get(topic, ()))[:size], grades) for topic, grades in labels.items()]
                for system, found in rankings.items()
            },
            orient="index",
            columns=list(labels),
        )
    runs = {system: {topic: run_of(ranking) for topic, ranking in found.items()} for system, found in rankings.items()}
    return system_scores(measure.cut_at(size or 1), labels, runs)


def _dcg(top: Sequence[str], grades: Mapping[str, int]) -> float:
    """Return the sum of grades over log2(place + 1), as in the numerator of trec_eval's nDCG."""
    return math.fsum(max(grades.get(docno, 0), 0) * discount(place) for place, docno in enumerate(top))


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
    if measure.family == "DCG":
        gains: dict[str, dict[str, float]] = {
            topic: {docno: max(grade, 0) for docno, grade in found.items()} for topic, found in labels.items()
        }
        discounts = [discount(place) for place in range(max(sizes.values(), default=0))]
    else:
        gains = {
            topic: {docno: (grade >= (measure.relevant or 1)) / sizes[topic] for docno, grade in found.items()}
            for topic, found in labels.items()
            if sizes[topic]
        }
        discounts = [1.0] * max(sizes.values(), default=0)
    found = estimate_sums(gains, draw, rankings, cutoffs=sizes, discounts=discounts)
    return QrelsBoard(found.table, found.judged, {}, n_unjudged, n_ranked, found.withheld, estimated=True)
