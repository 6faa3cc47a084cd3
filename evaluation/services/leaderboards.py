"""A study's leaderboard under one measure: every source of judgments side by side, and how far they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from django.db.models import Exists, OuterRef

from collection.models import Judgment, RankedPassage, Rater, Study
from collection.models.studies import TaskType
from evaluation.board_charts import ScorePoint
from evaluation.boards import BoardMeasure, BoardRefused
from evaluation.intervals import Estimate
from evaluation.leaderboards import (
    Divergence,
    Flip,
    PairedComparison,
    RankStability,
    Standing,
    compare_pairs,
    divergent_systems,
    flipped_pairs,
    leaderboard,
    rank_stability,
)
from evaluation.measures.rubric import LeaderboardMarks, leaderboard_marks
from evaluation.qrels import COMBINES
from evaluation.rank_correlation import bootstrap_over_topics
from evaluation.services.boards import GROUNDED, Combine, SourceBoard, StudyBoards
from evaluation.services.calibration import calibrate_population
from evaluation.services.populations import judge_choices, load_population
from evaluation.services.studies import load_criterion

TOP = 3
TOP_SYSTEMS = 10
MOST_DIVERGENT = 5
NO_ORACLE = "There is no oracle run: what can be answered is what any judged passage of the topic answers."


@dataclass(frozen=True)
class Scores:
    """A source's standings."""

    board: SourceBoard
    standings: tuple[Standing, ...]

    @property
    def name(self) -> str:
        return self.board.source.name

    @cached_property
    def by_system(self) -> dict[str, Standing]:
        return {standing.system: standing for standing in self.standings}

    @cached_property
    def means(self) -> dict[str, float]:
        """The mean of each system that has one."""
        return {one.system: one.mean.value for one in self.standings if one.mean.value is not None}


@dataclass(frozen=True)
class Column(Scores):
    """What one source says of the systems, and how sure that is."""

    stability: RankStability
    pairs: tuple[PairedComparison, ...]

    @cached_property
    def marks(self) -> LeaderboardMarks | None:
        return leaderboard_marks(self.means)

    @cached_property
    def significant(self) -> list[PairedComparison]:
        """Return the pairs whose difference is significant after Holm's correction, the surest first."""
        found = [pair for pair in self.pairs if pair.significant]
        return sorted(found, key=lambda pair: (pair.p_holm, pair.first, pair.second))

    @property
    def n_topics(self) -> int:
        """How many topics there are items of, judged by the source or not."""
        return len(self.board.scored.table.columns)

    @property
    def n_tested(self) -> int:
        return sum(pair.p_holm is not None for pair in self.pairs)

    def percentile(self, system: str) -> int | None:
        """Return which marked percentile the system's mean is above, the higher of two."""
        if self.marks is None:
            return None
        return next((mark for mark in (85, 75) if system in self.marks.above(self.means, percentile=mark)), None)

    def at_most(self, system: str, rank: int) -> float | None:
        """Return P(rank ≤ r), None where it cannot be told."""
        ranks = self.stability.at_most
        if system not in self.means or not len(ranks.columns):
            return None
        share = float(ranks.loc[[system], min(rank, len(ranks.columns))].to_numpy(dtype=np.float64)[0])
        return None if np.isnan(share) else share


@dataclass(frozen=True)
class Corrected:
    """Systems' scores by a judge, corrected by people's labels (PPI++); with the reason where there is none."""

    judge: str
    scores: dict[str, Estimate]


@dataclass(frozen=True)
class Agreement:
    """How far a source keeps the reference's order of systems."""

    reference: str
    other: str
    n_systems: int
    kendall: Estimate
    tau_ap: Estimate
    top_kendall: Estimate
    spearman: Estimate
    divergent: tuple[Divergence, ...]

    def figures(self) -> dict[str, Estimate]:
        return {
            "kendall": self.kendall,
            "tau_ap": self.tau_ap,
            f"kendall_top_{TOP_SYSTEMS}": self.top_kendall,
            "spearman": self.spearman,
        }


