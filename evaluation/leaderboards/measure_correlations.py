"""Whether measures put a study's systems in the same order: one with another, by threshold, by size of k.

The questions of CRUX's Figure 5, Table 2 and Table 3, asked of any measure and any source of judgments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from collection.models import Rater, Study
from collection.rankings import ORDERS, Order
from collection.splits import AskedPart
from collection.web.tables import BOUNDS, Column, Table
from evaluation.data.visibility import Visibility
from evaluation.leaderboards.divergence import (
    MeasureDivergence,
    NamedScores,
    asked_of,
    choices_of,
    measure_of,
    named_board,
    place_systems,
    written_reports,
)
from evaluation.leaderboards.scores import score
from evaluation.leaderboards.sources import Scorer, Source
from stats.answers_in_words import furthest_orders
from stats.pattern_intervals import Estimate, undefined
from stats.plurals import counted
from stats.ranking.common_topics import CommonTopics, common_topics, on_common_topics
from stats.ranking.leaderboard import measure_correlations
from stats.ranking.measure_names import SystemMeasure, parse_measure
from stats.ranking.rank_correlation import Correlation, bootstrap_over_topics

if TYPE_CHECKING:
    import pandas as pd

COEFFICIENTS: dict[Correlation, str] = {"kendall": "Kendall’s τ_b", "spearman": "Spearman’s ρ", "tau_ap": "τ_AP"}
CUTOFF = re.compile(r"@(\d+|oracle)")
LEVEL = re.compile(r"rel=[^,)]+")
SIZES = (1, 5, 10, 20, 50, 100)
MOST_BOARDS = 20
# Of more boards the matrix has no ranges: a thousand resamples of each pair take too long.
MOST_WITH_RANGES = 10


@dataclass(frozen=True)
class Variant:
    """A measure at another threshold or size, against the reference, which has the same threshold where it can.

    `setting` is the grade, or k, which is “oracle” where the size is that of the oracle's context, topic by topic.
    Means are over the systems and the topics that both score, of which there are `n_topics`; `sd` and `reference_sd`
    are standard deviations of the systems' means, with n − 1.
    """

    source: str
    setting: float | str
    measure: str
    mean: float | None
    reference: str
    reference_mean: float | None
    n_topics: int
    kendall: Estimate
    spearman: Estimate
    sd: float | None = None
    reference_sd: float | None = None


@dataclass(frozen=True)
class MeasureCorrelations:
    """The matrix, the chosen measure's variants, and where two boards place systems differently.

    `left_out`: boards beyond the most that are compared. `choices`: keys of all boards that may be a reference, or be
    compared with it, each with the words that a list to choose from shows.
    """

    study: Study
    visibility: Visibility
    order: Order
    apart: tuple[str, ...]
    boards: tuple[NamedScores, ...]
    choices: tuple[tuple[str, str], ...]
    common: CommonTopics
    left_out: int
    coefficient: Correlation
    matrix: dict[tuple[str, str], Estimate]
    reference: NamedScores | None
    varied: str
    by_threshold: tuple[Variant, ...]
    by_k: tuple[Variant, ...]
    divergence: MeasureDivergence | None
    n_systems: dict[tuple[str, str], int]
    note: str = ""

    @property
    def rows(self) -> list[tuple[NamedScores, list[Estimate | None]]]:
        """Return each board with its correlation with each, None with itself."""
        return [(one, [self.matrix.get((one.key, other.key)) for other in self.boards]) for one in self.boards]

    @property
    def has_coefficients(self) -> bool:
        """Whether any two boards have a coefficient that could be drawn."""
        return any(estimate.value is not None for estimate in self.matrix.values())

    @property
    def systems_in_words(self) -> str:
        """Over how many systems two boards are compared: one number where all pairs have as many."""
        least, most = min(self.n_systems.values(), default=0), max(self.n_systems.values(), default=0)
        return counted(most, "systems") if least == most else f"{least:,} to {counted(most, 'systems')}"

    @property
    def with_ranges(self) -> bool:
        return len(self.boards) <= MOST_WITH_RANGES

    @property
    def most_with_ranges(self) -> int:
        return MOST_WITH_RANGES

    @property
    def answer(self) -> str:
        """Which measures put the systems in the least alike order, in a sentence."""
        return furthest_orders(COEFFICIENTS[self.coefficient], self.matrix, len(self.common.topics))

    @property
    def order_in_words(self) -> str:
        """How the passages of a ranking stand."""
        return ORDERS[self.order]

    @property
    def simulated(self) -> bool:
        apart = (self.divergence.one, self.divergence.other) if self.divergence else ()
        return any(board.source.simulated for board in (*self.boards, *apart))

    def tables(self) -> dict[str, Table]:
        matrix = [
            (
                *(one.measure.name, one.source.name, other.measure.name, other.source.name, self.coefficient),
                found,
                self.n_systems.get((one.key, other.key), 0),
                n,
                found.reason,
            )
            for n in [len(self.common.topics)]
            for one in self.boards
            for other in self.boards
            if (found := self.matrix.get((one.key, other.key)))
        ]
        return {
            "matrix": Table.of("Matrix", MATRIX, matrix, note=self.note),
            "thresholds": self._variants("Thresholds", self.by_threshold),
            "sizes": self._variants("Values of k", self.by_k),
            **({"divergent": self.divergence.table()} if self.divergence else {}),
        }

    def _variants(self, title: str, variants: Sequence[Variant]) -> Table:
        note = f"Compared with the order by {self.reference.key if self.reference else 'the reference'}, at the same η "
        note += f"if it uses the same grades. Ranges contain 95 % of the values over resampled topics. {self.note}"
        return Table.of(title, VARIANTS, map(_variant_row, variants), note=note.rstrip())

    def as_dict(self) -> dict[str, Any]:
        """Return everything, as API and command have it."""
        return {
            "study": self.study.name,
            **self.visibility.as_dict(),
            "order": self.order,
            "coefficient": self.coefficient,
            "set_apart": list(self.apart),
            "n_topics": len(self.common.topics),
            "columns": [board.key for board in self.boards],
            "left_out": self.left_out,
            **({"note": self.note} if self.note else {}),
            "answer": self.answer,
            "simulated": self.simulated,
            **{name: table.file_dicts() for name, table in self.tables().items()},
        }


MATRIX = (
    *(Column("measure", "Measure"), Column("source", "By"), Column("other_measure", "Measure")),
    *(Column("other_source", "By"), Column("coefficient"), Column("value", "Value", "estimate", names=BOUNDS)),
    *(Column("systems", kind="count"), Column("topics", kind="count"), Column("reason")),
)
VARIANTS = (
    *(Column("source", "By"), Column("setting", "At"), Column("measure", "Measure"), Column("mean", "Mean", "number")),
    *(Column("sd", "Standard deviation", "number"), Column("reference", "Reference")),
    *(Column("reference_mean", "Its mean", "number"), Column("reference_sd", "Its standard deviation", "number")),
    Column("topics", "Topics", "count"),
    *(
        Column(name, COEFFICIENTS[name], "estimate", parts=(*BOUNDS, "reason"), brief=True)
        for name in ("kendall", "spearman")
    ),
)


def _variant_row(one: Variant) -> list[Any]:
    row: list[Any] = [one.source, one.setting, one.measure, one.mean, one.sd]
    return [*row, one.reference, one.reference_mean, one.reference_sd, one.n_topics, one.kendall, one.spearman]


def correlate_measures(
    scorer: Scorer,
    measures: Sequence[SystemMeasure],
    *,
    coefficient: Correlation = "kendall",
    reference: str = "",
    varied: str = "",
    other: str = "",
    also: Sequence[SystemMeasure] = (),
    columns: Sequence[str] = (),
    apart: Sequence[str] = (),
    part: AskedPart = "development",
) -> MeasureCorrelations:
    """Compare the measures by every source with one another, and variants of `varied` with the board `reference`.

    `columns` are keys of boards that are compared in their place; a measure alone is by its first source. Runs set
    `apart`, bounds say, are not among the systems. Up to ten boards are compared with ranges.

    `reference` is a board's key, "measure · source", which need not be among `measures`; the first board if left out.
    Where it and the board `other` place the systems stands beside; left out, that is the same source's next measure.
    `also`: measures that may be chosen for either beside those of the matrix. One judge among the sources is enough for
    all boards to be of the visible topics alone. Raises NoLeaderboard, and as `visibility_of` does.
    """
    known = {measure.name: measure for measure in (*measures, *also)}

    def parse(name: str) -> SystemMeasure:
        return known.get(name) or known.setdefault(name, parse_measure(name))

    named = map(parse, filter(None, (*map(measure_of, (*columns, reference, other)), varied)))
    asked = [*(() if columns else measures), *named]
    scorer = scorer.seen((source for measure in asked for source in scorer.loader.sources(measure)), part=part)
    scorer.apart = scorer.runs_apart(apart)
    boards = list(_columns(scorer, columns, parse) if columns else _named_boards(scorer, measures))
    kept = boards[:MOST_BOARDS]
    chosen = named_board(scorer, reference, kept, parse) if reference else None
    chosen = chosen or next((board for board in kept if board.source.kind == Rater.Kind.ASSESSOR), None)
    chosen = chosen or next(iter(kept), None)
    against = named_board(scorer, other, kept, parse) if other else _next_measure(kept, chosen)
    first = (one for one in measures if "@" in one.name or one.name == "coverage")
    measure = parse(varied) if varied else next(first, None)
    matrix, n_systems, note = _matrix(scorer, kept, coefficient)
    return MeasureCorrelations(
        study=scorer.study,
        visibility=scorer.visibility,
        order=scorer.order,
        apart=scorer.apart,
        boards=tuple(kept),
        choices=tuple(choices_of(scorer.loader, [*measures, *also])),
        left_out=len(boards) - len(kept),
        coefficient=coefficient,
        common=common_topics({board.key: board.table for board in kept}),
        matrix=matrix,
        n_systems=n_systems,
        note=note,
        reference=chosen,
        varied=measure.name if measure else "",
        by_threshold=tuple(_by_threshold(scorer, measure, chosen)) if measure and chosen else (),
        by_k=tuple(_by_k(scorer, measure, chosen)) if measure and chosen else (),
        divergence=place_systems(scorer, chosen, against) if chosen and against else None,
    )


def _next_measure(kept: Sequence[NamedScores], chosen: NamedScores | None) -> NamedScores | None:
    """Return another board, of the same source if there is one."""
    others = [board for board in kept if chosen and board.key != chosen.key]
    same = (board for board in others if chosen and board.source.raters == chosen.source.raters)
    return next(same, next(iter(others), None))


def _matrix(
    scorer: Scorer, kept: Sequence[NamedScores], coefficient: Correlation
) -> tuple[dict[tuple[str, str], Estimate], dict[tuple[str, str], int], str]:
    """Return the correlation of every two boards, for one without an order the reason, and over how many systems.

    Last comes which of the systems are a context and the reports written from it.
    """
    tables = on_common_topics({board.key: board.table for board in kept if not board.reason})
    written = written_reports(scorer, kept)
    pairs = {pair: written.pair(tables, *pair) for pair in permutations(tables, 2)}
    n_systems = {pair: len(one.index.intersection(other.index)) for pair, (one, other) in pairs.items()}
    if len(tables) > MOST_WITH_RANGES:
        found = measure_correlations(tables, correlation=coefficient, written=written)
    else:
        found = _with_ranges(pairs, coefficient)
    none = {
        (one.key, other.key): undefined(one.reason or other.reason)
        for one in kept
        for other in kept
        if one.key != other.key and (one.reason or other.reason)
    }
    return found | none, n_systems, written.note(tables)


def _with_ranges(
    pairs: Mapping[tuple[str, str], tuple[pd.DataFrame, pd.DataFrame]], coefficient: Correlation
) -> dict[tuple[str, str], Estimate]:
    """Return the correlation of every pair with its values over resampled topics; τ_AP's has a reference."""
    found: dict[tuple[str, str], Estimate] = {}
    for (one, other), tables in pairs.items():
        mirrored = None if coefficient == "tau_ap" else found.get((other, one))
        found[one, other] = mirrored or bootstrap_over_topics(*tables, correlation=coefficient)
    return found


