"""What a study's battles say: systems in order by people and by each judge, and how far the orders are alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from collection.models import Criterion, Report, Study
from collection.models.studies import TaskType
from collection.web.tables import Column, Table
from evaluation.battles.votes import Voters, battle_criterion, counted_votes, voters_of, votes_of
from evaluation.data.pair_order import PositionAudit, audit_position
from evaluation.data.visibility import Visibility, parts_of, visibility_of
from stats.intervals import NO_ERROR, SAME_IN_RESAMPLES, Estimate, Sample, resampled_levels
from stats.pattern_intervals import REPLICATES, SEED
from stats.plurals import counted
from stats.ranking.battles.bradley_terry import BradleyTerry, Standing, bradley_terry, by_topic
from stats.ranking.bootstrap_correlations import kendall_rows
from stats.ranking.rank_correlation import kendall
from stats.rounding import rounded


@dataclass(frozen=True)
class VotersBoard:
    """The systems by one source's votes. `position` is a judge's: what it does when the sides change places."""

    voters: Voters
    found: BradleyTerry
    position: PositionAudit | None

    @property
    def name(self) -> str:
        return self.voters.name

    @property
    def n_votes(self) -> int:
        return len(self.found.votes.decided.left)

    @property
    def against(self) -> Table:
        """The matrix as a page shows it."""
        columns = [Column("system", "System"), *(Column(system, system) for system, _ in self.matrix)]
        rows = [(row, *("–".join(map(str, cell)) if cell else "" for cell in cells)) for row, cells in self.matrix]
        return Table.of(f"Battles by {self.name}", columns, rows)

    @property
    def matrix(self) -> list[tuple[str, list[tuple[int, int, int] | None]]]:
        """Each system's wins, ties and losses against each other one, best first, in rows and columns alike."""
        votes = self.found.votes.decided
        places = [votes.systems.index(one.system) for one in self.found.standings]
        return [
            (
                votes.systems[row],
                [
                    None
                    if row == column
                    else (int(votes.wins[row, column]), int(votes.ties[row, column]), int(votes.wins[column, row]))
                    for column in places
                ],
            )
            for row in places
        ]

    @property
    def changed(self) -> float | None:
        """Of the pairs that a judge saw in both orders, the share whose winner changes with the order."""
        both = self.position.both if self.position else None
        return None if both is None or both.consistent is None else 1 - both.consistent

    @property
    def chart_label(self) -> str:
        return f"Who beats whom, by {self.name}"

    @property
    def answer(self) -> str:
        """One sentence: who is first, how surely, over what."""
        who = self.voters.name if self.voters.is_judge else "people"
        found = self.found
        over = f"{counted(self.n_votes, 'votes')} by {who} on {counted(found.n_topics, 'topics')}"
        if found.reason:
            return f"{over}: no order yet. {found.reason}"
        best = found.standings[0]
        rate = f"“{best.system}” beats a system of average ability in {best.win_rate.value:.0%} of battles"
        if best.win_rate.low is not None and best.win_rate.high is not None:
            rate += f" ({best.win_rate.low:.0%} to {best.win_rate.high:.0%})"
        else:
            rate += f" ({best.win_rate.reason})"
        return f"{over}: {rate}; {self._first}."

    @property
    def _first(self) -> str:
        """Say which systems may be the first."""
        standings = self.found.standings
        if standings[0].ranks is None:
            return "how sure the order is cannot be said"
        may_lead = [one.system for one in standings if one.ranks and one.ranks[0] == 1]
        if len(may_lead) == 1:
            return "it is the best of all, beyond chance"
        return f"{counted(len(may_lead), 'systems')} of {len(standings)} may be the best: {', '.join(may_lead)}"

    def as_dict(self) -> dict[str, Any]:
        found = self.found
        return {
            "voters": self.name,
            "kind": self.voters.raters[0].kind,
            "answer": self.answer,
            "reason": found.reason,
            "votes": self.n_votes,
            "ungraded": found.n_ungraded,
            "topics": found.n_topics,
            "raters": found.n_raters,
            "interval_over_raters": found.over_raters,
            "left": found.left.as_dict() if found.left else None,
            "ties_of_equals": found.tie_rate,
            "systems": [_standing_as_dict(one) for one in found.standings],
            "against": {
                row: {
                    other: dict(zip(("wins", "ties", "losses"), cell, strict=True))
                    for (other, _), cell in zip(self.matrix, cells, strict=True)
                    if cell
                }
                for row, cells in self.matrix
            },
            "position": self.position.as_dict() if self.position else None,
            "winner_changes_with_order": self.changed,
        }


