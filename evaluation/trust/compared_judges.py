"""What a comparison of judges holds: figures and names alone, so that a web process reads it without statistics."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.urls import reverse

from collection.models import Criterion, Rater
from collection.web.tables import Badge, Badged, Column, Table
from stats.answers_in_words import best_judge, order_of_judge, same_first
from stats.completeness import Completeness
from stats.intervals import Estimate, undefined
from stats.plurals import counted

if TYPE_CHECKING:
    from stats.ranking.order_verdict import OrderVerdict

MOST_MOVED = 3


def most_moved(by_people: dict[str, float], by_judge: dict[str, float]) -> tuple[Moved, ...]:
    """Return the systems that move most from people's ranks to the judge's, at most three."""
    moved = (Moved(system, by_people[system], rank) for system, rank in by_judge.items() if rank != by_people[system])
    furthest = sorted(moved, key=lambda one: (-abs(one.by_judge - one.by_people), one.by_people))
    return tuple(furthest[:MOST_MOVED])


@dataclass(frozen=True)
class Cost:
    """What a judge's grades under the criterion took: tokens, and money where prices were stated, for `n` replies."""

    n: int
    tokens: int
    money: float | None

    @property
    def for_1000(self) -> float | None:
        """The price of 1,000 replies, in whatever the prices were stated in."""
        return self.money / self.n * 1000 if self.money is not None and self.n else None

    @property
    def tokens_each(self) -> float | None:
        return self.tokens / self.n if self.tokens and self.n else None


@dataclass(frozen=True)
class Moved:
    """A system that a judge ranks elsewhere than people do. Ranks are 1 for the best, ties share their mean."""

    system: str
    by_people: float
    by_judge: float


@dataclass(frozen=True)
class JudgeOrder:
    """A judge's order of systems beside people's, over the same systems and topics.

    - `kendall`, `tau_ap`: with the range of the values over resampled topics; `verdict`: whether the order is people's;
    - `mean`: the judge's score of all systems together; `too_high`: how far it is above people's, paired over topics;
    - `ranks` by system. `recalibrated` is the same once its grades are read as people's of other topics, None where the
      measure is no sum over the first passages;
    - `own_family`: systems of the judge's own model family.
    """

    kendall: Estimate
    tau_ap: Estimate
    verdict: OrderVerdict | None
    mean: Estimate
    too_high: Estimate
    ranks: dict[str, float]
    own_family: tuple[str, ...] = ()
    recalibrated: JudgeOrder | None = None

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "kendall": self.kendall.as_dict(),
            "tau_ap": self.tau_ap.as_dict(),
            "same_order": self.verdict.as_dict() if self.verdict else None,
            "mean": self.mean.as_dict(),
            "too_high": self.too_high.as_dict(),
            "ranks": self.ranks,
        }
        if self.recalibrated:
            found["recalibrated"] = self.recalibrated.as_dict()
        return found


@dataclass(frozen=True)
class Orders:
    """The systems under one measure: people's ranks and mean score; `reason` where judges' orders have nothing beside.

    `asked` names the measure as one asks for it, `measure` with people's threshold; `offered` are all those that the
    criterion's judgments allow.
    """

    asked: str
    measure: str
    offered: tuple[str, ...]
    n_topics: int
    ranks: dict[str, float]
    mean: Estimate
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "n_topics": self.n_topics,
            "ranks": self.ranks,
            "mean": self.mean.as_dict(),
            **({"reason": self.reason} if self.reason else {}),
        }


