"""A leaderboard as tables and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from collection.web.tables import Badge, Badged, Column, Table
from evaluation.leaderboards.breakdown import LeaderboardBreakdown
from evaluation.leaderboards.columns import TOP_SYSTEMS, Agreement, MeanBounds, Standings
from evaluation.leaderboards.columns import Column as SourceColumn
from evaluation.leaderboards.corrected.all_topics import means_over_all_topics
from evaluation.leaderboards.corrected.correction import Corrected
from evaluation.leaderboards.leaderboard import Leaderboard
from evaluation.leaderboards.sources import judges_among
from stats.plurals import counted
from stats.ranking.leaderboard import PairedComparison, Standing

FIGURES = ("value", "se", "low", "high")
TOPICS = (
    *(Column("system", "System"), Column("topic", "Topic"), Column("source", "By"), Column("score", "Score", "number")),
    Column("compared", kind="count"),
)
PAIRS = (
    *(
        Column("source", "By"),
        Column("first", "System"),
        Column("second", "Other"),
        Column("topics", "Topics", "count"),
    ),
    Column("difference", "Difference", "estimate", names=("difference", "low", "high")),
    *(Column("p", "p", "number"), Column("p_holm", "p, Holm", "number"), Column("winner", "Better")),
    Column("open", kind="count"),
)
CORRECTED = (
    *(Column("system", "System"), Column("judge", "Judge"), Column("by", "By")),
    Column("value", "Mean", "estimate", parts=("value", "low", "high", "se"), names=("value", "low", "high", "se")),
    *(Column("topics", "Topics", "count"), Column("labels", "Labels", "count"), Column("items", "of items", "count")),
    *(Column("lambda", "λ", "number"), Column("reason", "Reason")),
)
FLIPS = (
    *(Column("significant_under", "Significant by"), Column("winner", "Better"), Column("other", "By")),
    *(Column("winner_under_other", "Better there"), Column("opposed", kind="count")),
    Column("also", "Significant there, too", filed=False),
)
RESAMPLED = ("value", "resampled_low", "resampled_high", "reason")
COEFFICIENTS = {
    "kendall": "Kendall’s τ_b",
    "tau_ap": "τ_AP",
    f"kendall_top_{TOP_SYSTEMS}": f"τ_b, first {TOP_SYSTEMS}",
    "spearman": "Spearman’s ρ",
}
CORRELATIONS = (
    *(Column("reference", "Compared with"), Column("other", "Source"), Column("systems", "Systems", "count")),
    Column("topics", "Topics", "count"),
    *(
        Column(name, title, "estimate", parts=("value", "low", "high", "reason"), names=RESAMPLED, brief=True)
        for name, title in COEFFICIENTS.items()
    ),
)
OF_CORRELATIONS = (
    "1 is the same order, 0 no relation, −1 the reverse. Ranges contain 95 % of the values over resampled topics, and "
    "more with few topics. They are not confidence intervals: they are too low, because resampling adds noise to both "
    "orders."
)


def tables_of_leaderboard(board: Leaderboard) -> dict[str, Table]:
    """Return the tables by name."""
    everywhere = means_over_all_topics(board)
    pairs = (
        (name, pair.first, pair.second, pair.n_topics, pair.difference, pair.p, pair.p_holm,
         pair.winner if pair.significant else None, int((pair.first, pair.second) in left_open))
        for name, of_source, left_open in _pairs_by_source(board)
        for pair in of_source
    )  # fmt: skip
    correlations = (
        (one.reference, _judge(one), one.n_systems, one.n_topics, *one.figures().values()) for one in board.agreements
    )
    flips = (
        (
            one.significant_under,
            one.winner,
            one.other,
            one.winner_under_other,
            *(int(one.opposed), "yes" if one.opposed else "no"),
        )
        for one in board.flips
    )
    by = f" by {board.measure.name}"
    of_flips = f"{counted(len(board.flips), 'significant pairs')} with another winner under another source"
    return {
        **({"breakdown": board.breakdown.table()} if board.breakdown else {}),
        **({"all_topics": everywhere.table()} if everywhere and everywhere.rows else {}),
        "scores": Table.of(f"Scores{by}", _score_columns(board), _score_rows(board)),
        "topics": Table.of(f"Scores by topic{by}", TOPICS, _topic_rows(board)),
        "pairs": Table.of(f"Pairs{by}", PAIRS, pairs),
        "corrected": Table.of(f"Corrected scores{by}", CORRECTED, _corrected_rows(board)),
        "flips": Table.of(f"Changed winners{by}", FLIPS, flips, note=of_flips),
        "correlations": Table.of(
            f"Rank correlations{by}", CORRELATIONS, correlations, note=OF_CORRELATIONS, long="coefficient"
        ),
    }


def _judge(one: Agreement) -> Badged:
    of = one.completeness
    return Badged(one.other, (Badge(of.mark, "warn", of.why),) if of.mark else ())


def _score_columns(board: Leaderboard) -> list[Column]:
    return [
        *(Column("system", "System"), Column("source", "By"), Column("mark"), Column("criterion"), Column("measure")),
        Column("mean", "Mean", "estimate", parts=FIGURES, names=("mean", "se", "low", "high")),
        *(Column("topics", "Topics", "count"), Column("judged_at_k", board.judged_name, "share"), Column("estimated")),
        *(Column("rank", "Rank", "count"), Column("p_first", "P(best)", "share")),
        *(Column(f"p_rank_{board.top}", kind="share"), Column("circular"), Column("reason", "Reason")),
        *(Column("unjudged", "Unjudged", "count"), Column("at_least", "At least", "number")),
        *(
            Column("at_most", "At most", "number"),
            Column("best_rank", "Best rank", "count"),
            Column("worst_rank", "Worst rank", "count"),
        ),
        Column("micro", "Micro", "estimate"),
    ]


def _score_rows(board: Leaderboard) -> Iterator[list[Any]]:
    for column in board.columns:
        scored = column.board.scored
        for one in column.standings:
            cell, mean = board.cell(column, one.system), one.mean
            words = [f"above {cell.percentile} %"] if cell.percentile else []
            marked = Badged(mean, tuple(map(Badge, [*words, *(["same family"] if cell.circular else [])])))
            yield [
                *(one.system, column.name, column.board.source.completeness.mark),
                *(column.board.source.criterion.name, scored.shown, marked, one.n_topics, cell.judged),
                *(int(scored.estimated), one.rank, cell.first, cell.top, int(cell.circular)),
                *(cell.why_not or mean.reason, *_bound_cells(cell.bounds), cell.micro),
            ]
    for corrected in board.corrected:
        for system, score in corrected.scores.items():
            named = (system, corrected.source, corrected.completeness.mark, "", board.measure.name)
            n_topics = score.sample.n_topics if score.sample else None
            yield [*named, score, n_topics, None, 1, None, None, None, 0, score.reason, *_bound_cells(None), None]
        for system, reason in corrected.withheld.items():
            named = (system, corrected.source, corrected.completeness.mark, "", board.measure.name)
            yield [*named, None, None, None, 1, None, None, None, 0, reason, *_bound_cells(None), None]


def _bound_cells(bounds: MeanBounds | None) -> list[Any]:
    return [None] * 5 if bounds is None else [bounds.unjudged, bounds.low, bounds.high, bounds.best, bounds.worst]


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
            yield ["", corrected.judge, *[None] * 6, corrected.reason]
        for system, score in corrected.rows:
            for by, found in score.by.items():
                n_topics = found.sample.n_topics if found.sample else None
                counts = (n_topics, score.n_labelled, score.n_items, score.power if by == "corrected" else None)
                yield [system, corrected.judge, by, found, *counts, found.reason]
        for system, reason in corrected.withheld.items():
            yield [system, corrected.judge, *[None] * 6, reason]


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
        **board.visibility.as_dict(),
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
    return {
        "by": breakdown.by,
        "groups": list(breakdown.groups),
        "means": breakdown.table().file_dicts(),
    }


def _source_as_dict(board: Leaderboard, column: SourceColumn) -> dict[str, Any]:
    scored = column.board
    judge = next(iter(judges_among([scored.source])), None)
    return {
        "source": column.name,
        "kind": scored.source.kind,
        **scored.source.completeness.as_dict(),
        **({"test_readings": board.visibility.readings_of(judge)} if judge and board.visibility.parts else {}),
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
