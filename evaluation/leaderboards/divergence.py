"""Which systems two measures, or two sources of judgments, place most differently.

The question of Farzi and Dietz's RUBRIC at TREC RAG (section 7, systems with divergent results), asked of any two
measures, and of ranks, since two measures need not share a unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from collection.models import Study
from collection.rankings import Order
from collection.splits import AskedPart
from collection.web.tables import Column, Table
from evaluation.data.visibility import Visibility
from evaluation.leaderboards.scores import score
from evaluation.leaderboards.sources import JudgmentLoader, Scorer, Source
from stats.plurals import counted
from stats.ranking.common_topics import on_common_topics
from stats.ranking.leaderboard import Divergence, divergent_systems
from stats.ranking.measure_names import NoLeaderboard, SystemMeasure, parse_measure
from stats.ranking.scoring import ScoreTable
from stats.ranking.written_reports import WrittenReports

if TYPE_CHECKING:
    import pandas as pd

SEPARATOR = " · "
Asked = tuple[SystemMeasure, Source]


@dataclass(frozen=True)
class NamedScores:
    """A measure by a source's judgments; `number` is what a matrix calls it, 0 outside of one."""

    number: int
    measure: SystemMeasure
    source: Source
    scored: ScoreTable

    @property
    def key(self) -> str:
        """What it is asked for by: "measure · source"."""
        return board_key(self.measure, self.source)

    @property
    def table(self) -> pd.DataFrame:
        """The scores whose order may be compared."""
        return self.scored.rankable

    @property
    def reason(self) -> str:
        """Why there is no order to compare; empty where there is one."""
        if self.scored.estimated:
            return f"{self.key}: estimates from a drawn sample are not ranked."
        none = not self.table.notna().to_numpy().any()
        reasons = {**self.scored.few, **self.scored.withheld}
        why = next(iter(reasons.values()), "the measure is undefined for every topic")
        return f"{self.key}: {why}." if none else ""


DIVERGENT = (
    *(
        Column("system", "System"),
        Column("reference"),
        Column("mean", "Mean", "number"),
        Column("rank", "Rank", "grade"),
    ),
    *(Column("other"), Column("mean_by_other", "Mean by the other", "number")),
    *(Column("rank_by_other", "Rank by the other", "grade"), Column("places", "Places", "grade")),
)


@dataclass(frozen=True)
class MeasureDivergence:
    """The systems that both score, the most divergent first, on the `topics` that both score for all of them.

    `means` has both means of each system; without an order to compare there is a `reason` and no system.
    """

    study: Study
    visibility: Visibility
    order: Order
    one: NamedScores
    other: NamedScores
    topics: tuple[str, ...]
    systems: tuple[Divergence, ...]
    means: dict[str, tuple[float, float]]
    reason: str
    note: str = ""

    most_shown: ClassVar[int] = 10

    @property
    def answer(self) -> str:
        """Over how many systems and topics, or why there is no order to compare."""
        over = f"{counted(len(self.systems), 'systems')} on {counted(len(self.topics), 'topics')}"
        return self.reason or f"{over}; rank 1 has the highest mean. {self.note}".rstrip()

    def tables(self) -> dict[str, Table]:
        return {"divergent": self.table()}

    def table(self) -> Table:
        rows = [
            (one.system, self.one.key, mean, one.rank, self.other.key, mean_by_other, one.rank_by_other, one.places)
            for one in self.systems
            for mean, mean_by_other in [self.means[one.system]]
        ]
        note = (
            f"Systems that {self.one.key} and {self.other.key} rank most differently, of {len(self.systems)} on the "
            f"{counted(len(self.topics), 'topics')} that both score. Rank 1 has the highest mean. {self.note}"
        )
        return Table.of("Divergent systems", DIVERGENT, rows, note=note.rstrip())

    def as_dict(self) -> dict[str, Any]:
        """Return everything, as API and command have it."""
        return {
            "study": self.study.name,
            **self.visibility.as_dict(),
            "order": self.order,
            "measure": self.one.measure.name,
            "source": self.one.source.name,
            "other_measure": self.other.measure.name,
            "other_source": self.other.source.name,
            "n_topics": len(self.topics),
            "systems": [
                {
                    "system": one.system,
                    "mean": self.means[one.system][0],
                    "rank": one.rank,
                    "mean_by_other": self.means[one.system][1],
                    "rank_by_other": one.rank_by_other,
                    "places": one.places,
                }
                for one in self.systems
            ],
            **({"reason": self.reason} if self.reason else {}),
            **({"note": self.note} if self.note else {}),
        }


