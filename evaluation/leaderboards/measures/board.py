"""Several measures of the same systems side by side: a table with a column for each measure by a source's judgments.

The scorer of RUBRIC at TREC RAG (Farzi and Dietz 2024, Figures 2 and 3) and of CRUX (Ju et al. 2025, Table 1), of any
measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from collection.models import Run, Study
from collection.rankings import Order
from collection.splits import AskedPart
from evaluation.data.confidence import Confidence
from evaluation.data.visibility import Visibility
from evaluation.leaderboards.available_measures import measures_of
from evaluation.leaderboards.columns import Column, Standings
from evaluation.leaderboards.divergence import Asked, asked_of, board_key, choices_of, source_of
from evaluation.leaderboards.leaderboard import compare_on_topics
from evaluation.leaderboards.scores import score
from evaluation.leaderboards.sources import Scorer, SourceScores
from stats.measures.rubric import LeaderboardMarks, leaderboard_marks
from stats.ranking.common_topics import TopicChoice
from stats.ranking.leaderboard import Standing
from stats.ranking.measure_names import NoLeaderboard, SystemMeasure
from stats.ranking.written_reports import joined_in_words, joined_rows
from stats.rounding import rounded

AT_FIRST = 9
SET_APART = "set apart, so that it is not ranked"
FAMILY = "family"
# A longer value tells runs apart, it does not group them.
LONGEST = 60


@dataclass(frozen=True)
class Spread:
    """How a measure spreads over a group of systems, and which of them are best and worst by it: runs, once each.

    Nothing is best or worst where all are alike, and by a measure of which neither more nor less is better.
    """

    marks: LeaderboardMarks
    best: frozenset[str]
    worst: frozenset[str]
    above: dict[int, frozenset[str]]

    def mark(self, system: str) -> str:
        return "best" if system in self.best else "worst" if system in self.worst else ""

    def percentile(self, system: str) -> int | None:
        """Return which marked percentile the system is above, the higher of two."""
        return next((mark for mark in (85, 75) if system in self.above[mark]), None)


@dataclass(frozen=True)
class MeasureColumn:
    """One measure by one source: the systems that are compared, and those `aside`, on the same topics.

    `rows`, of a measure of rankings: the rows of the board, each with the run whose ranking is measured in it.
    """

    measure: SystemMeasure
    column: Column
    aside: Standings
    rows: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What it is asked for, and sorted, by: "measure · source"."""
        return board_key(self.measure, self.column.board.source)

    def rows_of(self, run: str) -> list[str]:
        """Return the rows in which the run stands: several where several runs of reports were written from it."""
        return [row for row, named in self.rows.items() if named == run] or [run]

    def named(self, row: str) -> str:
        """Return the run that is measured in the row."""
        return self.rows.get(row, row)

    def standing(self, system: str) -> Standing | None:
        run = self.named(system)
        return self.column.by_system.get(run) or self.aside.by_system.get(run)

    def why_not(self, system: str) -> str:
        run = self.named(system)
        return (self.aside if run in self.aside.by_system else self.column).why_not(run)

    def fewer_topics(self, system: str) -> bool:
        """Whether the system has a mean over fewer topics than the column says."""
        run = self.named(system)
        return (self.aside if run in self.aside.by_system else self.column).fewer_topics(run)

    def spread(self, systems: Sequence[str]) -> Spread | None:
        """Return how the measure spreads over those of the systems that have a rank; None without any."""
        runs = set(map(self.named, systems))
        means = {run: mean for run, mean in self.column.means.items() if run in runs}
        marks = leaderboard_marks(means)
        if marks is None:
            return None
        values = {system: float(rounded(mean)) for system, mean in means.items()}
        ends = max(values.values()), min(values.values())
        direction = self.measure.direction
        best, worst = (frozenset(system for system, value in values.items() if value == end) for end in ends)
        if direction == "less":
            best, worst = worst, best
        if ends[0] == ends[1] or not direction:
            best = worst = frozenset()
        above = {mark: frozenset(marks.above(means, percentile=mark)) for mark in (75, 85)}
        return Spread(marks, best, worst, above)


@dataclass(frozen=True)
class MeasureCell:
    """A system by a measure: `mark` says best or worst of its group, `percentile` above which of 75 and 85 it is."""

    standing: Standing | None
    mark: str
    percentile: int | None
    circular: bool
    why_not: str
    fewer_topics: bool


