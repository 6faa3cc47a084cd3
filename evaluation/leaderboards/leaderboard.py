"""A study's leaderboard under one measure: every source of judgments side by side, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from collection.judgments.declarations import doubt_about_sample, irrelevant_by_origin
from collection.models import Study
from collection.rankings import ORDERS, Order
from evaluation.charts.leaderboard import ScorePoint
from evaluation.data.confidence import Confidence
from evaluation.data.visibility import AskedPart, Visibility
from evaluation.leaderboards.breakdown import LeaderboardBreakdown, LengthSlices, break_down
from evaluation.leaderboards.columns import TOP_SYSTEMS, Agreement, Cell, Column, Row, sorted_systems
from evaluation.leaderboards.corrected.correction import Corrected, correct_judges
from evaluation.leaderboards.oracle_contexts import told
from evaluation.leaderboards.scores import score
from evaluation.leaderboards.serializers import TOP
from evaluation.leaderboards.sources import Combine, Scorer, SourceScores
from stats.answers_in_words import first_system
from stats.pattern_intervals import undefined
from stats.plurals import counted
from stats.qrels import COMBINES
from stats.ranking.common_topics import CommonTopics, TopicChoice, common_topics, named
from stats.ranking.leaderboard import Flip, Standing, divergent_systems, flipped_pairs
from stats.ranking.measure_names import SystemMeasure
from stats.ranking.qrels_scoring import QrelsMeasure
from stats.ranking.rank_correlation import Correlation, several_over_topics

ESTIMATED = "its scores are estimates from a drawn sample, which are not ranked"
OWN_TOPICS = "the sources score different topics, and means over different topics cannot be ranked together"
ASIDE = "it is {mark}, and has scores on {n} of the {of} that are compared"
NO_COMMON_TOPIC = "no topic is scored by every source for every system"
MOST_DIVERGENT = 5
NO_ORACLE = "There is no oracle run: a sub-question can be answered if any judged passage of the topic answers it."
NO_ORACLE_OF_REPORTS = "There is no oracle run: every sub-question that is not masked counts."
BY_THE_SAME_SOURCE = (
    ", by the grades of the same source; a sub-question for which it did not grade all of them counts, unless masked."
)


@dataclass(frozen=True)
class Leaderboard:
    """Everything that the page, its files, the command and the API show of one measure."""

    study: Study
    measure: SystemMeasure
    visibility: Visibility
    combine: Combine
    order: Order
    oracle: str | None
    top: int
    families: dict[str, str]
    columns: tuple[Column, ...]
    common: CommonTopics
    topics: TopicChoice
    breakdown: LeaderboardBreakdown | None = None
    corrected: tuple[Corrected, ...] = ()
    left_out: tuple[str, ...] = ()
    chosen_by_kappa: bool = True
    confidence: Confidence | None = None
    doubt: str = ""

    @cached_property
    def agreements(self) -> tuple[Agreement, ...]:
        return tuple(_agreement(self.columns[0], other) for other in self.columns[1:])

    @cached_property
    def flips(self) -> tuple[Flip, ...]:
        return tuple(flipped_pairs({column.name: column.pairs for column in self.columns if not column.unordered}))

    @property
    def answer(self) -> str:
        """Which system is first, and how surely, in a sentence.

        By the first source, or where it gives no ranks by the first judge that people's labels correct; empty where
        there is none.
        """
        first = next(iter(self.columns), None)
        corrected = next((one.answer for one in self.corrected if one.answer), "")
        if first is None or first.unordered:
            return corrected
        found = first_system(first.name, first.standings, first.pairs, withheld=first.withheld_in_words)
        if len(first.means) < 2:
            return f"{found} {corrected}".rstrip()
        return f"{found} {first.open_in_words}." if first.open_in_words else found

    @property
    def has_holes(self) -> bool:
        """Whether the first source judged too little of the rankings to put systems into an order."""
        first = next(iter(self.columns), None)
        return bool(self.measure.of_qrels and first and first.scored.withheld and len(first.means) < 2)

    @property
    def simulated(self) -> bool:
        return any(column.board.source.simulated for column in self.columns)

    @property
    def rule(self) -> str:
        """How several people become one."""
        return f"{COMBINES[self.combine]}, ties to the lower"

    @property
    def notes(self) -> list[str]:
        """What to know of the measure, of the order of passages, and of the oracle if it takes one."""
        if meaning := self.measure.meaning:
            return [f"{meaning[0].upper()}{meaning[1:]}.", *([str(self.confidence)] if self.confidence else [])]
        found = [f"Passages are ordered {ORDERS[self.order]}."] if self.measure.of_rankings else []
        sources = [column.board.source for column in self.columns if self.measure.of_rankings]
        declared = {source.name: irrelevant_by_origin(self.study, source.declared_as) for source in sources}
        found += [f"What {name} does not name is declared irrelevant: {why}" for name, why in declared.items() if why]
        found += [self.doubt] if self.doubt else []
        if self.measure.leaves_out_unanswerable:
            found.append(self._what_is_answerable())
        if self.measure.needs_texts:
            found.append(f"Tokens: {told(self.measure.tokenizer)}. The oracle’s context counts in full.")
        return found

    @property
    def topic_notes(self) -> list[str]:
        """Over which topics the means are, and which are left out for what reason."""
        if self.topics == "own" or not self.common.topics:
            counts = (counted(column.n_topics, "topics") + f" by {column.name}" for column in self.columns)
            return [f"Each source’s own topics: {', '.join(counts)}."]
        n, left_out = len(self.common.topics), self.common.reasons
        over = (
            f"{n} of {n + len(self.common.left_out)} topics: those that every source scores, for every system"
            if left_out
            else f"all {counted(n, 'topics')}"
            if n > 1
            else "1 topic"
        )
        return [
            f"Means are over {over}.",
            *(f"Left out: {named(topics)} ({reason})." for reason, topics in left_out.items()),
        ]

    def _what_is_answerable(self) -> str:
        if self.oracle is None:
            return NO_ORACLE_OF_REPORTS if self.measure.of_reports else NO_ORACLE
        answered = f"A sub-question can be answered if the passages of “{self.oracle}” answer it"
        return f"{answered}{BY_THE_SAME_SOURCE if self.measure.of_reports else '.'}"

    @property
    def aside(self) -> list[Column]:
        """The sources that are marked, lack topics that are compared, and had no say in which these are."""
        return [one for one in self.columns if self.topics == "common" and len(one.topics) < len(self.common.topics)]

    @property
    def n_sources(self) -> int:
        return len(self.columns) + len(self.left_out)

    @property
    def has_circular(self) -> bool:
        return any(column.board.circular for column in self.columns)

    @property
    def has_marks(self) -> bool:
        return any(column.marks for column in self.columns)

    @property
    def judged_name(self) -> str:
        """What the share of a ranking that is judged is called: judged@20."""
        measure = self.measure
        if measure.at_oracle:
            return "judged@oracle"
        return f"judged@{measure.at(threshold=1).looks_to if isinstance(measure, QrelsMeasure) else measure.cutoff}"

    @property
    def has_bounds(self) -> bool:
        """Whether any source's scores have bounds, since it did not judge all."""
        return any(column.bounds for column in self.columns)

    @property
    def has_micro(self) -> bool:
        """Whether the measure has a value over everything of all topics, beside the mean over topics."""
        return any(column.scored.counts for column in self.columns)

    @property
    def has_top(self) -> bool:
        """Whether any source orders more systems than the `top` ones, so that P(rank ≤ top) tells something."""
        return any(len(column.means) > self.top for column in self.columns)

    @property
    def n_cells(self) -> int:
        """How many cells a system has under each source."""
        return 3 + self.measure.of_rankings + self.has_top + self.has_micro

    def rows(self, sort: str = "") -> list[Row]:
        """Return the systems in the order of a source, best first, or by "system"; a minus in front turns it round."""
        return [self.row(system) for system in sorted_systems(self.columns, sort)]

    def row(self, system: str) -> Row:
        """Return one system under every source."""
        cells = tuple(self.cell(column, system) for column in self.columns)
        return Row(system, self.families.get(system, ""), cells)

    def cell(self, column: Column, system: str) -> Cell:
        """Return one system under one source."""
        return Cell(
            column.by_system.get(system),
            column.percentile(system),
            column.judged(system),
            column.at_most(system, 1),
            column.at_most(system, self.top),
            system in column.board.circular,
            column.why_not(system),
            column.bounds.get(system),
            column.micro.get(system),
            column.fewer_topics(system),
        )


