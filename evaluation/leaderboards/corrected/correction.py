"""Systems' scores by a judge's grades of all items, corrected by people's labels on a drawn part of them.

Beside a leaderboard's sources: for each judge and the people under the same criterion, if the measure is a sum over
items and the probabilities with which people's items were drawn are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from collection.models import Criterion, Rater
from evaluation.data.drawn_labels import NAMED, weights_of_labels
from evaluation.data.judge_pairs import is_graded_version
from evaluation.leaderboards.columns import Column
from evaluation.leaderboards.corrected.draws import (
    NO_DRAW,
    DrawsOfItems,
    NothingToCorrect,
    refuse_without_draw,
    sentence,
)
from evaluation.leaderboards.corrected.item_values import ItemValues, read_item_values
from evaluation.leaderboards.sources import JudgmentLoader, Scorer, Source
from stats.answers_in_words import first_system
from stats.calibration.recalibration import FOLDS
from stats.calibration.topic_sums import LabelledItems, Shares
from stats.completeness import Completeness
from stats.intervals import FEWEST_TOPICS, SHARE, Estimate, mean_interval, undefined
from stats.measures.rubric import qrels_from_grades
from stats.plurals import counted
from stats.ranking.corrected_ratios import MOST_OFF, CorrectedRatios, Pool, RatioMeasure, ratio_of
from stats.ranking.corrected_scores import CorrectedBoard, CorrectedScore, SummedScores
from stats.ranking.leaderboard import PairedComparison, Standing, compare_pairs
from stats.ranking.measure_names import SystemMeasure, registered
from stats.ranking.qrels_scoring import QrelsMeasure
from stats.ranking.sampled_labels import LabelDraw, Rankings, waiting_for, withheld_outside
from stats.ranking.scoring import SourceGrades
from stats.ratings import BoolArray, FloatArray, IntArray
from stats.rounding import rounded

PPI, APPROXIMATE = "PPI++", "corrected relevance"
NO_SUM = (
    "{name} is not a sum over items, so labels on a part of them cannot correct it. Corrected scores exist for {all}."
)
NOT_BY_PEOPLE = "cannot be estimated from a drawn sample of labels"
TOO_FEW_FOR_RATIO = (
    "With these labels {kind} would be off by {off:.2f} on average, because it divides by what is relevant in the "
    "whole topic. Label more items of each topic, or choose P@k or DCG@k."
)
LEFT_OUT = "A source leaves out sub-questions that the oracle’s context does not answer; corrected scores are over all."


@dataclass(frozen=True)
class Corrected:
    """Systems' scores by a judge as people correct it, or the reason why there are none.

    - `method`: PPI++ of a measure that is a sum, or an approximation of one that is a ratio;
    - `draw`: how many labels on how many items and topics, and with which probabilities they were drawn, in words;
    - `withheld`: why single systems have no score, by name; `circular`: those of the judge's own family.
    """

    judge: str
    completeness: Completeness
    method: str = PPI
    reason: str = ""
    draw: str = ""
    board: CorrectedBoard | None = None
    withheld: dict[str, str] = field(default_factory=dict)
    circular: frozenset[str] = frozenset()
    simulated: bool = False

    @property
    def undeclared(self) -> bool:
        """Whether there are none since nobody said how the labelled items were chosen."""
        return self.reason == NO_DRAW

    @cached_property
    def scores(self) -> dict[str, Estimate]:
        """The corrected score of each system."""
        return {name: one.corrected for name, one in self.board.scores.items()} if self.board else {}

    @property
    def pairs(self) -> tuple[PairedComparison, ...]:
        return self.board.pairs if self.board else ()

    @cached_property
    def surest(self) -> list[PairedComparison]:
        """The pairs, that with the smallest p first; those without a test last."""
        return sorted(self.pairs, key=lambda pair: (2.0 if pair.p is None else pair.p, pair.first, pair.second))

    @property
    def significant(self) -> list[PairedComparison]:
        """The pairs whose difference is significant after Holm's correction, the surest first."""
        return [pair for pair in self.surest if pair.significant]

    @property
    def source(self) -> str:
        """What the scores are called beside the sources."""
        return f"{self.method} of {self.judge}"

    @property
    def approximate(self) -> bool:
        return self.method == APPROXIMATE

    @cached_property
    def answer(self) -> str:
        """Which system is first, and how surely, in a sentence; empty where there are no scores."""
        ranked = self.board.ranked if self.board else ()
        means = {name: one for name, one in self.scores.items() if one.value is not None and name in ranked}
        values = rounded([_value(one) for one in means.values()])
        standings = [
            Standing(name, 1 + int((values > value).sum()), one, (one.sample.n_topics if one.sample else 0) or 0)
            for (name, one), value in zip(means.items(), values, strict=True)
        ]
        ordered = sorted(standings, key=lambda one: (one.rank, one.system))
        return first_system(f"{self.judge} as human labels correct it", ordered, self.pairs) if ordered else ""

    @cached_property
    def rows(self) -> list[tuple[str, CorrectedScore]]:
        """The systems, the highest corrected score first; those without one last, by name."""
        scores = self.board.scores if self.board else {}
        return sorted(scores.items(), key=lambda row: (-_value(row[1].corrected), row[0]))


