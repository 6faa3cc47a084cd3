"""In which order the passages of a run stand: one rule for pools, leaderboards, judged@k and exports."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Literal, NamedTuple

from django.db.models import QuerySet

from collection.models import Collection, RankedPassage, Run

Order = Literal["score", "rank"]
ORDERS: dict[Order, str] = {
    "score": "by score, ties by docno descending, as trec_eval has it",
    "rank": "by the ranks in the runs’ files",
}
TIED = "tied scores that the ranks put in another order; by score, ties stand by docno descending, as in trec_eval"
CONTRADICTED = "scores that contradict the ranks; passages stand by score, as in trec_eval"


class Ranked(NamedTuple):
    """A line of a ranking; its passage is named by docno."""

    docno: str
    rank: int
    score: float


class Ranking(NamedTuple):
    """A run's passages on a topic, best first; run and topic by their primary keys."""

    run: int
    topic: int
    docnos: list[str]


def in_order(lines: Iterable[Ranked], order: Order = "score") -> list[str]:
    """Return the docnos, best first.

    By score as trec_eval ranks: compared in single precision, ties by docno descending, whatever the ranks say. By
    rank: the lowest first, ties by docno.
    """
    return [line.docno for line in (_by_rank if order == "rank" else _by_score)(lines)]


def _by_score(lines: Iterable[Ranked]) -> list[Ranked]:
    listed = sorted(lines, key=lambda line: line.docno, reverse=True)
    single = array("f", (line.score for line in listed))
    return [listed[place] for place in sorted(range(len(listed)), key=lambda place: -single[place])]


def _by_rank(lines: Iterable[Ranked]) -> list[Ranked]:
    return sorted(lines, key=lambda line: (line.rank, line.docno))


def read_rankings(collection: Collection, *, order: Order = "score", depth: int | None = None) -> Iterator[Ranking]:
    """Yield every ranking of the collection, by run and topic; of each the first `depth` passages."""
    for run, topic, lines in _read(RankedPassage.objects.filter(run__collection=collection)):
        yield Ranking(run, topic, in_order(lines, order)[:depth])


def contradicted_ranks(runs: Iterable[int]) -> Iterator[tuple[str, int, int]]:
    """Yield each run and topic whose ranks are not the order by score, with why: TIED or CONTRADICTED."""
    for run, topic, lines in _read(RankedPassage.objects.filter(run__in=list(runs))):
        if all(above.rank <= below.rank for above, below in pairwise(_by_score(lines))):
            continue
        single = array("f", (line.score for line in _by_rank(lines)))
        rises = any(above < below for above, below in pairwise(single))
        yield CONTRADICTED if rises else TIED, run, topic


def _read(rows: QuerySet[RankedPassage]) -> Iterator[tuple[int, int, list[Ranked]]]:
    listed = rows.order_by("run_id", "topic_id").values_list("run_id", "topic_id", "passage_id", "rank", "score")
    for (run, topic), lines in groupby(listed.iterator(chunk_size=10_000), key=itemgetter(0, 1)):
        yield run, topic, [Ranked(*line[2:]) for line in lines]


def read_ranking_of(run: Run, *, order: Order = "score") -> dict[int, list[str]]:
    """Return the passages of one run by topic's primary key, best first."""
    return {topic: in_order(lines, order) for _, topic, lines in _read(RankedPassage.objects.filter(run=run))}
