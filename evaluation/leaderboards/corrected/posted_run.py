"""A run that is sent and not kept: its scores by a study's people, by its judges, and by judges as people correct them.

The same columns as on a leaderboard with one system, each source over its own topics; the run is stored nowhere.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from collection.formats.problems import BrokenLine
from collection.formats.trec import columns
from collection.formats.values import read_number, refuse_unstorable
from collection.models import Study
from collection.splits import AskedPart
from evaluation.leaderboards.columns import Column
from evaluation.leaderboards.corrected.correction import Corrected
from evaluation.leaderboards.leaderboard import Leaderboard, measure_leaderboard
from evaluation.leaderboards.sources import PEOPLE, Combine, Scorer, Source
from stats.intervals import Estimate
from stats.ranking.measure_names import NoLeaderboard, parse_measure
from stats.ranking.qrels_scoring import QrelsMeasure
from stats.ranking.sampled_labels import Rankings

POSTED = "run"
MOST_LINES = 1_000_000
MOST_NAMED = 20


class BadRun(NoLeaderboard):
    """What was sent is no run that can be scored; the message says which line, or which topics, and why."""


@dataclass(frozen=True)
class PostedScore:
    """The run by one source: its mean, and its value on each topic where the method has one.

    - `unjudged`: of the `looked_at` passages that the measure reads on the source's topics, those without its grade;
    - `draw`: how people's labels were drawn, where they correct a judge.
    """

    source: str
    mean: Estimate
    by_topic: dict[str, float] | None
    judge: str | None = None
    method: str = ""
    draw: str = ""
    mark: str = ""
    looked_at: int | None = None
    unjudged: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the score as the API has it."""
        return {
            "source": self.source,
            "judge": self.judge,
            "method": self.method,
            "mark": self.mark or None,
            **self.mean.as_dict(),
            "se": self.mean.se,
            "n_topics": (self.mean.sample.n_topics if self.mean.sample else 0) or 0,
            "by_topic": self.by_topic,
            "draw": self.draw,
            "looked_at": self.looked_at,
            "unjudged": self.unjudged,
        }


@dataclass(frozen=True)
class PostedScores:
    """The scores of a posted run, and which of its topics the study lacks or it lacks of the study's visible ones."""

    study: Study
    measure: str
    scores: tuple[PostedScore, ...]
    n_topics: int
    unknown: tuple[str, ...]
    missing: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as the API has it. Of topics a few are named."""
        return {
            "study": self.study.name,
            "measure": self.measure,
            "topics": self.n_topics,
            "unknown_topics": {"n": len(self.unknown), "named": list(self.unknown[:MOST_NAMED])},
            "missing_topics": {"n": len(self.missing), "named": list(self.missing[:MOST_NAMED])},
            "scores": [one.as_dict() for one in self.scores],
        }


class _OneRun(Scorer):
    """What a leaderboard reads of the study, with this run in place of the collection's."""

    run: dict[str, list[str]]

    def seen(self, sources: Any, *, part: AskedPart = "development", named: bool = False) -> Scorer:
        seen = super().seen(sources, part=part, named=named)
        visible = set(seen.topic_names.values())
        ranked: Rankings = {POSTED: {topic: docnos for topic, docnos in self.run.items() if topic in visible}}
        seen.rankings = ranked
        self.shown = seen
        return seen


def score_posted_run(
    study: Study,
    *,
    run: str,
    measure: str,
    judge: str = "",
    combine: Combine = "majority",
    part: AskedPart = "development",
) -> PostedScores:
    """Score the run by people, by the judge (by all without a name), and by judges as people's labels correct them.

    `run` is in TREC's six columns; passages stand by score, as trec_eval has it. Raises BadRun, NoLeaderboard, and as
    `visibility_of` does.
    """
    asked = parse_measure(measure)
    if not isinstance(asked, QrelsMeasure) or asked.at_oracle:
        raise NoLeaderboard(f"{asked.name} is no measure of a posted run. Use one of ir-measures, as nDCG@10 or P@5.")
    rankings = read_posted_run(run)
    known = set(study.collection.topics.values_list("topic_id", flat=True))
    unknown = tuple(sorted(rankings.keys() - known))
    if len(unknown) == len(rankings):
        some = ", ".join(unknown[:3])
        raise BadRun(f"None of the run’s {len(unknown)} topics is in the study’s collection, such as {some}.")
    scorer = _OneRun.of(study, combine=combine)
    scorer.run = rankings
    sources = [name for name in (PEOPLE, judge) if name] if judge else []
    board = measure_leaderboard(scorer, asked, sources=sources, part=part, topics="own")
    judged = {topic for column in board.columns for topic in column.topics}
    scores = (*_by_sources(board, scorer.shown, asked), *_corrected(board.corrected))
    missing = tuple(sorted(judged - rankings.keys()))
    return PostedScores(study, asked.name, scores, len(rankings) - len(unknown), unknown, missing)