def measure_leaderboard(
    scorer: Scorer,
    measure: SystemMeasure,
    *,
    sources: Sequence[str] = (),
    without_judges: bool = False,
    most_sources: int | None = None,
    part: AskedPart = "development",
    top: int = TOP,
    by: str = "",
    lengths: LengthSlices = LengthSlices(),  # noqa: B008 - it is frozen
    topics: TopicChoice = "common",
) -> Leaderboard:
    """Return the leaderboard under the measure, by all sources, those named or all but judges, as far as visible.

    Of more than `most_sources` that nobody named, people and three judges are shown, the rest are named in `left_out`.
    `by`: one of `groupings`, by which means are broken down, lengths as `lengths` says. `topics`: whether the sources
    are compared on the topics that they share (“common”: unfinished and failing judges have no say in which these are;
    “all”: they have), or each stands on its own, without ranks. Raises NoLeaderboard, and as `visibility_of` does.
    """
    wanted = scorer.loader.wanted(measure, sources, without_judges=without_judges)
    scorer = scorer.seen(wanted, part=part, named=bool(sources))
    there = scorer.loader.marked(filter(scorer.loader.shows, wanted))
    all_shown = bool(sources) or len(there) <= (most_sources or len(there))
    shown, by_kappa = (there, True) if all_shown else scorer.loader.first(there)
    scored = [score(scorer, measure, source) for source in shown]
    columns, common = compare_on_topics(scored, topics)
    confidence = scorer.loader.confidence if measure.of_answers else None
    return Leaderboard(
        study=scorer.study,
        measure=measure,
        visibility=scorer.visibility,
        combine=scorer.loader.combine,
        order=scorer.order,
        oracle=scorer.oracle,
        top=top,
        families={run.name: run.system.family for run in scorer.runs.values()},
        columns=columns,
        common=common,
        topics=topics,
        breakdown=break_down(scorer, columns, by, lengths) if by else None,
        corrected=() if confidence and confidence.at_least is not None else correct_judges(scorer, measure, columns),
        left_out=tuple(source.name for source in there if source not in shown),
        chosen_by_kappa=by_kappa,
        confidence=confidence,
        doubt=doubt_about_sample(scorer.study) if measure.of_rankings else "",
    )