def chosen_pair(
    loader: JudgmentLoader, measure: str, other: str = "", *, source: str = "", other_source: str = ""
) -> tuple[Asked, Asked]:
    """Return the two measures with their sources. Raises NoLeaderboard.

    `other` is the same measure if left out; `source` the first there is; `other_source` the same source if it judged
    what the other measure needs, else the first that did.
    """
    first = parse_measure(measure)
    second = parse_measure(other) if other else first
    one = source_of(loader, first, source)
    two = source_of(loader, second, other_source, like=one)
    if first == second and one.name == two.name:
        raise NoLeaderboard("Both measures and sources are the same: choose another measure or source.")
    return (first, one), (second, two)


def compare_places(scorer: Scorer, one: Asked, other: Asked, *, part: AskedPart = "development") -> MeasureDivergence:
    """Compare where the two place the systems, as far as both sources may be seen. Raises as `visibility_of` does."""
    seen = scorer.seen([one[1], other[1]], part=part, named=True)
    scored = (NamedScores(0, of, by, score(seen, of, by).scored) for of, by in (one, other))
    return place_systems(seen, *scored)


def place_systems(scorer: Scorer, one: NamedScores, other: NamedScores) -> MeasureDivergence:
    """Return where the two place the systems, on the topics that both score."""
    compared = on_common_topics({one.key: one.table, other.key: other.table})
    written = written_reports(scorer, (one, other))
    tables = written.pair(compared, one.key, other.key)
    reason = one.reason or other.reason
    means = [
        {} if reason else {str(system): of.scored.within.held(mean) for system, mean in table.mean(axis=1).items()}
        for of, table in zip((one, other), tables, strict=True)
    ]
    systems = divergent_systems(*means)
    if not reason and not systems:
        reason = f"{one.key} and {other.key} have no topic on which both score a system."
    return MeasureDivergence(
        study=scorer.study,
        visibility=scorer.visibility,
        order=scorer.order,
        one=one,
        other=other,
        topics=() if reason else tuple(map(str, tables[0].columns)),
        systems=tuple(systems),
        means={found.system: (means[0][found.system], means[1][found.system]) for found in systems},
        reason=reason,
        note=written.note(compared),
    )


def written_reports(scorer: Scorer, boards: Iterable[NamedScores]) -> WrittenReports:
    """Return what joins contexts and the reports written from them on these boards."""
    rankings = frozenset(board.key for board in boards if board.measure.of_rankings)
    return WrittenReports(scorer.contexts, rankings)


def named_board(
    scorer: Scorer, key: str, among: Sequence[NamedScores], parse: Callable[[str], SystemMeasure]
) -> NamedScores:
    """Return the board with this key, scored unless it is `among` these. Raises NoLeaderboard."""
    if found := next((board for board in among if board.key == key), None):
        return found
    if SEPARATOR not in key:
        raise NoLeaderboard(f"There is no “{key}”. Choose one of: {'; '.join(board.key for board in among)}.")
    measure, source = asked_of(scorer.loader, key, parse)
    return NamedScores(0, measure, source, score(scorer, measure, source).scored)


def asked_of(loader: JudgmentLoader, key: str, parse: Callable[[str], SystemMeasure] = parse_measure) -> Asked:
    """Return what a board's key asks for; a measure alone is by its first source. Raises NoLeaderboard."""
    measure = parse(measure_of(key))
    return measure, source_of(loader, measure, key.partition(SEPARATOR)[2])


def board_key(measure: SystemMeasure, source: Source) -> str:
    """Return what a measure by a source's judgments is asked for by."""
    return f"{measure.name}{SEPARATOR}{source.name}"


def choices_of(loader: JudgmentLoader, measures: Iterable[SystemMeasure]) -> Iterator[tuple[str, str]]:
    """Yield the keys of all boards of these measures, each with the words that a list to choose from shows."""
    for measure in dict.fromkeys(measures):
        for source in loader.sources(measure):
            key = board_key(measure, source)
            yield key, source.completeness.after(key)


def measure_of(key: str) -> str:
    """Return the measure's name in a board's key."""
    return key.partition(SEPARATOR)[0]


def source_of(loader: JudgmentLoader, measure: SystemMeasure, name: str = "", *, like: Source | None = None) -> Source:
    """Return the source of this name; without one the same as `like`, else the first. Raises NoLeaderboard."""
    found = loader.wanted(measure, [name] if name else [])
    if not found:
        raise NoLeaderboard(f"There are no judgments for {measure.name}.")
    same = (one for one in found if like and one.raters == like.raters and one.kind == like.kind)
    return next(same, found[0])