def read_posted_run(run: str) -> dict[str, list[str]]:
    """Return the run's passages by topic, the highest score first, ties by docno downwards. Raises BadRun."""
    scored: dict[str, dict[str, float]] = defaultdict(dict)
    for number, line in enumerate(run.splitlines(), start=1):
        if number > MOST_LINES:
            raise BadRun(f"The run has more than {MOST_LINES:,} lines. Send fewer passages a topic.")
        if not line.strip():
            continue
        try:
            refuse_unstorable(line)
            topic, _, docno, _, score, _ = columns(line, 6, "topic Q0 docno rank score tag")
            value = read_number(score, "score")
        except BrokenLine as broken:
            raise BadRun(f"Line {number} of the run: {broken.reason} {broken.remedy}".strip()) from broken
        if docno in scored[topic]:
            raise BadRun(f"Line {number} of the run: topic {topic} ranks {docno} twice. Keep one of the two lines.")
        scored[topic][docno] = value
    if not scored:
        raise BadRun("The run is empty. Send lines of “topic Q0 docno rank score tag”.")
    return {
        topic: [docno for docno, _ in sorted(found.items(), key=lambda one: (one[1], one[0]), reverse=True)]
        for topic, found in scored.items()
    }


def _by_sources(board: Leaderboard, scorer: Scorer, measure: QrelsMeasure) -> Iterator[PostedScore]:
    for column in board.columns:
        standing = column.by_system.get(POSTED)
        mean = standing.mean if standing else Estimate(None, reason=column.why_not(POSTED))
        if mean.value is None and (reason := column.why_not(POSTED)):
            mean = Estimate(None, reason=reason)
        looked_at, unjudged = _counts(scorer, column.board.source, measure)
        source = column.board.source
        yield PostedScore(
            source=source.name,
            mean=mean,
            by_topic=_by_topic(column) if mean.value is not None else None,
            judge=source.name if source.raters and source.name != PEOPLE and source.kind == "judge" else None,
            mark=source.completeness.mark,
            looked_at=looked_at,
            unjudged=unjudged,
        )


def _by_topic(column: Column) -> dict[str, float]:
    if POSTED not in column.table.index:
        return {}
    values = column.table.loc[[POSTED]].to_numpy(dtype=float)[0].tolist()
    return {str(topic): value for topic, value in zip(column.table, values, strict=True) if not math.isnan(value)}


def _counts(scorer: Scorer, source: Source, measure: QrelsMeasure) -> tuple[int, int]:
    """Return how many passages the measure reads on the topics that the source judged, and how many lack its grade."""
    grades = scorer.grades(source)
    cutoff = measure.at(grades.threshold).cutoff
    looked_at = unjudged = 0
    for topic, table in grades.tables.items():
        for docno in scorer.rankings[POSTED].get(topic, ())[:cutoff]:
            looked_at += 1
            unjudged += not table.n_known(docno)
    return looked_at, unjudged


def _corrected(found: Sequence[Corrected]) -> Iterator[PostedScore]:
    for one in found:
        score = one.board.scores.get(POSTED) if one.board else None
        reason = one.reason or one.withheld.get(POSTED, "") or "the run has no corrected score"
        by_topic = one.board.by_topic.get(POSTED) if one.board else None
        yield PostedScore(
            source=one.source if not one.reason else f"{one.judge}, corrected",
            mean=score.corrected if score else Estimate(None, reason=reason),
            by_topic=by_topic,
            judge=one.judge,
            method=one.method if score else "",
            draw=one.draw,
            mark=one.completeness.mark,
            looked_at=score.n_items if score else None,
            unjudged=score.n_items - score.n_labelled if score else None,
        )
