"""The systems by people and by each judge under one measure, over the topics that all of them score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from collection.models import Criterion, Rater
from collection.web.options import with_asked
from evaluation.data.judge_pairs import PairedJudge
from evaluation.leaderboards.available_measures import measures_under
from evaluation.leaderboards.scores import score
from evaluation.leaderboards.sources import JudgmentLoader, Scorer, Source
from evaluation.trust.compared_judges import JudgeOrder, Moved, Orders, most_moved
from stats.intervals import Estimate, mean_interval, undefined
from stats.judges.orders import RankedItems, correlate_orders, ranks_of, sum_measure
from stats.judges.recalibrated_grades import recalibrated
from stats.ranking.common_topics import on_common_topics
from stats.ranking.measure_names import SystemMeasure, parse_measure
from stats.ranking.qrels_scoring import QrelsMeasure
from stats.ranking.rankable import unranked_topics
from stats.ranking.scoring import ScoreTable, SourceGrades
from stats.ratings import FloatArray, IntArray
from stats.rounding import rounded

if TYPE_CHECKING:
    import pandas as pd

NO_SYSTEMS = "no run of the collection can be scored by these judgments"
ESTIMATED = "scores by people are estimates from a drawn sample, which are not ranked"
NO_TOPIC = "no topic is scored by people and every complete judge for every system"
FEWEST = 2

MISSES = "it does not score every system on the topics that are compared"


@dataclass(frozen=True)
class _Scored:
    """A source's scores, systems × topics, and the same once it is recalibrated; why systems have none, by name."""

    given: pd.DataFrame
    read: pd.DataFrame | None
    withheld: Mapping[str, str]


@dataclass(frozen=True)
class MeasuredOrders:
    """The systems by people, and by the judges that rank them all; why each of the others does not.

    Both by the judge's place among those that were asked about. `orders` is None where no measure is possible.
    """

    orders: Orders | None
    by_judge: Mapping[int, JudgeOrder] = field(default_factory=dict)
    without: Mapping[int, str] = field(default_factory=dict)

    def moved_by(self, place: int) -> tuple[Moved, ...]:
        """Return the systems that this judge moves most from people's ranks."""
        if self.orders is None or place not in self.by_judge:
            return ()
        return most_moved(self.orders.ranks, self.by_judge[place].ranks)


def measure_orders(
    scorer: Scorer, criterion: Criterion, pairs: Sequence[PairedJudge], *, measure: str = ""
) -> MeasuredOrders:
    """Order the systems by people and by each judge, on topics that people and all complete judges score.

    Without a `measure` by the first that the criterion's judgments allow. Raises Refused.
    """
    allowed = measures_under(scorer.loader, criterion)
    if not measure and not allowed:
        return MeasuredOrders(None)
    asked = parse_measure(measure) if measure else allowed[0]
    offered = tuple(with_asked([one.name for one in allowed], asked.name))
    of_people = next(one for one in scorer.loader.sources_of(criterion) if one.kind == Rater.Kind.ASSESSOR)
    sources = [of_people, *(_source(scorer.loader, one) for one in pairs)]
    scorer = scorer.seen(sources)
    shown, scored = _scores(scorer, asked, sources)

    def none(reason: str) -> MeasuredOrders:
        return MeasuredOrders(Orders(asked.name, shown, offered, 0, {}, undefined(reason), reason))

    if not scored:
        return none(ESTIMATED)
    complete = [0, *(place for place, one in enumerate(pairs, start=1) if not one.completeness.mark)]
    systems, topics = _common({place: scored[place].given for place in complete})
    if not topics:
        return none(NO_TOPIC)
    if len(systems) < FEWEST:
        return none(NO_SYSTEMS)

    def table(of: pd.DataFrame) -> FloatArray:
        return of.reindex(index=systems, columns=topics).to_numpy(dtype=np.float64)

    people = table(scored[0].given)
    found = _orders(systems, people, {place: table(one.given) for place, one in enumerate(scored[1:])}, asked)
    read = {place: table(one.read) for place, one in enumerate(scored[1:]) if one.read is not None}
    again = _orders(systems, people, read, asked)
    families = [scorer.circular_systems(source) for source in sources[1:]]
    by_judge = {
        place: replace(
            one,
            recalibrated=again.get(place),
            own_family=tuple(system for system in systems if system in families[place]),
        )
        for place, one in found.items()
    }
    ranks = dict(sorted(_ranks(systems, people).items(), key=lambda one: one[1]))
    mean = mean_interval(people.mean(axis=0).tolist(), within=asked.within)
    return MeasuredOrders(
        Orders(asked.name, shown, offered, len(topics), ranks, mean),
        by_judge,
        {place: _why(one, pairs[place]) for place, one in enumerate(scored[1:]) if place not in by_judge},
    )


def _common(tables: Mapping[int, pd.DataFrame]) -> tuple[list[str], list[str]]:
    """Return the systems and the topics of which every source with any score has all scores.

    People's systems decide, as far as half of the sources score them: a judge that gives none has no say.
    """
    if not any(table.isna().to_numpy().any() for table in tables.values()):
        return list(map(str, tables[0].index)), list(tables[0].columns)
    common = on_common_topics({str(place): table for place, table in tables.items()})
    scored = [set(table.index) for table in common.values() if len(table)]
    systems = [str(system) for system in common["0"].index if all(system in of for of in scored)]
    return systems, list(common["0"].columns)


def _why(scored: _Scored, judge: PairedJudge) -> str:
    """Say why the source ranks not all of the systems."""
    if judge.completeness.unreadable:
        return judge.completeness.why
    if not scored.withheld:
        return MISSES
    system, reason = next(iter(scored.withheld.items()))
    return f"{system}: {reason}{'; others likewise' if len(scored.withheld) > 1 else ''}"