@dataclass(frozen=True)
class MeasureRow:
    system: str
    cells: tuple[MeasureCell, ...]


@dataclass(frozen=True)
class Group:
    """Systems of one kind, or those set apart, which have no spread. `name` is empty where there are no kinds."""

    name: str
    rows: tuple[MeasureRow, ...]
    spreads: tuple[Spread | None, ...]
    apart: bool = False


@dataclass(frozen=True)
class MeasuresBoard:
    """Everything that the page, its files, the command and the API show.

    `kinds`: the kind of each system, where they are grouped `by` one. `choices`: keys of all columns that the study's
    judgments offer, with the words that a list to choose from shows.
    """

    study: Study
    visibility: Visibility
    order: Order
    oracle: str | None
    by: str
    kinds: dict[str, str]
    apart: tuple[str, ...]
    columns: tuple[MeasureColumn, ...]
    choices: tuple[tuple[str, str], ...]
    groupings: tuple[str, ...]
    confidence: Confidence | None = None
    sort: str = ""

    @property
    def answer(self) -> str:
        """Nothing: what each measure says, its own leaderboard does."""
        return ""

    @property
    def simulated(self) -> bool:
        return any(one.column.board.source.simulated for one in self.columns)

    @property
    def keys(self) -> list[str]:
        return [one.key for one in self.columns]

    @property
    def systems(self) -> list[str]:
        """The systems that are compared, by name."""
        return sorted({row for one in self.columns for run in one.column.by_system for row in one.rows_of(run)})

    @property
    def note(self) -> str:
        """Which rows are of a context and the reports written from it; empty where none is."""
        return joined_in_words({row: run for one in self.columns for row, run in one.rows.items()})

    @property
    def n_topics(self) -> list[int]:
        """Over how many topics means are: one number where all columns are alike."""
        return sorted({one.column.n_topics for one in self.columns})

    def groups(self) -> list[Group]:
        """Return the systems, kind by kind, sorted by a column, best first, or by "system"; those set apart are last.

        A minus in front of `sort` turns the order round; a system without a rank by that column stands last all the
        same.
        """
        kinds = sorted(set(self.kinds.values())) if self.by else [""]
        found = []
        for kind in kinds:
            systems = [one for one in self.systems if not self.by or self.kinds.get(one, "") == kind]
            if systems:
                spreads = tuple(one.spread(systems) for one in self.columns)
                rows = tuple(self._row(system, spreads) for system in self._sorted(systems))
                found.append(Group(kind or ("other" if self.by else ""), rows, spreads))
        there = {row for of in self.columns for run in of.aside.by_system for row in of.rows_of(run)}
        aside = [one for one in self.apart if one in there]
        if aside:
            none = (None,) * len(self.columns)
            rows = tuple(self._row(system, none) for system in aside)
            found.append(Group("Set apart", rows, none, apart=True))
        return found

    def _sorted(self, systems: list[str]) -> list[str]:
        sort = self.sort
        name = sort.removeprefix("-")
        if name == "system" or not self.columns:
            return systems[::-1] if sort.startswith("-") else systems
        column = next((one for one in self.columns if one.key == name), self.columns[0])
        by_run = column.column.means
        means = {one: by_run[run] for one in systems if (run := column.named(one)) in by_run}
        sign = -1 if (column.measure.direction != "less") != sort.startswith("-") else 1
        placed = sorted((one for one in systems if one in means), key=lambda one: sign * float(rounded(means[one])))
        return [*placed, *(one for one in systems if one not in means)]

    def _row(self, system: str, spreads: Sequence[Spread | None]) -> MeasureRow:
        return MeasureRow(
            system,
            tuple(
                MeasureCell(
                    standing=one.standing(system),
                    mark=spread.mark(one.named(system)) if spread else "",
                    percentile=spread.percentile(one.named(system)) if spread else None,
                    circular=one.named(system) in one.column.board.circular,
                    why_not=one.why_not(system),
                    fewer_topics=one.fewer_topics(system),
                )
                for one, spread in zip(self.columns, spreads, strict=True)
            ),
        )


