"""Score tables of a measure, systems × topics, from one source's grades.

Measures of answers are not computed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from stats.measures.cited_reports import Counts
from stats.measures.grades import GradeTable
from stats.measures.score_bounds import ScoreBounds
from stats.measures.scores import Score
from stats.pattern_intervals import UNBOUNDED, Range
from stats.plurals import counted
from stats.ranking.measure_names import NoLeaderboard, SystemMeasure
from stats.ranking.oracle_contexts import Oracle, TokenCounts
from stats.ranking.qrels_scoring import QrelsMeasure, score_qrels
from stats.ranking.rankable import unranked_topics, with_few_topics
from stats.ranking.sampled_labels import LabelDraw, Rankings
from stats.ranking.topic_scores import OfElements, TopicScorer
from stats.ranking.unjudged import ITSELF, runs_that_are_the_labels, withheld_for_unjudged
from stats.ratings import FloatArray

if TYPE_CHECKING:
    import pandas as pd

NO_ORACLE = "{name} compares with the oracle’s context: choose the run that ranks the best available passages."


@dataclass(frozen=True)
class SourceGrades:
    """One source's grades by topic, texts × elements; relevance has one element.

    - `threshold`: the grade from which a text answers;
    - `scale`: the grades there are; on one of yes and no a measure's own minimum makes no sense;
    - `asked`: 1 where an item exists, in the shape of the grades; None where every element is asked of every text;
    - `draw`: how the labels were drawn, where they are a sample.
    """

    tables: Mapping[str, GradeTable]
    threshold: float
    scale: tuple[float, ...] = (0, 1, 2, 3, 4, 5)
    asked: Mapping[str, FloatArray] | None = None
    draw: LabelDraw | None = None

    @property
    def graded(self) -> bool:
        """Whether the scale is finer than yes and no."""
        return set(self.scale) != {0, 1}

    @property
    def names_all(self) -> bool:
        """Whether what the source does not name is irrelevant."""
        return any(not np.isnan(table.unnamed) for table in self.tables.values())

    @property
    def no_labels(self) -> str:
        """Why the grades are no labels of qrels; empty where they are."""
        broken = next((grade for grade in self.scale if grade != int(grade)), None)
        return "" if broken is None else f"qrels need whole numbers, and the scale has {broken:g}"

    def unreached(self, grade: float | None) -> str:
        """Say why no text, or every text, has at least this grade; empty where it tells texts apart."""
        lowest, highest = min(self.scale), max(self.scale)
        if grade is None or lowest < grade <= highest:
            return ""
        which = "no grade reaches" if grade > highest else "every grade reaches"
        return f"{which} {grade:g} on a scale from {lowest:g} to {highest:g}"

    def asked_of(self, topic: str, measure: SystemMeasure) -> FloatArray | None:
        """Return where an item exists, for key points, which are asked of the documents they stand in alone."""
        return self.asked[topic] if self.asked is not None and measure.asked_by_item else None

    def minimum(self, measure: SystemMeasure) -> float:
        """Return the grade from which something is answered under the measure."""
        return measure.minimum if measure.minimum is not None and self.graded else self.threshold


@dataclass(frozen=True)
class ScoreTable:
    """A measure's scores, systems × topics, NaN where undefined.

    - `reasons`: why scores are undefined, and how many are for that reason.
    - `n_ungraded` of `n_asked`: judgments that the scores rest on (sub-questions, key points, or ranked passages) and
      that the source left without a grade or never made.
    - `n_unanswerable`: sub-questions, of all topics together, that do not count as the oracle's context answers none.
    - `withheld`: why systems are given no score, by name; `judged`: the share of what each score rests on that is
      judged, for rankings judged@k.
    - `leaves_out`: whether what is ungraded is left out of the scores, rather than counted as a no.
    - `estimated`: whether scores are estimates from a drawn sample; `shown`: the measure's name with the grade asked
      for; `within`: what values it can take.
    - `bounds`: the least and the most that scores can be, whatever the grades of what is not judged, of which each
      score has `unjudged`; None where all is judged or bounds are not known.
    - `counts`: by system and topic what a score counts, where it can be pooled over topics.
    - `unranked`: where a score is 0 since the system ranks nothing, True or False; None where every score has a text.
    """

    table: pd.DataFrame
    reasons: Mapping[str, int]
    n_ungraded: int
    n_asked: int
    n_unanswerable: int = 0
    # A caller must say why systems have no score and where they rank nothing: both decide what may be ranked.
    withheld: Mapping[str, str] = field(kw_only=True)
    unranked: pd.DataFrame | None = field(kw_only=True)
    judged: pd.DataFrame | None = None
    estimated: bool = False
    shown: str = ""
    within: Range = UNBOUNDED
    leaves_out: bool = False
    bounds: ScoreBounds | None = None
    unjudged: pd.DataFrame | None = None
    counts: Mapping[str, Mapping[str, tuple[Counts, ...]]] = field(default_factory=dict)

    @property
    def ungraded_share(self) -> float | None:
        return self.n_ungraded / self.n_asked if self.n_asked else None

    @property
    def ungraded_in_words(self) -> str:
        """How many judgments are missing or ungraded, which sub-questions are left out, and what is undefined."""
        share = self.ungraded_share
        of = f"{'none' if share is None else f'{share:.1%}'} of {counted(self.n_asked, 'judgments')}"
        left_out = (
            f"{counted(self.n_unanswerable, 'sub-questions')} left out as unanswerable" if self.n_unanswerable else ""
        )
        undefined = (f"{n} scores undefined: {reason}" for reason, n in self.reasons.items())
        return "; ".join(filter(None, [f"{of} missing or ungraded", left_out, *undefined]))

    @cached_property
    def evaluated(self) -> pd.DataFrame:
        """The scores as evaluation files have them: 0 wherever a system ranks nothing, as by trec_eval's -c."""
        return self.table.mask(self.table.index.to_series().isin(list(self.withheld)))

    @cached_property
    def few(self) -> dict[str, str]:
        """Why systems have no rank, by name: they have something to score on too few topics."""
        return {} if self.estimated else with_few_topics(self.evaluated, self.unranked)

    @cached_property
    def left_out(self) -> pd.DataFrame:
        """Where a system with few topics ranks nothing: its mean is over the others alone."""
        if self.unranked is None:
            return self.table.isna() & False
        few = self.table.index.isin(list(self.few))
        return self.unranked.loc[self.table.index, self.table.columns].mul(few, axis=0)

    @cached_property
    def given(self) -> pd.DataFrame:
        """The scores that are given, with or without a rank."""
        return self.evaluated.mask(self.left_out)

    @cached_property
    def rankable(self) -> pd.DataFrame:
        """The scores that may be put in an order and compared with another order; NaN throughout for other systems."""
        left_out = list(self.table.index) if self.estimated else list(self.few)
        return self.given.mask(self.table.index.to_series().isin(left_out))

    def why_unranked(self, system: str) -> str:
        """Say why the system has no score, or no rank whatever topics are compared; empty where it may have one."""
        return self.withheld.get(system) or self.few.get(system, "")

    def only(self, systems: Collection[str]) -> ScoreTable:
        """Return the scores of these systems alone."""
        return replace(self, table=self.table.loc[[system for system in self.table.index if system in systems]])

    def without(self, systems: Collection[str]) -> ScoreTable:
        """Return the scores of all other systems."""
        return replace(self, table=self.table.loc[[system for system in self.table.index if system not in systems]])