def _value(estimate: Estimate) -> float:
    return float("-inf") if estimate.value is None else estimate.value


def correct_judges(scorer: Scorer, measure: SystemMeasure, columns: Sequence[Column]) -> tuple[Corrected, ...]:
    """Return for each judge among the columns its scores as people's labels correct them, or why there are none."""
    sources = [column.board.source for column in columns]
    people = [source for source in sources if source.kind == Rater.Kind.ASSESSOR]
    estimated = {column.name: column for column in columns if column.board.scored.estimated}
    left_out = any(column.board.scored.n_unanswerable for column in columns)
    found = []
    for column in columns:
        judge = column.board.source
        if judge.kind != Rater.Kind.JUDGE:
            continue
        beside = next((one for one in people if _judged_alike(one.criterion, judge.criterion, measure)), None)
        if beside is None:
            continue
        none = Corrected(judge.name, judge.completeness)
        try:
            if left_out:
                raise NothingToCorrect(LEFT_OUT)
            corrected = _correct(scorer, measure, beside, column)
        except NothingToCorrect as why:
            found.append(replace(none, reason=str(why)))
        else:
            found.append(
                replace(
                    corrected,
                    board=_with_people_of(corrected.board, estimated.get(beside.name)),
                    circular=column.board.circular,
                    simulated=beside.simulated or judge.simulated,
                )
            )
    return tuple(found)


def _with_people_of(board: CorrectedBoard | None, column: Column | None) -> CorrectedBoard | None:
    """Show people’s labels alone as their own column does, where it estimates the same from the same draw."""
    if board is None or column is None:
        return board
    means = {name: standing.mean for name, standing in column.by_system.items() if standing.mean.value is not None}
    scores = {name: replace(one, people=means.get(name, one.people)) for name, one in board.scores.items()}
    return replace(board, scores=scores)


def _judged_alike(of_people: Criterion, of_judge: Criterion, measure: SystemMeasure) -> bool:
    """Whether the judge's grades under its criterion say of the same items what people's labels say."""
    return measure.of_qrels or of_people == of_judge or is_graded_version(of_judge, of=of_people)


def _correct(scorer: Scorer, measure: SystemMeasure, people: Source, column: Column) -> Corrected:
    """Return the scores of the column's judge, corrected. Raises NothingToCorrect."""
    judge = column.board.source
    if isinstance(measure, QrelsMeasure):
        return _corrected_rankings(scorer, measure, people, column)
    values = read_item_values(scorer, measure, people, judge)
    if values is None:
        raise NothingToCorrect(_no_sum(measure.name))
    return _corrected_items(scorer, measure, values, people, judge)


def _no_sum(name: str) -> str:
    corrected = [one.corrected_as for one in registered() if one.corrected_as]
    return NO_SUM.format(name=name, all=f"{', '.join(corrected[:-1])} and {corrected[-1]}")


def _corrected_items(
    scorer: Scorer, measure: SystemMeasure, values: ItemValues, people: Source, judge: Source
) -> Corrected:
    """Correct scores of reports and answers, whose values belong to items."""
    ids, first, part_of = np.unique(values.items, return_index=True, return_inverse=True)
    draws = DrawsOfItems.under(people.criterion, scorer)
    of_ids = draws.of(ids)
    labelled = np.isfinite(values.people[first])
    refuse_without_draw(labelled, of_ids.probabilities)
    if reason := waiting_for(int((of_ids.drawn & ~labelled).sum()), int(of_ids.drawn.sum())):
        raise NothingToCorrect(sentence(reason))
    weights, known, kept = weights_of_labels(labelled, of_ids, values.topics[first])
    if weights is None or known == "all":
        raise NothingToCorrect(NO_DRAW)
    numbers, topics = np.unique(values.topics, return_inverse=True)
    items = LabelledItems(
        np.where(kept[part_of], values.people, np.nan), values.judge, weights[part_of], topics, len(numbers)
    )
    shares = Shares(values.systems, values.entries, values.shares, len(values.names))
    board = SummedScores(items, shares, values.names, measure.within).corrected()
    words = draws.in_words(int(kept.sum()), len(ids), len(numbers), of_ids.probabilities[kept])
    return Corrected(judge.name, judge.completeness, draw=words, board=board)