def measure_board(
    scorer: Scorer,
    columns: Sequence[str] = (),
    *,
    apart: Sequence[str] = (),
    by: str = "",
    topics: TopicChoice = "common",
    part: AskedPart = "development",
    offered: Sequence[SystemMeasure] | None = None,
) -> MeasuresBoard:
    """Return the board of these columns, each "measure · source" or a measure alone, which is by its first source.

    Without columns, of the first measures that are `offered`, those that the study's judgments allow. `apart`: runs
    that stand below the others without a rank, bounds say; without any it is the oracle. `by`: an attribute of runs or
    systems that groups them. All columns of one measure are compared on their common topics; another measure may have
    others. Raises NoLeaderboard, and as `visibility_of` does.
    """
    offered = measures_of(scorer.study) if offered is None else offered
    usual = ((measure, source_of(scorer.loader, measure)) for measure in offered[:AT_FIRST])
    asked = list(dict.fromkeys((asked_of(scorer.loader, key) for key in columns) if columns else usual))
    if not asked:
        raise NoLeaderboard("There are no judgments to score systems by.")
    scorer = scorer.seen([source for _, source in asked], part=part, named=bool(columns))
    set_apart = scorer.runs_apart(apart or ([scorer.oracle] if scorer.oracle else []))
    kinds, groupings = _kinds(scorer, by)
    columns_of = _columns(scorer, [one for one in asked if scorer.loader.shows(one[1])], set_apart, topics)
    found = _joined(scorer.contexts, list(columns_of))
    return MeasuresBoard(
        study=scorer.study,
        visibility=scorer.visibility,
        order=scorer.order,
        oracle=scorer.oracle,
        by=by,
        kinds=kinds,
        apart=set_apart,
        columns=tuple(found),
        choices=tuple(choices_of(scorer.loader, [*offered, *(measure for measure, _ in asked)])),
        groupings=groupings,
        confidence=scorer.loader.confidence if any(measure.of_answers for measure, _ in asked) else None,
    )


def _columns(
    scorer: Scorer, asked: Sequence[Asked], apart: Sequence[str], topics: TopicChoice
) -> Iterator[MeasureColumn]:
    """Yield the columns as they were asked for; those of one measure share their topics."""
    scored = {one: score(scorer, *one) for one in asked}
    compared: dict[Asked, Column] = {}
    for measure in dict.fromkeys(measure for measure, _ in asked):
        mine = [one for one in asked if one[0] == measure]
        without = [SourceScores(one[1], scored[one].scored.without(apart), scored[one].circular) for one in mine]
        compared |= zip(mine, compare_on_topics(without, topics)[0], strict=True)
    for one in asked:
        column = compared[one]
        aside = Standings(scored=scored[one].scored.only(apart), topics=column.topics, unordered=SET_APART)
        yield MeasureColumn(one[0], column, aside)


def _joined(contexts: Mapping[str, str], columns: Sequence[MeasureColumn]) -> list[MeasureColumn]:
    """Return the columns with contexts in the rows of the reports that were written from them."""
    if not contexts:
        return list(columns)

    def runs(part: str, *, rankings: bool) -> list[str]:
        found = (getattr(one, part).by_system for one in columns if one.measure.of_rankings == rankings)
        return list(dict.fromkeys(run for of in found for run in of))

    rows: dict[str, str] = {}
    for part in ("column", "aside"):
        rows |= joined_rows(contexts, runs(part, rankings=True), runs(part, rankings=False))
    return [replace(one, rows=rows) if one.measure.of_rankings else one for one in columns]


def _kinds(scorer: Scorer, by: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the kind of each run, and by which attributes runs can be grouped. Raises NoLeaderboard."""
    of_runs: dict[str, dict[str, Any]] = {run.name: _attributes(run) for run in scorer.runs.values()}
    of_runs |= {run: {**of_runs[context], **of_runs[run]} for run, context in scorer.contexts.items()}
    names = sorted({name for of_run in of_runs.values() for name in of_run})
    offered = tuple(name for name in names if len({str(of_run.get(name, "")) for of_run in of_runs.values()}) > 1)
    if by and by not in offered:
        raise NoLeaderboard(f"Runs cannot be grouped by “{by}”. Choose one of: {', '.join(offered) or 'nothing'}.")
    return ({name: str(of_run.get(by, "")) for name, of_run in of_runs.items()} if by else {}), offered


def _attributes(run: Run) -> dict[str, Any]:
    """Return what may group a run: short values of its own, and of its system's, attributes, and its family."""
    family = {FAMILY: run.system.family} if run.system.family else {}
    found = {**family, **run.system.attributes, **run.attributes}
    return {name: value for name, value in found.items() if isinstance(value, str | int) and len(str(value)) < LONGEST}