def _columns(scorer: Scorer, keys: Sequence[str], parse: Callable[[str], SystemMeasure]) -> Iterator[NamedScores]:
    asked = dict.fromkeys(asked_of(scorer.loader, key, parse) for key in keys)
    for number, (measure, source) in enumerate(asked, start=1):
        yield NamedScores(number, measure, source, score(scorer, measure, source).scored)


def _named_boards(scorer: Scorer, measures: Sequence[SystemMeasure]) -> Iterator[NamedScores]:
    boards = ((measure, source) for measure in measures for source in scorer.loader.sources(measure))
    for number, (measure, source) in enumerate(boards, start=1):
        yield NamedScores(number, measure, source, score(scorer, measure, source).scored)


def _by_threshold(scorer: Scorer, measure: SystemMeasure, reference: NamedScores) -> Iterator[Variant]:
    """Yield the measure at each grade against the reference at the same grade, as CRUX's Table 2 compares them.

    A reference without a threshold, or on a scale with other grades, stays as it is.
    """
    for source in scorer.loader.sources(measure):
        values = [value for value in source.criterion.scale.values if value > min(source.criterion.scale.values)]
        alike = set(source.criterion.scale.values) == set(reference.source.criterion.scale.values)
        for value in values if len(values) > 1 else []:
            if there := _at_threshold(measure, value):
                moved = _at_threshold(reference.measure, value) if alike else None
                yield _variant(scorer, there, source, value, _moved(scorer, reference, moved))