@dataclass(frozen=True)
class ComparedJudge:
    """A judge over the common items: κ, how far it is from the judge that others are held against, and its order.

    `order` is None where `no_order` says why; `moved`: the systems that it moves most from people's order.
    """

    rater: Rater
    name: str
    completeness: Completeness
    n_ungraded: int
    kappa: Estimate
    alpha: Estimate
    difference: float | None
    low: float | None
    high: float | None
    cost: Cost | None = None
    order: JudgeOrder | None = None
    no_order: str = ""
    moved: tuple[Moved, ...] = ()

    @property
    def told_apart(self) -> bool:
        """Whether the simultaneous interval of the difference leaves 0 out."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    def as_dict(self) -> dict[str, Any]:
        return {
            "judge": self.name,
            "content_hash": self.rater.content_hash,
            "origin": self.rater.origin,
            **self.completeness.as_dict(),
            "n_ungraded": self.n_ungraded,
            "kappa": self.kappa.as_dict(),
            "krippendorff_alpha": self.alpha.as_dict(),
            "difference": {"value": self.difference, "low": self.low, "high": self.high},
            "told_apart": self.told_apart,
            "cost_of_1000": self.cost.for_1000 if self.cost else None,
            "tokens_each": self.cost.tokens_each if self.cost else None,
            "own_family": list(self.order.own_family) if self.order else [],
            "order": self.order.as_dict() if self.order else None,
            "moved": [vars(each) for each in self.moved],
            **({"no_order": self.no_order} if self.no_order else {}),
        }


@dataclass(frozen=True)
class Choice:
    """A judge that may be compared: how many of the items that people judged it was asked about, and whether it is."""

    name: str
    shown: str
    n_items: int
    chosen: bool


@dataclass(frozen=True)
class JudgeComparison:
    """Judges of a criterion beside its people, the best first, unfinished and failing ones last.

    `against`: the judge that differences are to, unless another was asked for the best of those that have an interval;
    `choices`: all judges that may be compared, best covered first; `left_out`: those that were asked about too few of
    the items; `development`: whether the study is split, and these are the development part's; `people_simulated`:
    whether any of the people is a simulation.
    """

    criterion: Criterion
    judges: tuple[ComparedJudge, ...]
    choices: tuple[Choice, ...]
    best: str
    against: str
    corrected: Estimate
    n_items: int
    n_topics: int
    left_out: tuple[str, ...]
    development: bool
    people_simulated: bool
    reason: str
    orders: Orders | None = None

    @property
    def answer(self) -> list[str]:
        """Which judge agrees most with people and how surely, and what it makes of the order of systems."""
        best = next((one for one in self.judges if one.name == self.best), None)
        if best is None:
            return [f"No judge can be compared with people: {self.reason}."] if self.reason else []
        found = [
            best_judge(
                self.best,
                best.kappa,
                self.corrected,
                len(self.judges),
                self.maybe_as_good,
                n_all=self.n_comparable,
            )
        ]
        if best.order and self.orders and self.best_is_named:
            found.append(order_of_judge(self.best, best.order.kendall, best.order.verdict))
            firsts = [self._same_first(one.order) for one in self.judges if one.order]
            found.append(
                same_first(_first(self.orders.ranks), sum(firsts), len(firsts), does=self._same_first(best.order))
            )
        return found

    @property
    def n_comparable(self) -> int:
        """How many judges could be compared: those that are, and all others that were asked about enough."""
        return len(self.choices) - len(self.left_out)

    @property
    def best_is_named(self) -> bool:
        """Whether it is the only judge, or known to be the best of all."""
        known = len(self.judges) == 1 or (len(self.judges) == self.n_comparable and self.corrected.low is not None)
        return bool(self.best) and known

    def _same_first(self, order: JudgeOrder) -> bool:
        assert self.orders is not None  # whoever calls has asked
        return _first(order.ranks) == _first(self.orders.ranks)

    @property
    def maybe_as_good(self) -> list[str] | None:
        """The judges that cannot be told from the best; None where differences are to another, or not known."""
        if self.against != self.best or not self.has_differences:
            return None
        return [one.name for one in self.judges if one.name != self.best and not one.told_apart]

    @property
    def simulated(self) -> bool:
        return self.people_simulated or any(one.rater.simulated for one in self.judges)

    @property
    def ranked(self) -> ComparedJudge | None:
        """The judge whose ranks are drawn: the reference, or the best of those that rank the systems."""
        ranking = [one for one in self.judges if one.order]
        return next((one for one in ranking if one.name == self.against), next(iter(ranking), None))

    @property
    def has_differences(self) -> bool:
        return any(one.difference is not None for one in self.judges)

    @property
    def has_orders(self) -> bool:
        return any(one.order for one in self.judges)

    @property
    def has_every(self) -> bool:
        """Whether no further judge can be added."""
        return all(one.chosen for one in self.choices)

    @property
    def has_own_family(self) -> bool:
        return any(one.order and one.order.own_family for one in self.judges)

    def as_dict(self) -> dict[str, Any]:
        """Return everything, as API, command and download have it."""
        return {
            "study": self.criterion.study.name,
            "criterion": self.criterion.name,
            "figure": "Cohen’s κ of yes and no at the thresholds",
            "answer": self.answer,
            "n_items": self.n_items,
            "n_topics": self.n_topics,
            "part": "development" if self.development else "all",
            "simulated": self.simulated,
            "best": self.best if self.best_is_named else None,
            "best_corrected": self.corrected.as_dict(),
            "against": self.against or None,
            "judges": [one.as_dict() for one in self.judges],
            "not_chosen": [one.name for one in self.choices if not one.chosen],
            "left_out": list(self.left_out),
            "systems": self.orders.as_dict() if self.orders else None,
            **({"reason": self.reason} if self.reason else {}),
        }

    def tables(self) -> dict[str, Table]:
        note = (
            f"All on the same {counted(self.n_items, 'items')} of {counted(self.n_topics, 'topics')}. κ is of yes and "
            "no at the thresholds, α (Krippendorff) of the grades, each with its 95 % interval over topics. "
            "Differences are paired over topics; their intervals hold for all pairs together."
        )
        if self.orders and not self.orders.reason:
            note += (
                f" Systems by {self.orders.measure} over {counted(self.orders.n_topics, 'topics')}: τ_b and τ_AP "
                "compare a judge’s order with people’s; their ranges are of resampled topics, not confidence intervals."
            )
        tables = {
            "judges": Table.of("Judges beside people", JUDGES, map(self._row, self.judges), note=note).without_empty()
        }
        ranked = [one for one in self.judges if one.order]
        if ranked and self.orders:
            names = [f"{one.name}{end}" for one in ranked for end in ("", " recalibrated")]
            columns = [Column("system", "System"), *(Column(name, name, "grade") for name in ("people", *names))]
            rows = [(system, rank, *_ranks_by(ranked, system)) for system, rank in self.orders.ranks.items()]
            tables["ranks"] = Table.of("Ranks of systems by people and by each judge", columns, rows)
        return tables

    def _row(self, one: ComparedJudge) -> tuple[Any, ...]:
        order, read = one.order, one.order.recalibrated if one.order else None
        no_order = undefined(one.no_order) if one.no_order else None
        return (
            *(self._named(one), one.rater.origin, self.n_items, one.n_ungraded),
            *(self.against, self._difference(one, differs := one.told_apart), int(differs)),
            *(one.cost.for_1000 if one.cost else None, one.cost.tokens_each if one.cost else None),
            *(one.kappa, one.alpha, order.kendall if order else no_order, order.tau_ap if order else no_order),
            *(order and order.mean, order and order.too_high, read and read.kendall, read and read.too_high),
            self.n_topics,
            "; ".join(f"{each.system} {each.by_people:g} to {each.by_judge:g}" for each in one.moved),
            "; ".join(order.own_family) if order else "",
        )

    def _named(self, one: ComparedJudge) -> Badged:
        """Return the judge, which leads to its own page, with where it is from and whose family it is of."""
        query = urlencode({"criterion": self.criterion.name, "judge": one.rater.name})
        family = one.order.own_family if one.order else ()
        badges = (
            *([Badge(one.rater.origin, one.rater.origin, one.rater.source)] if one.rater.origin in MARKED else []),
            *([Badge(f"family of {counted(len(family), 'systems')}", "", ", ".join(family))] if family else []),
        )
        address = f"{reverse('evaluation:trust', args=[self.criterion.study.name])}?{query}"
        return Badged((one.name, one.completeness), badges, address)

    def _difference(self, one: ComparedJudge, differs: bool) -> Badged:
        if one.difference is None:
            return Badged(Estimate(None), (Badge("reference"),) if one.name == self.against else ())
        found = Estimate(one.difference, one.low, one.high)
        return Badged(found, (Badge("differs"),) if differs else ())


# Origins that are said beside a judge's name.
MARKED = ("simulated", "imported")
JUDGES = (
    Column("judge", "Judge", "judge"),
    *(Column("origin"), Column("n_items", kind="count"), Column("n_ungraded", "Ungraded", "count")),
    *(Column("against"), Column("difference", "κ minus the reference’s", "estimate", brief=True), Column("told_apart")),
    *(Column("cost_of_1000", "Cost of 1,000", "number"), Column("tokens_each", "Tokens each", "cell")),
    *(Column("kappa_unweighted", "κ at η", "estimate", brief=True), Column("alpha", "α", "estimate", brief=True)),
    *(Column("kendall", "τ_b", "estimate", brief=True), Column("tau_ap", "τ_AP", "estimate", brief=True)),
    *(Column("mean", "Mean score", "estimate", brief=True), Column("too_high", "Off by", "estimate", brief=True)),
    Column("recalibrated_kendall", "τ_b recalibrated", "estimate", brief=True),
    Column("recalibrated_too_high", "Off by, recalibrated", "estimate", brief=True),
    *(Column("n_topics", kind="count"), Column("moved", "Moved most"), Column("own_family")),
)


def _ranks_by(judges: Iterable[ComparedJudge], system: str) -> Iterable[float | None]:
    for one in judges:
        assert one.order is not None  # whoever calls has asked
        yield one.order.ranks.get(system)
        yield one.order.recalibrated.ranks.get(system) if one.order.recalibrated else None


def _first(ranks: dict[str, float]) -> list[str]:
    """Return the systems that share the best rank."""
    return sorted(system for system, rank in ranks.items() if rank == min(ranks.values()))