def score_systems(
    measure: SystemMeasure,
    grades: SourceGrades,
    rankings: Rankings,
    *,
    oracle: Oracle | None = None,
    tokens: TokenCounts | None = None,
) -> ScoreTable:
    """Score every system of the rankings on every topic of the grades.

    For a measure of reports a ranking holds the report's name alone. `oracle` is the context that says what can be
    answered (Q of CRUX's eq. 3); without one that is, for rankings, whatever any judged passage of the topic answers,
    and for reports every sub-question. `tokens` are needed for density. Raises NoLeaderboard and UnknownMeasure.
    """
    import pandas as pd

    if measure.needs_oracle and (oracle is None or not oracle.contexts):
        raise NoLeaderboard(NO_ORACLE.format(name=measure.name))
    if isinstance(measure, QrelsMeasure):
        return _score_qrels(measure, grades, rankings, oracle)
    assert isinstance(measure, OfElements)
    minimum, tokens = grades.minimum(measure), tokens or TokenCounts(measure.tokenizer)
    shown = f"{measure.name.partition('>=')[0]}≥{minimum:g}"
    if reason := grades.unreached(minimum):
        return _nothing(grades, rankings, reason, shown)
    scored: dict[str, list[tuple[Score, int]]] = {}
    judged: dict[str, list[float]] = {}
    n_unanswerable = 0
    for topic, table in grades.tables.items():
        scorer, tops = TopicScorer(measure, table, minimum, topic, oracle, tokens), [*rankings.values()]
        n_unanswerable += scorer.n_unanswerable
        scored[topic] = [scorer.score(found.get(topic, ())) for found in tops]
        asked = grades.asked_of(topic, measure)
        judged[topic] = [scorer.judged_share(found.get(topic, ()), asked) for found in tops]
    cells = [(score, n) for of_topic in scored.values() for score, n in of_topic]
    values = {topic: [np.nan if one.value is None else one.value for one, _ in of] for topic, of in scored.items()}
    scores, shares = (
        pd.DataFrame(columns, index=list(rankings), columns=list(grades.tables), dtype=np.float64)
        for columns in (values, judged)
    )
    withheld = withheld_for_unjudged(shares, _what(measure))
    if grades.draw is not None and measure.of_rankings:
        withheld = dict.fromkeys(rankings, f"cannot be estimated from {grades.draw.in_words}")
    return ScoreTable(
        scores,
        dict(Counter(score.reason for score, _ in cells if score.value is None)),
        sum(score.ungraded for score, _ in cells if score.value is not None),
        sum(n for score, n in cells if score.value is not None),
        n_unanswerable,
        withheld=withheld,
        judged=shares,
        shown=shown,
        within=measure.within,
        unranked=unranked_topics(rankings, list(grades.tables)) if measure.of_rankings else None,
    )