@dataclass(frozen=True)
class Battles:
    """The boards of a study's battles, people's first; `likeness`: τ_b of people's order and each judge's, by name."""

    study: Study
    criterion: Criterion
    visibility: Visibility
    side: bool
    penalty: float
    n_pairs: int
    n_asked: int
    boards: tuple[VotersBoard, ...]
    likeness: Mapping[str, Estimate]

    @cached_property
    def answer(self) -> str:
        """What the first board says, and what the others make of it."""
        likeness = [
            f"Kendall’s τ_b of people’s order and that of {name} is {one.value:.2f}"
            + (
                f" ({one.low:.2f} to {one.high:.2f}, resampled)."
                if one.low is not None and one.high is not None
                else "."
            )
            for name, one in self.likeness.items()
            if one.value is not None
        ]
        return " ".join([self.boards[0].answer, *likeness[:1]])

    def as_dict(self) -> dict[str, Any]:
        return {
            "study": self.study.name,
            "criterion": self.criterion.name,
            "answer": self.answer,
            "side": self.side,
            "penalty": self.penalty,
            "pairs": self.n_pairs,
            "pairs_with_votes": self.n_asked,
            "boards": [board.as_dict() for board in self.boards],
            "kendall": {name: one.as_dict() for name, one in self.likeness.items()},
            **self.visibility.as_dict(),
        }

    def tables(self) -> dict[str, Table]:
        standings = [(board, one) for board in self.boards for one in board.found.standings]
        systems = [
            (
                *(
                    board.name,
                    one.system,
                    one.rank,
                    *(one.ranks or (None, None)),
                    "{} to {}".format(*one.ranks) if one.ranks else None,
                    one.win_rate,
                    one.log_odds,
                ),
                *(one.wins, one.ties, one.losses, board.found.n_topics, board.found.n_raters),
                board.found.reason or one.win_rate.reason,
            )
            for board, one in standings
        ]
        against = [
            (board.name, row, other, *cell)
            for board in self.boards
            for row, cells in board.matrix
            for (other, _), cell in zip(board.matrix, cells, strict=True)
            if cell
        ]
        tables = {
            "systems": Table.of("Systems", SYSTEMS, systems),
            "against": Table.of("Each against each", AGAINST, against),
        }
        if self.likeness:
            tables["likeness"] = Table.of("Kendall’s τ_b of the orders", LIKENESS, self.likeness.items())
        return tables


SYSTEMS = (
    Column("voters", "Voters"),
    Column("system", "System"),
    Column("rank", "Rank", "count"),
    Column("best_rank", kind="count"),
    Column("worst_rank", kind="count"),
    Column("places", "Places it may have", filed=False),
    Column("win_rate", "Against an average system", "estimate", names=("win_rate", "low", "high")),
    Column("log_odds", "Log-odds", "estimate"),
    Column("wins", "Wins", "count"),
    Column("ties", "Ties", "count"),
    Column("losses", "Losses", "count"),
    Column("n_topics", kind="count"),
    Column("n_raters", kind="count"),
    Column("reason"),
)
AGAINST = (
    *(Column("voters", "Voters"), Column("system", "System"), Column("other", "Against")),
    *(Column(name, name.capitalize(), "count") for name in ("wins", "ties", "losses")),
)
LIKENESS = (Column("judge", "Judge"), Column("kendall", "Kendall’s τ_b", "estimate"))


