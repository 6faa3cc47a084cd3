"""A leaderboard as tables and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from evaluation.leaderboards.breakdown import LeaderboardBreakdown
from evaluation.leaderboards.columns import Column, Standings
from evaluation.leaderboards.leaderboard import Leaderboard
from evaluation.leaderboards.sources import judges_among
from stats.ranking.leaderboard import Standing

BOARD_COLUMNS = ("system", "source", "mark", "criterion", "measure")
SCORE_COLUMNS = ("mean", "se", "low", "high", "topics", "judged_at_k", "estimated", "rank", "p_first")


def tables_of_leaderboard(board: Leaderboard) -> dict[str, list[list[Any]]]:
    """Return the page's tables by name, each with a first row of names."""
    return {
        **({"breakdown": board.breakdown.table()} if board.breakdown else {}),
        "scores": [
            [*BOARD_COLUMNS, *SCORE_COLUMNS, f"p_rank_{board.top}", "circular", "reason"],
            *_score_rows(board),
        ],
        "topics": [
            ["system", "topic", "source", "score", "compared"],
            *(
                [system, topic, column.name, None if pd.isna(score) else float(score), int(topic in column.topics)]
                for column in board.columns
                for system, row in column.board.scored.given.iterrows()
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
                for column in board.columns
                for pair in column.pairs
            ),
        ],
        "flips": [
            ["significant_under", "winner", "other", "winner_under_other", "opposed"],
            *(
                [flip.significant_under, flip.winner, flip.other, flip.winner_under_other, int(flip.opposed)]
                for flip in board.flips
            ),
        ],
        "correlations": [
            [
                "reference",
                "other",
                "systems",
                "topics",
                "coefficient",
                "value",
                "resampled_low",
                "resampled_high",
                "reason",
            ],
            *(
                [
                    *(one.reference, one.other, one.n_systems, one.n_topics, name),
                    *(found.value, found.low, found.high, found.reason),
                ]
                for one in board.agreements
                for name, found in one.figures().items()
            ),
        ],
    }


def _score_rows(board: Leaderboard) -> Iterator[list[Any]]:
    for place, column in enumerate(board.columns):
        scored = column.board.scored
        for one in column.standings:
            cell, mean = board.row(one.system).cells[place], one.mean
            yield [
                *(one.system, column.name, column.board.source.completeness.mark),
                *(column.board.source.criterion.name, scored.shown),
                *(mean.value, mean.se, mean.low, mean.high, one.n_topics, cell.judged, int(scored.estimated)),
                *(one.rank, cell.first, cell.top, int(cell.circular), cell.why_not or mean.reason),
            ]
    for corrected in board.corrected:
        for system, score in corrected.scores.items():
            yield [
                *(system, f"PPI++ of {corrected.judge}", "", "", board.measure.name),
                *(score.value, score.se, score.low, score.high, score.sample.n_topics if score.sample else None),
                *(None, 1, None, None, None, 0, score.reason),
            ]


def leaderboard_as_dict(board: Leaderboard) -> dict[str, Any]:
    """Return everything, as the command, the API and the JSON download have it."""
    return {
        "study": board.study.name,
        "measure": board.measure.name,
        "people_become_one_by": board.rule,
        **({"order": board.order} if board.measure.of_rankings else {}),
        "oracle": board.oracle,
        "notes": board.notes,
        "topics": {
            "choice": board.topics,
            **board.common.as_dict(),
            "no_say": [column.name for column in board.aside],
        },
        **board.sight.as_dict(),
        "simulated": board.simulated,
        "sources": [_source_as_dict(board, column) for column in board.columns],
        "corrected": [
            {"judge": one.judge, "method": "PPI++", "systems": {n: s.as_dict() for n, s in one.scores.items()}}
            for one in board.corrected
        ],
        "correlations": [
            {
                "reference": one.reference,
                "other": one.other,
                "n_systems": one.n_systems,
                "n_topics": one.n_topics,
                **{name: found.as_dict() for name, found in one.figures().items()},
                "divergent": [vars(system) for system in one.divergent],
            }
            for one in board.agreements
        ],
        "flips": [vars(flip) for flip in board.flips],
        **({"breakdown": _breakdown_as_dict(board.breakdown)} if board.breakdown else {}),
    }


def _breakdown_as_dict(breakdown: LeaderboardBreakdown) -> dict[str, Any]:
    names, *rows = breakdown.table()
    return {
        "by": breakdown.by,
        "groups": list(breakdown.groups),
        "means": [dict(zip(names, row, strict=True)) for row in rows],
    }


def _source_as_dict(board: Leaderboard, column: Column) -> dict[str, Any]:
    scored = column.board
    judge = next(iter(judges_among([scored.source])), None)
    return {
        "source": column.name,
        "kind": scored.source.kind,
        **scored.source.completeness.as_dict(),
        **({"test_readings": board.sight.readings_of(judge)} if judge and board.sight.parts else {}),
        "criterion": scored.source.criterion.name,
        "measure": scored.scored.shown,
        "estimated": scored.scored.estimated,
        "unordered": column.unordered or None,
        "threshold": scored.source.criterion.threshold,
        "ungraded": {
            "n": scored.scored.n_ungraded,
            "of": scored.scored.n_asked,
            "share": scored.scored.ungraded_share,
        },
        "undefined": dict(scored.scored.reasons),
        "unanswerable_sub_questions": scored.scored.n_unanswerable,
        "marks": vars(column.marks) if column.marks else None,
        "significant_pairs": {"n": len(column.significant), "of": len(column.pairs)},
        "systems": [
            system_as_dict(column, one)
            | ({} if board.measure.of_rankings else {"judged_at_k": None})
            | {f"p_rank_at_most_{board.top}": column.at_most(one.system, board.top)}
            | {"circular": one.system in scored.circular}
            for one in column.standings
        ],
    }


def system_as_dict(column: Standings, one: Standing) -> dict[str, Any]:
    """Return one system's place by a source of judgments."""
    reason = column.why_not(one.system)
    return {
        "system": one.system,
        "rank": one.rank,
        **one.mean.as_dict(),
        "se": one.mean.se,
        "n_topics": one.n_topics,
        "judged_at_k": column.judged(one.system),
        **({"reason": reason} if reason else {}),
        "p_first": column.at_most(one.system, 1),
    }