def _what(measure: SystemMeasure) -> str:
    """Name what a measure's scores rest on."""
    if measure.of_reports:
        return "the items of its reports are"
    return f"the grades of its first {'|Z*|' if measure.at_oracle else measure.cutoff} passages are"


def _nothing(grades: SourceGrades, rankings: Rankings, reason: str, shown: str) -> ScoreTable:
    """Return the board that gives no system a score."""
    import pandas as pd

    none = pd.DataFrame(np.nan, index=list(rankings), columns=list(grades.tables))
    return ScoreTable(none, {}, 0, 0, withheld=dict.fromkeys(rankings, reason), unranked=None, shown=shown)


def _score_qrels(measure: QrelsMeasure, grades: SourceGrades, rankings: Rankings, oracle: Oracle | None) -> ScoreTable:
    asked = measure.at(grades.threshold)
    if reason := grades.unreached(asked.relevant) or grades.no_labels:
        return _nothing(grades, rankings, reason, asked.shown)
    found = score_qrels(asked, grades.tables, rankings, oracle=oracle, draw=grades.draw)
    itself = dict.fromkeys(runs_that_are_the_labels(grades.tables, rankings), ITSELF)
    return ScoreTable(
        found.table,
        found.reasons,
        found.n_unjudged,
        found.n_ranked,
        withheld={**found.withheld, **itself},
        judged=found.judged,
        estimated=found.estimated,
        shown=asked.shown,
        within=measure.within,
        unranked=unranked_topics(rankings, list(grades.tables)),
    )