def measure_battles(study: Study, *, no_side: bool = False, penalty: float = 0.0) -> Battles | None:
    """Return what the study's battles say; None without any vote. Of a split study with judges: on development topics.

    `no_side`: whether the advantage of the left is no part of the model; `penalty` is `bradley_terry`'s.
    """
    criterion = battle_criterion(study)
    voters = voters_of(criterion) if criterion else []
    if criterion is None or not voters:
        return None
    judges = [one.raters[0] for one in voters if one.is_judge]
    visibility = visibility_of(parts_of(study), judges)
    items = visibility.of(study.items.filter(task_type=TaskType.BATTLE))
    reports = Report.objects.filter(pk__in=items.values("report")) | Report.objects.filter(
        pk__in=items.values("other_report")
    )
    systems = sorted(set(reports.values_list("run__name", flat=True)))
    boards = []
    for one in voters:
        votes = votes_of(criterion, one, visibility, systems)
        found = bradley_terry(votes, side=not no_side, penalty=penalty)
        position = audit_position(criterion, one.raters[0], topics=visibility.topics) if one.is_judge else None
        boards.append(VotersBoard(one, found, position))
    given = counted_votes(criterion).filter(unaided_grade__isnull=False)
    return Battles(
        study=study,
        criterion=criterion,
        visibility=visibility,
        side=not no_side,
        penalty=penalty,
        n_pairs=items.count(),
        n_asked=items.filter(pk__in=given.values("item")).count(),
        boards=tuple(boards),
        likeness=_likeness(boards),
    )


def _likeness(boards: Sequence[VotersBoard]) -> dict[str, Estimate]:
    """Return τ_b of people's order and each judge's, with the range over topics drawn alike for both."""
    if not boards or boards[0].voters.is_judge:
        return {}
    return {board.name: order_likeness(boards[0].found, board.found) for board in boards[1:]}


def order_likeness(one: BradleyTerry, other: BradleyTerry) -> Estimate:
    """Return τ_b of two orders of the same systems, with the range of its values over resampled topics of both."""
    if one.fit is None or other.fit is None:
        return Estimate(None, reason=one.reason or other.reason)
    abilities = [rounded(found.abilities_of(found.parameters)) for found in (one.fit, other.fit)]
    point = kendall(*abilities)
    topics = [np.unique(found.votes.topic) for found in (one.fit, other.fit)]
    shared = np.union1d(topics[0], topics[1])
    sample = Sample(n_topics=len(np.intersect1d(topics[0], topics[1])))
    penalised = one.fit.penalty or other.fit.penalty
    if point.value is None or sample.reason or penalised:
        return replace(point, reason=point.reason or sample.reason or "no interval with a penalty", sample=sample)
    drawn = np.random.default_rng(SEED).multinomial(len(shared), np.full(len(shared), 1 / len(shared)), REPLICATES)
    values = [
        rounded(by_topic(found, drawn[:, np.isin(shared, of)]))
        for found, of in zip((one.fit, other.fit), topics, strict=True)
    ]
    found = kendall_rows(values[0], values[1], np.ones(values[0].shape, dtype=bool))
    low, high = np.quantile(found[~np.isnan(found)], resampled_levels(sample.n_drawn))
    if high - low < NO_ERROR:
        return replace(point, reason=SAME_IN_RESAMPLES, sample=sample)
    return replace(point, low=float(low), high=float(high), sample=sample, resampled=True)


def _standing_as_dict(one: Standing) -> dict[str, Any]:
    return {
        "system": one.system,
        "rank": one.rank,
        "ranks": list(one.ranks) if one.ranks else None,
        "win_rate": one.win_rate.as_dict(),
        "log_odds": one.log_odds.as_dict(),
        "wins": one.wins,
        "ties": one.ties,
        "losses": one.losses,
    }