@dataclass(frozen=True)
class Ready:
    """Everything that people's labels and a judge's grades say of rankings under one measure, before it is summed."""

    asked: QrelsMeasure
    by_the_judge: QrelsMeasure
    ratio: RatioMeasure | None
    pool: PassagePool
    rankings: Rankings
    sizes: dict[str, int]
    withheld: dict[str, str]
    draw: LabelDraw
    words: str

    def sums(self) -> SummedScores:
        """Return what P@k and DCG@k are made of."""
        return _sums(self)

    def ratios(self) -> CorrectedRatios:
        """Return the scores of AP and nDCG. Raises NothingToCorrect where their denominators are too little known."""
        assert self.ratio is not None
        return _ratios(self, self.ratio)


def ready_to_correct(scorer: Scorer, measure: QrelsMeasure, people: Source, judge: Source) -> Ready:
    """Return what corrects a judge's scores of rankings: a passage's label is its highest grade.

    Raises NothingToCorrect.
    """
    by_people, by_judge = scorer.grades(people), scorer.grades(judge)
    asked, by_the_judge = (measure.at(of.threshold) for of in (by_people, by_judge))
    ratio = ratio_of(asked)
    if ratio is None and not asked.estimable:
        raise NothingToCorrect(_no_sum(asked.shown))
    for grades, of in ((by_people, asked), (by_judge, by_the_judge)):
        if reason := grades.unreached(of.relevant) or grades.no_labels:
            raise NothingToCorrect(sentence(reason))
    if by_people.names_all:
        raise NothingToCorrect(NAMED)
    draws = DrawsOfItems.under(people.criterion, scorer)
    known = scorer.once(f"labelled under {people.criterion.pk}", lambda: _labelled(scorer.loader, people, draws))
    refuse_without_draw(known, draws.draws.probabilities)
    draw = by_people.draw
    if draw is None:
        raise NothingToCorrect(NO_DRAW)
    if draw.unusable:
        raise NothingToCorrect(sentence(draw.unusable))
    pool = PassagePool.of(draw, by_people, by_judge)
    sizes = _cutoffs(scorer, asked, pool.topics)
    withheld = withheld_outside(scorer.rankings, draw, sizes)
    rankings = {name: of for name, of in scorer.rankings.items() if name not in withheld}
    words = draws.in_words(draw.n_labelled, draw.n_items, len(pool.topics), draws.draws.probabilities[known])
    return Ready(asked, by_the_judge, ratio, pool, rankings, sizes, withheld, draw, words)


def _corrected_rankings(scorer: Scorer, measure: QrelsMeasure, people: Source, column: Column) -> Corrected:
    """Correct measures of rankings, whose values belong to passages."""
    judge = column.board.source
    ready = ready_to_correct(scorer, measure, people, judge)
    board = None
    if ready.rankings and ready.ratio is None:
        board = ready.sums().corrected()
    elif ready.rankings:
        board = _board_of_ratios(ready, column)
    method = PPI if ready.ratio is None else APPROXIMATE
    return Corrected(judge.name, judge.completeness, method, draw=ready.words, board=board, withheld=ready.withheld)


def _labelled(loader: JudgmentLoader, people: Source, draws: DrawsOfItems) -> BoolArray:
    """Return which of the items have people's label."""
    grades = loader.item_grades(people)
    found = np.fromiter((grades.get(pk, np.nan) for pk in draws.items.tolist()), np.float64, len(draws.items))
    return np.isfinite(found)


@dataclass(frozen=True)
class PassagePool:
    """The passages that could be drawn, by topic and docno, with people's labels, the judge's, and weights.

    `widest`: by how much the judge's grades are multiplied to be on people's scale.
    """

    topics: list[str]
    place_of: dict[tuple[str, str], int]
    people: FloatArray
    judge: FloatArray
    weights: FloatArray
    topic_of: IntArray
    widest: float

    @classmethod
    def of(cls, draw: LabelDraw, by_people: SourceGrades, by_judge: SourceGrades) -> PassagePool:
        tables = {topic: table for topic, table in draw.weights.items() if table.elements}
        passages = [(topic, docno) for topic, table in tables.items() for docno in table.passages]
        weights = np.concatenate([np.empty(0), *(table.grades[:, 0] for table in tables.values())])
        people, judge = (
            np.array([found[topic].get(docno, np.nan) for topic, docno in passages], dtype=np.float64)
            for found in (
                {topic: qrels_from_grades(grades.tables[topic]) if topic in grades.tables else {} for topic in tables}
                for grades in (by_people, by_judge)
            )
        )
        topics = list(draw.weights)
        number = {topic: place for place, topic in enumerate(topics)}
        return cls(
            topics=topics,
            place_of={passage: place for place, passage in enumerate(passages)},
            people=np.where(np.isfinite(weights), people, np.nan),
            judge=judge,
            weights=weights,
            topic_of=np.array([number[topic] for topic, _ in passages], dtype=np.int64),
            widest=max(by_people.scale) / max(by_judge.scale),
        )

    def places(self, topic: str, ranking: Sequence[str]) -> list[int]:
        """Return where a ranking's passages stand in the pool; −1: not in it."""
        return [self.place_of.get((topic, docno), -1) for docno in ranking]