def compare_on_topics(scored: Sequence[SourceScores], topics: TopicChoice) -> tuple[tuple[Column, ...], CommonTopics]:
    """Return the sources' standings under one measure on the topics that are compared, and these topics."""
    common = _common(scored, topics)
    return tuple(_columns(scored, common, topics)), common


def _common(scored: Sequence[SourceScores], topics: TopicChoice) -> CommonTopics:
    """Return the topics that are compared."""
    counting = [board for board in scored if topics == "all" or not board.source.completeness.mark]
    found = common_topics({board.source.name: board.scored.given for board in counting})
    return found if found.topics else common_topics({board.source.name: board.scored.given for board in scored})


def _columns(scored: Sequence[SourceScores], common: CommonTopics, topics: TopicChoice) -> Iterator[Column]:
    own = {one.source.name: common_topics({one.source.name: one.scored.given}).topics for one in scored}
    alike = len({topics for topics in own.values() if topics}) <= 1
    for board in scored:
        if board.scored.estimated:
            unordered = ESTIMATED
        elif topics == "own":
            unordered = "" if alike else OWN_TOPICS
        else:
            unordered = "" if common.topics else NO_COMMON_TOPIC
        mine = own[board.source.name]
        shown = common.topics if topics != "own" and common.topics else mine
        mark = board.source.completeness.mark
        if topics == "common" and mark and mine and not set(shown) <= set(mine):
            of = counted(len(shown), "topics")
            shown = tuple(topic for topic in shown if topic in mine)
            unordered = unordered or ASIDE.format(mark=mark, n=len(shown), of=of)
        yield Column(board=board, scored=board.scored, topics=shown, unordered=unordered)


def _agreement(reference: Column, other: Column) -> Agreement:
    one, two = reference.ordered, other.ordered
    n_systems = len(reference.means.keys() & other.means.keys())
    if reason := _not_compared(reference) or _not_compared(other):
        none = undefined(reason)
        return Agreement(reference.name, other.name, other.board.source.completeness, 0, 0, none, none, none, none, ())
    asked: list[tuple[Correlation, int | None]] = [("kendall", None), ("tau_ap", None), ("spearman", None)]
    if n_systems > TOP_SYSTEMS:
        kendall, tau_ap, spearman, top = several_over_topics(one, two, [*asked, ("kendall", TOP_SYSTEMS)])
    else:
        kendall, tau_ap, spearman = several_over_topics(one, two, asked)
        top = undefined(f"There are no more than {TOP_SYSTEMS} systems.")
    return Agreement(
        reference=reference.name,
        other=other.name,
        completeness=other.board.source.completeness,
        n_systems=n_systems,
        n_topics=reference.n_topics,
        kendall=kendall,
        tau_ap=tau_ap,
        top_kendall=top,
        spearman=spearman,
        divergent=tuple(
            system for system in divergent_systems(reference.means, other.means)[:MOST_DIVERGENT] if system.places
        ),
    )


def _not_compared(column: Column) -> str:
    """Say why the source's order of systems cannot be compared; empty where it can."""
    if column.unordered:
        return f"{column.name}: {column.unordered}."
    return "" if column.means else f"{column.name} does not rank any system: {_reasons(column)}."


def _reasons(column: Column) -> str:
    return "; ".join(sorted({reason for system in column.by_system if (reason := column.why_not(system))}))


def _set_off(column: Column, standing: Standing) -> str:
    """Return what sets a mean off from the others of its source in the chart."""
    if column.board.scored.estimated:
        return " (estimated)"
    few = column.fewer_topics(standing.system)
    return f" ({standing.n_topics} of {counted(column.n_topics, 'topics')})" if few else ""


def score_points(board: Leaderboard, *, sort: str = "") -> list[ScorePoint]:
    """Return what the chart shows, in the order of `Leaderboard.rows`."""
    return [
        ScorePoint(
            system=system,
            source=f"{column.name}{_set_off(column, standing)}",
            mean=mean.value,
            low=mean.value if mean.low is None else mean.low,
            high=mean.value if mean.high is None else mean.high,
        )
        for system in sorted_systems(board.columns, sort)
        for column in board.columns
        if (standing := column.by_system.get(system)) and (mean := standing.mean) and mean.value is not None
    ]