@dataclass(frozen=True)
class Cell:
    """One system under one source. `standing` is None where the source's board lacks the system.

    `percentile`: 85 or 75 where its mean is above that percentile of the systems. `n_topics`: how many there might be.
    """

    standing: Standing | None
    percentile: int | None
    n_topics: int
    first: float | None
    top: float | None
    circular: bool


@dataclass(frozen=True)
class Row:
    system: str
    family: str
    cells: tuple[Cell, ...]
    corrected: tuple[Estimate | None, ...]


@dataclass(frozen=True)
class Leaderboard:
    """Everything that the page, its files, the command and the API show of one measure."""

    study: Study
    measure: BoardMeasure
    combine: Combine
    oracle: str | None
    top: int
    families: dict[str, str]
    columns: tuple[Column, ...]
    corrected: tuple[Corrected, ...]
    agreements: tuple[Agreement, ...]
    flips: tuple[Flip, ...]

    @property
    def simulated(self) -> bool:
        return any(column.board.source.simulated for column in self.columns)

    @property
    def rule(self) -> str:
        """How several people become one."""
        return f"{COMBINES[self.combine]}, ties to the lower"

    @property
    def notes(self) -> list[str]:
        """What to know of the oracle, if the measure takes one."""
        if self.measure.family not in ("coverage", "density") or (
            self.measure.of_reports and not self.measure.needs_texts
        ):
            return []
        return [f"What can be answered is what “{self.oracle}” answers." if self.oracle else NO_ORACLE]

    @property
    def has_circular(self) -> bool:
        return any(column.board.circular for column in self.columns)

    def rows(self, sort: str = "") -> list[Row]:
        """Return the systems in the order of a source, best first, or by "system"; a minus in front turns it round."""
        return [self._row(system) for system in sorted_systems(self.columns, sort)]

    def _row(self, system: str) -> Row:
        cells = (
            Cell(
                column.by_system.get(system),
                column.percentile(system),
                column.n_topics,
                column.at_most(system, 1),
                column.at_most(system, self.top),
                system in column.board.circular,
            )
            for column in self.columns
        )
        corrected = tuple(one.scores.get(system) for one in self.corrected)
        return Row(system, self.families.get(system, ""), tuple(cells), corrected)

    def tables(self) -> dict[str, list[list[Any]]]:
        """Return the page's tables by name, each with a first row of names."""
        return {
            "scores": [
                ["system", "source", "criterion", *SCORE_COLUMNS, f"p_rank_{self.top}", "circular", "reason"],
                *self._score_rows(),
            ],
            "topics": [
                ["system", "topic", "source", "score"],
                *(
                    [system, topic, column.name, None if pd.isna(score) else float(score)]
                    for column in self.columns
                    for system, row in column.board.scored.table.iterrows()
                    for topic, score in row.items()
                ),
            ],
            "pairs": [
                ["source", "first", "second", "topics", "difference", "low", "high", "p", "p_holm", "winner"],
                *(
                    [
                        column.name,
                        pair.first,
                        pair.second,
                        pair.n_topics,
                        pair.difference.value,
                        pair.difference.low,
                        pair.difference.high,
                        pair.p,
                        pair.p_holm,
                        pair.winner if pair.significant else None,
                    ]
                    for column in self.columns
                    for pair in column.pairs
                ),
            ],
            "flips": [
                ["significant_under", "winner", "other", "winner_under_other", "opposed"],
                *(
                    [flip.significant_under, flip.winner, flip.other, flip.winner_under_other, int(flip.opposed)]
                    for flip in self.flips
                ),
            ],
            "correlations": [
                ["reference", "other", "systems", "coefficient", "value", "low", "high", "reason"],
                *(
                    [one.reference, one.other, one.n_systems, name, found.value, found.low, found.high, found.reason]
                    for one in self.agreements
                    for name, found in one.figures().items()
                ),
            ],
        }

    def _score_rows(self) -> list[list[Any]]:
        found: list[list[Any]] = []
        for column in self.columns:
            for one in column.standings:
                cell = self._row(one.system).cells[self.columns.index(column)]
                mean = one.mean
                scores = (mean.value, mean.se, mean.low, mean.high, one.rank, one.n_topics, cell.first, cell.top)
                criterion = column.board.source.criterion.name
                found.append([one.system, column.name, criterion, *scores, int(cell.circular), mean.reason])
        for corrected in self.corrected:
            for system, score in corrected.scores.items():
                found.append([system, f"PPI++ of {corrected.judge}", "", score.value, score.se, score.low, score.high])
                found[-1] += [None, None, None, None, 0, score.reason]
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return everything, as the command, the API and the JSON download have it."""
        return {
            "study": self.study.name,
            "measure": self.measure.name,
            "people_become_one_by": self.rule,
            "oracle": self.oracle,
            "simulated": self.simulated,
            "sources": [self._source_as_dict(column) for column in self.columns],
            "corrected": [
                {"judge": one.judge, "method": "PPI++", "systems": {n: s.as_dict() for n, s in one.scores.items()}}
                for one in self.corrected
            ],
            "correlations": [
                {
                    "reference": one.reference,
                    "other": one.other,
                    "n_systems": one.n_systems,
                    **{name: found.as_dict() for name, found in one.figures().items()},
                    "divergent": [vars(system) for system in one.divergent],
                }
                for one in self.agreements
            ],
            "flips": [vars(flip) for flip in self.flips],
        }

    def _source_as_dict(self, column: Column) -> dict[str, Any]:
        board = column.board
        return {
            "source": column.name,
            "kind": board.source.kind,
            "criterion": board.source.criterion.name,
            "threshold": board.source.criterion.threshold,
            "ungraded": {
                "n": board.scored.n_ungraded,
                "of": board.scored.n_asked,
                "share": board.scored.ungraded_share,
            },
            "undefined": dict(board.scored.reasons),
            "marks": vars(column.marks) if column.marks else None,
            "significant_pairs": {"n": len(column.significant), "of": len(column.pairs)},
            "systems": [
                {
                    "system": one.system,
                    "rank": one.rank,
                    **one.mean.as_dict(),
                    "se": one.mean.se,
                    "n_topics": one.n_topics,
                    "p_first": column.at_most(one.system, 1),
                    f"p_rank_at_most_{self.top}": column.at_most(one.system, self.top),
                    "circular": one.system in board.circular,
                }
                for one in column.standings
            ],
        }


SCORE_COLUMNS = ("mean", "se", "low", "high", "rank", "topics", "p_first")


def measure_leaderboard(
    boards: StudyBoards, measure: BoardMeasure, *, sources: Sequence[str] = (), top: int = TOP
) -> Leaderboard:
    """Return the leaderboard under the measure, by all sources or by those named. Raises BoardRefused."""
    found = boards.sources(measure)
    names = [source.name for source in found]
    for name in sources:
        if name not in names:
            listed = ", ".join(names) or "none yet"
            raise BoardRefused(f"“{name}” judged nothing that {measure.name} needs. Sources that did: {listed}.")
    scored = [boards.score(measure, source) for source in found if not sources or source.name in sources]
    columns = tuple(_column(board) for board in scored)
    return Leaderboard(
        study=boards.study,
        measure=measure,
        combine=boards.combine,
        oracle=boards.oracle,
        top=top,
        families={run.name: run.system.family for run in boards.runs.values()},
        columns=columns,
        corrected=tuple(_corrected(columns)) if measure.name == "coverage" else (),
        agreements=tuple(_agreement(columns[0], other) for other in columns[1:]),
        flips=tuple(flipped_pairs({column.name: column.pairs for column in columns})),
    )


def _scores_alone(board: SourceBoard) -> Scores:
    return Scores(board, tuple(leaderboard(board.scored.table)))


def _column(board: SourceBoard) -> Column:
    table = board.scored.table.dropna(axis="columns", how="all")
    return Column(
        board=board,
        standings=tuple(leaderboard(table)),
        stability=rank_stability(table),
        pairs=tuple(compare_pairs(table)),
    )


def _agreement(reference: Column, other: Column) -> Agreement:
    one, two = reference.board.scored.table, other.board.scored.table
    n_systems = len(reference.means.keys() & other.means.keys())
    if n_systems > TOP_SYSTEMS:
        top = bootstrap_over_topics(one, two, correlation="kendall", top_k=TOP_SYSTEMS)
    else:
        top = Estimate(None, reason=f"There are no more than {TOP_SYSTEMS} systems.")
    return Agreement(
        reference=reference.name,
        other=other.name,
        n_systems=n_systems,
        kendall=bootstrap_over_topics(one, two, correlation="kendall"),
        tau_ap=bootstrap_over_topics(one, two, correlation="tau_ap"),
        top_kendall=top,
        spearman=bootstrap_over_topics(one, two, correlation="spearman"),
        divergent=tuple(
            system for system in divergent_systems(reference.means, other.means)[:MOST_DIVERGENT] if system.places
        ),
    )


def _corrected(columns: Sequence[Column]) -> list[Corrected]:
    """Return coverage of reports by each judge as people's labels correct it."""
    people = [column.board.source.criterion for column in columns if column.board.source.kind == Rater.Kind.ASSESSOR]
    judges = {column.board.source.raters[0].pk for column in columns if column.board.source.kind == Rater.Kind.JUDGE}
    found = []
    for of_people in [load_criterion(criterion) for criterion in people] if judges else []:
        for choice in judge_choices(of_people):
            if choice.rater.pk in judges:
                calibration = calibrate_population(load_population(of_people, choice))
                scores = {one.name: one.corrected.ppi.estimate for one in calibration.systems}
                found.append(Corrected(choice.key, scores))
    return found


