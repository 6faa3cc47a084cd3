"""A leaderboard as tables and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from evaluation.leaderboards.breakdown import LeaderboardBreakdown
from evaluation.leaderboards.columns import Column, MeanBounds, Standings
from evaluation.leaderboards.corrected.all_topics import means_over_all_topics
from evaluation.leaderboards.corrected.correction import Corrected
from evaluation.leaderboards.leaderboard import Leaderboard
from evaluation.leaderboards.sources import judges_among
from stats.intervals import Estimate
from stats.ranking.leaderboard import PairedComparison, Standing

BOARD_COLUMNS = ("system", "source", "mark", "criterion", "measure")
SCORE_COLUMNS = ("mean", "se", "low", "high", "topics", "judged_at_k", "estimated", "rank", "p_first")
MICRO_COLUMNS = ("micro", "micro_low", "micro_high")
BOUND_COLUMNS = ("unjudged", "at_least", "at_most", "best_rank", "worst_rank")


def tables_of_leaderboard(board: Leaderboard) -> dict[str, list[list[Any]]]:
    """Return the page's tables by name, each with a first row of names."""
    everywhere = means_over_all_topics(board)
    return {
        **({"breakdown": board.breakdown.table()} if board.breakdown else {}),
        **({"all_topics": everywhere.table()} if everywhere and everywhere.rows else {}),
        "scores": [
            [
                *BOARD_COLUMNS,
                *SCORE_COLUMNS,
                f"p_rank_{board.top}",
                "circular",
                "reason",
                *BOUND_COLUMNS,
                *MICRO_COLUMNS,
            ],
            *_score_rows(board),
        ],
        "topics": [
            ["system", "topic", "source", "score", "compared"],
            *_topic_rows(board),
        ],
        "pairs": [
            ["source", "first", "second", "topics", "difference", "low", "high", "p", "p_holm", "winner", "open"],
            *(
                [
                    name,
                    pair.first,
                    pair.second,
                    pair.n_topics,
                    pair.difference.value,
                    pair.difference.low,
                    pair.difference.high,
                    pair.p,
                    pair.p_holm,
                    pair.winner if pair.significant else None,
                    int((pair.first, pair.second) in left_open),
                ]
                for name, pairs, left_open in _pairs_by_source(board)
                for pair in pairs
            ),
        ],
        "corrected": [
            ["system", "judge", "by", "value", "low", "high", "se", "topics", "labels", "items", "lambda", "reason"],
            *_corrected_rows(board),
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
    for column in board.columns:
        scored = column.board.scored
        for one in column.standings:
            cell, mean = board.cell(column, one.system), one.mean
            yield [
                *(one.system, column.name, column.board.source.completeness.mark),
                *(column.board.source.criterion.name, scored.shown),
                *(mean.value, mean.se, mean.low, mean.high, one.n_topics, cell.judged, int(scored.estimated)),
                *(one.rank, cell.first, cell.top, int(cell.circular), cell.why_not or mean.reason),
                *_bound_cells(cell.bounds),
                *_micro_cells(cell.micro),
            ]
    for corrected in board.corrected:
        for system, score in corrected.scores.items():
            yield [
                *(system, corrected.source, corrected.completeness.mark, "", board.measure.name),
                *(score.value, score.se, score.low, score.high, score.sample.n_topics if score.sample else None),
                *(None, 1, None, None, None, 0, score.reason),
                *_bound_cells(None),
                *_micro_cells(None),
            ]
        for system, reason in corrected.withheld.items():
            named = (system, corrected.source, corrected.completeness.mark, "", board.measure.name)
            yield [*named, *[None] * 6, 1, None, None, None, 0, reason, *_bound_cells(None), *_micro_cells(None)]


def _bound_cells(bounds: MeanBounds | None) -> list[Any]:
    if bounds is None:
        return [None] * len(BOUND_COLUMNS)
    return [bounds.unjudged, bounds.low, bounds.high, bounds.best, bounds.worst]


def _micro_cells(micro: Estimate | None) -> list[Any]:
    return [None] * len(MICRO_COLUMNS) if micro is None else [micro.value, micro.low, micro.high]


def _topic_rows(board: Leaderboard) -> Iterator[list[Any]]:
    for column in board.columns:
        given, compared = column.board.scored.given, set(column.topics)
        topics = [(topic, int(topic in compared)) for topic in given.columns]
        for system, scores in zip(given.index, given.to_numpy(dtype=np.float64).tolist(), strict=True):
            for (topic, said), score in zip(topics, scores, strict=True):
                yield [system, topic, column.name, None if math.isnan(score) else score, said]


def _pairs_by_source(board: Leaderboard) -> Iterator[tuple[str, tuple[PairedComparison, ...], set[tuple[str, str]]]]:
    """Yield each source's comparisons, and the pairs in an open order, each way round."""
    for column in board.columns:
        yield column.name, column.pairs, {pair for one in column.open_pairs for pair in (one, one[::-1])}
    for corrected in board.corrected:
        yield corrected.source, corrected.pairs, set()


def _corrected_rows(board: Leaderboard) -> Iterator[list[Any]]:
    for corrected in board.corrected:
        if corrected.reason:
            yield ["", corrected.judge, *[None] * 9, corrected.reason]
        for system, score in corrected.rows:
            for by, found in score.by.items():
                *figures, n_topics, _, reason = found.cells
                counts = (score.n_labelled, score.n_items, score.power if by == "corrected" else None)
                yield [system, corrected.judge, by, *figures, n_topics, *counts, reason]
        for system, reason in corrected.withheld.items():
            yield [system, corrected.judge, *[None] * 9, reason]


def _corrected_as_dict(corrected: Corrected) -> dict[str, Any]:
    return {
        "judge": corrected.judge,
        **corrected.completeness.as_dict(),
        "method": corrected.method,
        **({"reason": corrected.reason} if corrected.reason else {"draw": corrected.draw}),
        "answer": corrected.answer,
        "simulated": corrected.simulated,
        "systems": {
            system: {
                **score.corrected.as_dict(),
                "se": score.corrected.se,
                "people": score.people.as_dict(),
                "judge": score.judge.as_dict(),
                "lambda": score.power,
                "n_labels": score.n_labelled,
                "n_labelled_of": score.n_items,
                "circular": system in corrected.circular,
            }
            for system, score in corrected.rows
        }
        | {system: {"value": None, "reason": reason} for system, reason in corrected.withheld.items()},
        "pairs": [
            {"first": pair.first, "second": pair.second, **pair.difference.as_dict()}
            | {"p": pair.p, "p_holm": pair.p_holm, "significant": pair.significant}
            for pair in corrected.pairs
        ],
    }


def leaderboard_as_dict(board: Leaderboard) -> dict[str, Any]:
    """Return everything, as the command, the API and the JSON download have it."""
    everywhere = means_over_all_topics(board)
    return {
        "study": board.study.name,
        "measure": board.measure.name,
        **({"all_topics": everywhere.as_dict()} if everywhere else {}),
        "people_become_one_by": board.rule,
        **({"order": board.order} if board.measure.of_rankings else {}),
        "oracle": board.oracle,
        "notes": board.notes,
        **({"confidence": board.confidence.as_dict()} if board.confidence else {}),
        "topics": {
            "choice": board.topics,
            **board.common.as_dict(),
            "no_say": [column.name for column in board.aside],
        },
        **board.sight.as_dict(),
        "simulated": board.simulated,
        **({"sources_left_out": list(board.left_out)} if board.left_out else {}),
        "sources": [_source_as_dict(board, column) for column in board.columns],
        "corrected": [_corrected_as_dict(one) for one in board.corrected],
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
        "open_pairs": [list(pair) for pair in column.open_pairs],
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
        **({"micro": found.as_dict()} if (found := column.micro.get(one.system)) else {}),
        "bounds": bounds.as_dict() if (bounds := column.bounds.get(one.system)) else None,
        "p_first": column.at_most(one.system, 1),
    }