def _moved(scorer: Scorer, reference: NamedScores, measure: SystemMeasure | None) -> NamedScores:
    """Return the reference under this measure; itself without one."""
    if measure is None or measure == reference.measure:
        return reference
    return replace(reference, measure=measure, scored=score(scorer, measure, reference.source).scored)


def _at_threshold(measure: SystemMeasure, value: float) -> SystemMeasure | None:
    """Return the measure with another threshold; None if it has none."""
    if measure.of_answers or (measure.of_qrels and not LEVEL.search(measure.name)):
        return None
    name = measure.name
    level = f"{name.split('>=')[0]}>={value:g}"
    return type(measure).parse(LEVEL.sub(f"rel={value:g}", name) if measure.of_qrels else level)


def _by_k(scorer: Scorer, measure: SystemMeasure, reference: NamedScores) -> Iterator[Variant]:
    """Yield the measure at several k, as CRUX's Table 3 has them: last at |Z*|, where there is an oracle."""
    if not CUTOFF.search(measure.name):
        return
    deepest = max((len(found) for topics in scorer.rankings.values() for found in topics.values()), default=0)
    sizes: list[float | str] = [k for k in SIZES if k <= deepest]
    sizes += ["oracle"] if scorer.oracle else []
    at = {k: type(measure).parse(CUTOFF.sub(f"@{k}", measure.name)) for k in sizes}
    for source in scorer.loader.sources(measure):
        for k, there in at.items():
            if there:
                yield _variant(scorer, there, source, k, reference)