def score_points(boards: StudyBoards, measure: BoardMeasure, *, sort: str = "") -> list[ScorePoint]:
    """Return what the chart shows, in the order of `Leaderboard.rows`. Raises BoardRefused."""
    columns = [_scores_alone(boards.score(measure, source)) for source in boards.sources(measure)]
    return [
        ScorePoint(
            system=system,
            source=column.name,
            mean=mean.value,
            low=mean.value if mean.low is None else mean.low,
            high=mean.value if mean.high is None else mean.high,
        )
        for system in sorted_systems(columns, sort)
        for column in columns
        if (standing := column.by_system.get(system)) and (mean := standing.mean) and mean.value is not None
    ]


def sorted_systems(columns: Sequence[Scores], sort: str) -> list[str]:
    """Return the systems by a source's mean, best first, or by "system"; a minus in front turns it round."""
    name = sort.removeprefix("-")
    systems = sorted({standing.system for column in columns for standing in column.standings})
    if name != "system" and columns:
        by = next((column for column in columns if column.name == name), columns[0])
        systems.sort(key=lambda system: -by.means.get(system, float("-inf")))
    return systems[::-1] if sort.startswith("-") else systems


def offered_measures(study: Study) -> list[str]:
    """Return the measures that the study's judgments allow, the most telling first."""
    judged = study.criteria.filter(Exists(Judgment.objects.filter(criterion=OuterRef("pk"))))
    types = set(judged.exclude(task_type=TaskType.KEY_POINT).values_list("task_type", flat=True))
    if judged.filter(task_type=TaskType.KEY_POINT, name=GROUNDED).exists():
        types.add(TaskType.KEY_POINT)
    offered = ["coverage"] if TaskType.ANSWERABILITY in types else []
    if not RankedPassage.objects.filter(run__collection=study.collection_id).exists():
        return offered
    if TaskType.RATING in types:
        offered += ["Cover@20>=3", "coverage@10", "alpha-nDCG@10"]
    if types & {TaskType.RATING, TaskType.RELEVANCE}:
        offered += ["nDCG@20", "P(rel=η)@20", "AP(rel=η)"]
    if TaskType.KEY_POINT in types:
        offered += ["KPR@10"]
    if study.collection.runs.filter(name="oracle").exists():
        offered += [name for name in ("density", "density@10") if name.replace("density", "coverage") in offered]
    return offered