def _source(loader: JudgmentLoader, one: PairedJudge) -> Source:
    return next(found for found in loader.sources_of(one.criterion) if found.raters == (one.judge,))


def _ranks(systems: Sequence[str], table: FloatArray) -> dict[str, float]:
    return dict(zip(systems, ranks_of(rounded(table.mean(axis=1))).tolist(), strict=True))


def _orders(
    systems: Sequence[str], people: FloatArray, tables: Mapping[int, FloatArray], measure: SystemMeasure
) -> dict[int, JudgeOrder]:
    """Return the orders of those that score all of these systems on all of these topics."""
    whole = {place: table for place, table in tables.items() if not np.isnan(table).any()}
    agreements = correlate_orders(people, list(whole.values()))
    return {
        place: JudgeOrder(
            agreement.kendall,
            agreement.tau_ap,
            agreement.verdict,
            mean_interval(table.mean(axis=0).tolist(), within=measure.within),
            _difference((table - people).mean(axis=0), measure),
            _ranks(systems, table),
        )
        for (place, table), agreement in zip(whole.items(), agreements, strict=True)
    }


def _difference(by_topic: FloatArray, measure: SystemMeasure) -> Estimate:
    lowest = measure.within.low - measure.within.high
    return mean_interval(by_topic.tolist(), within=replace(measure.within, low=lowest))


def _scores(scorer: Scorer, measure: SystemMeasure, sources: Sequence[Source]) -> tuple[str, list[_Scored]]:
    """Return the measure's name and the scores by each source; no scores where people's are no order.

    Measures that are sums over the first passages are recalibrated too.
    """
    grades = [scorer.grades(source) for source in sources]
    sums = _as_sum(measure, grades)
    if sums is not None:
        return sums[0].shown, _sums(scorer, grades, sums)
    scored = [score(scorer, measure, source).scored for source in sources]
    found = [_Scored(one.rankable, None, {**one.few, **one.withheld}) for one in scored]
    return scored[0].shown or measure.name, [] if scored[0].estimated else found


def _as_sum(measure: SystemMeasure, grades: Sequence[SourceGrades]) -> list[QrelsMeasure] | None:
    """Return the measure with each source's own threshold; None where it must be scored source by source."""
    if not isinstance(measure, QrelsMeasure) or any(
        one.draw is not None or one.no_labels or one.names_all for one in grades
    ):
        return None
    found = [sum_measure(measure.at(one.threshold)) for one in grades]
    if any(one is None or of.unreached(one.relevant) for one, of in zip(found, grades, strict=True)):
        return None
    return [one for one in found if one is not None]


def _sums(scorer: Scorer, grades: Sequence[SourceGrades], measures: Sequence[QrelsMeasure]) -> list[_Scored]:
    """Return the scores of all sources at once. They share items: their criteria are of one task type."""
    import pandas as pd

    topics = list(grades[0].tables)
    labels = [np.concatenate([_highest(one.tables[topic].grades) for topic in topics]) for one in grades]
    known = [np.concatenate([(~np.isnan(one.tables[topic].grades)).mean(axis=1) for topic in topics]) for one in grades]
    ranked = _ranked(scorer, {topic: grades[0].tables[topic].passages for topic in topics}, measures[0].cutoff or 0)
    unranked = unranked_topics(scorer.rankings, topics)
    gains = [measure.gains(of) for measure, of in zip(measures, labels, strict=True)]
    found = []
    for place, (measure, of_source, shares) in enumerate(zip(measures, gains, known, strict=True)):
        judged = pd.DataFrame(ranked.judged(shares), index=list(scorer.rankings), columns=topics)
        withheld = measure.withheld(judged)
        tables = [ranked.scores(measure, of_source)]
        if place:
            tables.append(ranked.scores(measures[0], recalibrated(gains[0], labels[place], ranked.topics)))
        by_table = [
            ScoreTable(
                pd.DataFrame(table, index=judged.index, columns=topics), {}, 0, 0, withheld=withheld, unranked=unranked
            )
            for table in tables
        ]
        reasons = {**by_table[0].few, **withheld}
        found.append(_Scored(by_table[0].rankable, by_table[1].rankable if place else None, reasons))
    return found


def _highest(grades: FloatArray) -> FloatArray:
    """Return each passage's label, its highest grade on any element, cut down to a whole number; NaN without any."""
    known = ~np.isnan(grades)
    best = np.where(known, grades, -np.inf).max(axis=1, initial=-np.inf)
    return np.where(known.any(axis=1), np.trunc(best), np.nan)


def _ranked(scorer: Scorer, passages: Mapping[str, Sequence[str]], depth: int) -> RankedItems:
    """Return what the runs rank down to this depth, as numbers of the passages, topic after topic."""
    starts = np.cumsum([0, *map(len, passages.values())])
    tops = np.full((len(scorer.rankings), len(passages), depth), -1, dtype=np.int64)
    sizes: IntArray = np.zeros(tops.shape[:2], dtype=np.int64)
    for number, (topic, names) in enumerate(passages.items()):
        places = {name: place for place, name in enumerate(names, start=int(starts[number]))}
        for row, ranking in enumerate(scorer.rankings.values()):
            top = ranking.get(topic, [])[:depth]
            tops[row, number, : len(top)] = [places.get(docno, -1) for docno in top]
            sizes[row, number] = len(top)
    return RankedItems(tops, sizes, np.repeat(np.arange(len(passages)), np.diff(starts)))