def _sums(ready: Ready) -> SummedScores:
    pool, asked, sizes = ready.pool, ready.asked, ready.sizes
    by_the_judge, weights = ready.by_the_judge, asked.weights(max(sizes.values(), default=0))
    items = LabelledItems(
        people=asked.gains(pool.people),
        judge=by_the_judge.gains(pool.judge * pool.widest if asked.relevant is None else pool.judge),
        weights=pool.weights,
        topics=pool.topic_of,
        n_topics=len(pool.topics),
    )
    entries = [
        (number, place, weights[rank] / asked.divisor(sizes[topic]))
        for number, of_topics in enumerate(ready.rankings.values())
        for topic in pool.topics
        for rank, place in enumerate(pool.places(topic, of_topics.get(topic, ())[: sizes[topic]]))
        if place >= 0
    ]
    systems, listed, shares = (np.array(column) for column in zip(*entries, strict=True)) if entries else _NOTHING
    n = len(ready.rankings)
    parts = Shares(systems.astype(np.int64), listed.astype(np.int64), shares.astype(np.float64), n)
    everywhere = np.ones((n, len(pool.topics)), dtype=bool)
    return SummedScores(items, parts, tuple(ready.rankings), asked.within, everywhere, pool.topics)


_NOTHING = (np.empty(0), np.empty(0), np.empty(0))


def _ratios(ready: Ready, ratio: RatioMeasure) -> CorrectedRatios:
    """Correct AP and nDCG, as far as their denominators are known. Raises NothingToCorrect."""
    pool = ready.pool
    n_labelled_topics = len(np.unique(pool.topic_of[np.isfinite(pool.people)]))
    if n_labelled_topics < max(FEWEST_TOPICS, FOLDS):
        few = counted(n_labelled_topics, "topics")
        raise NothingToCorrect(f"{few} with human labels {'is' if n_labelled_topics == 1 else 'are'} too few.")
    passages = Pool(pool.people, pool.judge, pool.weights, pool.topic_of, len(pool.topics))
    found = ratio.corrected(passages, _places(ready), list(ready.rankings), pool.topics)
    if found.mean_off > MOST_OFF[ratio.kind]:
        raise NothingToCorrect(TOO_FEW_FOR_RATIO.format(kind=ratio.kind, off=found.mean_off))
    return found


def _places(ready: Ready) -> list[list[IntArray]]:
    """Return where each system's passages stand in the pool, topic by topic."""
    return [
        [np.array(ready.pool.places(topic, of_topics.get(topic, ())), dtype=np.int64) for topic in ready.pool.topics]
        for of_topics in ready.rankings.values()
    ]


def _board_of_ratios(ready: Ready, column: Column) -> CorrectedBoard:
    pool, sizes, found = ready.pool, ready.sizes, ready.ratios()
    labelled = np.isfinite(pool.people)
    scores = {}
    for name, of_topics in zip(ready.rankings, _places(ready), strict=True):
        tops = np.concatenate([of[: sizes[topic] or None] for topic, of in zip(pool.topics, of_topics, strict=True)])
        tops = tops[tops >= 0]
        standing = column.by_system.get(name)
        mean = mean_interval(found.table.loc[[name]].to_numpy(dtype=np.float64)[0].tolist(), within=SHARE)
        scores[name] = CorrectedScore(
            people=undefined(NOT_BY_PEOPLE),
            judge=standing.mean if standing else undefined("the judge gives it no score"),
            corrected=_within_bounds(mean),
            power=None,
            n_labelled=int(labelled[tops].sum()),
            n_items=len(tops),
        )
    by_topic = {
        name: dict(zip(map(str, found.table.columns), map(float, row), strict=True))
        for name, row in zip(scores, found.table.to_numpy(dtype=np.float64), strict=True)
    }
    return CorrectedBoard(
        scores, tuple(compare_pairs(found.table)), by_topic, tuple(map(str, found.table.dropna().index))
    )


def _within_bounds(mean: Estimate) -> Estimate:
    return replace(mean, value=None if mean.value is None else min(max(mean.value, 0.0), 1.0))


def _cutoffs(scorer: Scorer, measure: QrelsMeasure, topics: Sequence[str]) -> dict[str, int]:
    if not measure.at_oracle:
        return dict.fromkeys(topics, measure.cutoff or 0)
    contexts = scorer.rankings.get(scorer.oracle or "", {})
    return {topic: len(contexts.get(topic, ())) for topic in topics}