def _variant(
    scorer: Scorer, measure: SystemMeasure, source: Source, setting: float | str, reference: NamedScores
) -> Variant:
    board = NamedScores(0, measure, source, score(scorer, measure, source).scored)
    if reason := board.reason or reference.reason:
        none = undefined(reason)
        return Variant(source.name, setting, measure.name, None, reference.measure.name, None, 0, none, none)
    tables = {board.key: board.table, reference.key: reference.table}
    ordered = written_reports(scorer, (board, reference)).pair(tables, reference.key, board.key)
    compared = on_common_topics({"board": board.table, "reference": reference.table})
    means = {
        name: float(table.to_numpy(dtype=np.float64).mean()) if table.size else None for name, table in compared.items()
    }
    deviations = {name: _deviation(table) for name, table in compared.items()}
    return Variant(
        source=source.name,
        setting=setting,
        measure=board.scored.shown,
        sd=deviations["board"],
        reference_sd=deviations["reference"],
        mean=means["board"],
        reference=f"{reference.scored.shown} · {reference.source.name}",
        reference_mean=means["reference"],
        n_topics=len(compared["board"].columns),
        kendall=bootstrap_over_topics(*ordered, correlation="kendall"),
        spearman=bootstrap_over_topics(*ordered, correlation="spearman"),
    )


def _deviation(table: pd.DataFrame) -> float | None:
    """Return the standard deviation of the systems' means; None of fewer than two."""
    return float(table.mean(axis=1).std(ddof=1)) if len(table) > 1 and table.size else None
